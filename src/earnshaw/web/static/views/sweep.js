// Sweep: many runs, where they end, the families of those ends, and what can be proved of one.
import { families } from "/static/views/sweep/families.js";
import { bars } from "/static/views/sweep/histogram.js";
import { checking } from "/static/views/sweep/checking.js";
import { point } from "/static/views/sweep/point.js";
import { make } from "/static/lib/words.js";
import { dl } from "/static/views/sweep/parts.js";

const defaults = {
  network: "two-layer", k: 8, n: 8, d: 0, activation: "relu", output_weights: "fixed", p: 6, ratio: 0.5,
  runs: 500, seed: 0, start: "", scale: 0.1, optimizer: "gd", step: 0, stop: "early", max_steps: 200000,
  rare: false, family: -1, go: false,
};
const PROBLEM = ["network", "k", "n", "d", "activation", "output_weights", "p", "ratio"];
const RUNS = ["runs", "seed", "start", "scale", "optimizer", "step", "stop", "max_steps"];
const some = (state, names) => Object.fromEntries(names.map((name) => [name, state[name]]));

async function mount(root, context) {
  const { state, limits } = context;
  const choices = await context.ask("/api/sweep/choices");
  const first = make("div"), more = make("details", { className: "more" });
  const bar = make("progress", { max: 1, value: 0, ariaLabel: "share of the work done" });
  const numbers = make("dl", { className: "numbers" });
  const panels = make("div", { className: "halves" });
  const ends = make("section", { className: "panel" }), table = make("section", { className: "panel" });
  const chosen = make("section", { className: "panel wide", hidden: true });
  const uploaded = make("section", { className: "panel wide" });
  const picture = make("div", { className: "plot" });
  more.append(make("summary", { textContent: "More settings: network, activation, start, optimiser, when a run ends" }));
  ends.append(make("h2", { textContent: "Where runs end" }), picture);
  panels.append(ends, table, chosen, uploaded);
  root.append(first, more, bar, numbers, panels);
  bar.hidden = true;

  let stream = null, result = null, histogram = null;
  const draw = () => bars(context, picture, histogram, result?.summary ?? some(state, ["k", "n", "runs"]));
  const whole = { min: 1, step: 1 };
  const main = context.controls(first, [
    { name: "k", label: "Teacher neurons k", kind: "number", ...whole, max: limits.k },
    { name: "n", label: "Student neurons n", kind: "number", ...whole, max: limits.n },
    { name: "runs", label: "Runs", kind: "number", ...whole, max: limits.runs },
    { name: "seed", label: "Seed", kind: "number", min: 0, step: 1, max: limits.seed },
    { name: "rare", label: "Show rare ends", kind: "check", help: "Percent on a logarithmic scale" },
    { name: "run", label: "Run", kind: "button", first: true, onclick: () => begin() },
    { name: "halt", label: "Stop", kind: "button", onclick: () => stream?.stop() },
  ], changed);
  const rest = context.controls(more, [
    { name: "network", label: "Network", kind: "select", options: [["two-layer", "two layers"], ["conv", "convolutional"]], help: "Two layers with an orthonormal teacher, or one filter with a new random teacher for every run" },
    { name: "d", label: "Dimension d (0: k)", kind: "number", min: 0, max: limits.n, step: 1 },
    { name: "activation", label: "Activation", kind: "select", options: choices.activations.map(numbered) },
    { name: "output_weights", label: "Output weights", kind: "select", options: [["fixed", "fixed, all 1"], ["trainable", "learned too"]] },
    { name: "p", label: "Filter p", kind: "number", min: 2, max: limits.k, step: 1 },
    { name: "ratio", label: "Sum of a* (S)", kind: "number", min: 0, max: 10 },
    { name: "start", label: "Start", kind: "select", options: [["", "the usual one"], ...Object.values(choices.starts).flat()] },
    { name: "scale", label: "Scale of a normal start", kind: "number", min: 0.001, max: 100 },
    { name: "optimizer", label: "Optimiser", kind: "select", options: choices.optimizers },
    { name: "step", label: "Step (0: its own)", kind: "number", min: 0, max: 10 },
    { name: "stop", label: "A run ends", kind: "select", options: [["early", "once its fate is clear"], ["paper", "when its gradient is at most 1e-9"]] },
    { name: "max_steps", label: "Steps at most", kind: "number", min: 1, max: limits.sweep_steps, step: 1 },
  ], changed);
  more.open = RUNS.concat(PROBLEM).some((name) => !["k", "n", "runs", "seed"].includes(name) && state[name] !== defaults[name]);

  const about = () => some(result.asked, PROBLEM);
  const single = point(context, chosen, about, () => result);
  const list = families(context, table, (row) => {
    context.set({ family: row ? row.index : -1 });
    single.show(row);
  });
  checking(context, uploaded);

  function changed(name) {
    if (name === "rare") return draw();
    fit();
    context.set({ go: false });
    context.say(result ? "The settings have changed; what is shown is of the runs before. Press Run." : "");
  }

  // Which settings there are depends on the network and the start.
  function fit() {
    const conv = state.network === "conv";
    if (!["", ...choices.starts[state.network]].includes(state.start)) context.set({ start: "" });
    for (const name of ["d", "activation", "output_weights"]) rest.show(name, !conv);
    for (const name of ["p", "ratio"]) rest.show(name, conv);
    rest.show("scale", state.start === "normal");
    main.show("n", !conv);
    main.input("k").labels[0].textContent = conv ? "Patches k" : "Teacher neurons k";
    rest.refresh();
  }

  async function begin(family = -1) {
    stream?.stop();
    result = histogram = null;
    single.show(null);
    list.show(null);
    const asked = { ...state };
    context.set({ go: true, family });
    context.mark("running");
    context.say("Asking for the runs; the first ones wait until JAX is loaded.");
    busy(true);
    const own = context.stream("/api/sweep/run", { problem: some(asked, PROBLEM), ...some(asked, RUNS) }, (event) => {
      if (own !== stream) return;
      if (event.state === "done") {
        result = { ...event, asked };
        ended();
      } else told(event);
    });
    stream = own;
    const end = await own.done;
    if (own !== stream) return;
    busy(false);
    if (end === "end") context.mark("done");
    if (end === "stopped") {
      context.mark("idle");
      context.say("Stopped. What is shown is where runs had ended until then.");
      context.set({ go: false });
    }
    if (end === "refused") context.say("");
  }

  function busy(yes) {
    main.enable("run", !yes);
    main.enable("halt", yes);
    bar.hidden = !yes;
    if (yes) bar.removeAttribute("value");
  }

  function told(event) {
    const words = { waiting: "Another sweep is going on; this one waits for its end.", compiling: "Compiling.", running: "Running." };
    context.say(words[event.state]);
    if (event.ended) bar.value = event.share;
    dl(numbers, [["ended", `${event.ended} of ${event.runs} runs`, "ended"]]);
    if (event.histogram) {
      histogram = event.histogram;
      draw();
    }
  }

  function ended() {
    const { summary } = result;
    histogram = result.histogram;
    const spread = summary.spurious_interval;
    const known = spread && !("CONVERGED" in summary.outcomes);
    dl(numbers, [
      ["ended", `${summary.runs} of ${summary.runs} runs`, "ended"],
      ...Object.entries(summary.outcomes).map(([name, count]) => [name.toLowerCase(), count, name.toLowerCase()]),
      ...(known ? [["share spurious", `${summary.spurious_percent.toFixed(1)}% (${spread[0].toFixed(1)} to ${spread[1].toFixed(1)})`, "percent"]] : []),
      ["steps of a run", Math.round(summary.steps / summary.runs), "steps"],
      ["time", `${summary.seconds.toFixed(1)} s`, "seconds"],
    ]);
    context.say(`All runs have ended${result.kept ? `, and are kept in ${result.kept}` : ""}. The percentages have exact 95% intervals.`);
    context.command(result.command);
    list.show(result);
    draw();
    const row = result.families.find((one) => one.index === state.family);
    if (row) list.choose(row);
  }

  first.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("input")) begin();
  });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") stream?.stop();
  });
  addEventListener("themechange", () => histogram && draw(), { signal: context.gone.signal });
  fit();
  busy(false);
  list.show(null);
  if (state.go) begin(state.family);
  else context.say("Press Run: the ends of the runs appear as they come.");
  return () => stream?.stop();
}

// Names that need a number have one here.
function numbered(name) {
  return { leaky: "leaky:0.1", hermite: "hermite:3" }[name] ?? name;
}

export default {
  name: "sweep",
  title: "Sweep",
  key: "s",
  about: "Gradient descent from many random starts: where it ends, which minima those are, and a proof of any of them.",
  defaults,
  mount,
};

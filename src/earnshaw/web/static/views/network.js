// Network: one start of the convolutional network, its four signs, and where each of them goes.
import { make, numbers, put, short, table } from "/static/lib/words.js";

const TAU = 2 * Math.PI;
const SECONDS = 6; // of a film at speed 1
const NETS = ["p", "k", "ratio", "step", "seed"];
const LOWEST = 1e-12; // of the axis of losses
const name = ([filter, outputs]) => `(${filter > 0 ? "+" : "−"}v, ${outputs > 0 ? "+" : "−"}a)`;

export default {
  name: "network",
  title: "Network",
  key: "n",
  about: "A convolutional network has two minima. Change the signs of one start, and gradient descent goes to the other.",
  defaults: { p: 20, k: 25, ratio: 0.5, step: 0.1, seed: 0, run: 0, steps: 400, at: 1, runs: 500, counted: false, all: false },
  mount(root, context) {
    return new Network(root, context).leave;
  },
};

class Network {
  constructor(root, context) {
    Object.assign(this, { root, context, state: context.state, found: null, playing: false });
    this.colours = context.colours();
    this.#build();
    this.ask();
    if (this.state.counted) this.count();
  }

  leave = () => {
    this.sizes.disconnect();
    cancelAnimationFrame(this.asked);
  };

  #build() {
    const { root, context } = this;
    const { limits } = context;
    this.inputs = context.controls(
      root,
      [
        { name: "p", label: "Filter p", kind: "number", min: 2, max: limits.filter, step: 1 },
        { name: "k", label: "Patches k", kind: "number", min: 2, max: limits.patches, step: 1 },
        { name: "ratio", label: "Sum of a* (S)", kind: "number", help: "The sum of the teacher's output weights over their norm" },
        { name: "step", label: "Step", kind: "number", min: 0.001, max: 10 },
        { name: "steps", label: "Steps", kind: "number", min: 10, max: limits.watched_steps, step: 1 },
        { name: "seed", label: "Seed", kind: "number", min: 0, max: limits.seed, step: 1 },
        { name: "run", label: "Start", kind: "number", min: 0, max: limits.runs - 1, step: 1 },
        { name: "next", label: "Next start", kind: "button", first: true, onclick: () => this.next() },
      ],
      (one) => this.#changed(one),
    );
    for (const one of ["p", "k", "ratio", "step", "steps"]) this.inputs.input(one).classList.add("small");
    this.canvas = make("canvas", { className: "dial" });
    this.canvas.setAttribute("role", "img");
    this.slider = make("input", { type: "range", min: 0, max: 1000, className: "film" });
    this.slider.setAttribute("aria-label", "Where in the runs");
    this.slider.addEventListener("input", () => {
      this.pause();
      context.set({ at: Number(this.slider.value) / 1000 });
      this.#draw();
    });
    const player = make("div");
    this.player = context.controls(player, [
      { name: "play", label: "Play", kind: "button", onclick: () => this.toggle() },
      { name: "save", label: "Save PNG", kind: "button", onclick: () => context.saveCanvas(this.canvas, "network-filter") },
    ]);
    const told = numbers([["network-step", "step"], ["global", "reach the teacher"], ["spurious", "end at the spurious minimum"]]);
    this.cells = told.cells;
    this.words = make("p", { className: "ending" });
    this.words.setAttribute("role", "status");
    this.table = make("div", { className: "scroll", tabIndex: 0 });
    this.table.setAttribute("role", "region");
    this.table.setAttribute("aria-label", "The four signs");
    this.loss = make("div");
    this.weights = make("div");
    this.shares = make("div");
    this.sharing = make("div", {}, this.shares);
    const counting = make("div");
    this.counting = context.controls(
      counting,
      [
        { name: "runs", label: "Starts", kind: "number", min: 1, max: limits.runs, step: 1 },
        { name: "all", label: "And for other sums S", kind: "check" },
        { name: "count", label: "Count", kind: "button", first: true, onclick: () => this.count() },
      ],
      () => {},
    );
    this.counted = make("div");
    const panel = (label, ...parts) => {
      const made = make("section", { className: "panel" }, make("h2", { textContent: label }), ...parts);
      made.setAttribute("aria-label", label);
      return made;
    };
    root.append(
      make(
        "div",
        { className: "panels wide" },
        panel("The filter, in the plane of its start and the teacher's", player, this.canvas, this.slider, told.element, this.words),
        panel("The loss", this.loss, this.table),
        panel("The output weights", this.weights),
        panel("Many starts", counting, this.counted, this.sharing),
      ),
    );
    this.sizes = new ResizeObserver(() => this.#draw());
    this.sizes.observe(this.canvas);
    addEventListener("themechange", () => this.#again(), { signal: context.gone.signal });
    root.addEventListener("keydown", (event) => {
      if (event.key !== " " || event.target.closest("button, input, select")) return;
      event.preventDefault();
      this.toggle();
    });
  }

  // Counts are of the networks they were made with.
  #changed(one) {
    if (NETS.includes(one)) {
      this.counter?.stop();
      Object.assign(this, { kept: null, reproduced: null });
      this.counted.replaceChildren();
      this.shares = make("div");
      this.sharing.replaceChildren(this.shares);
      delete this.root.dataset.counting;
      this.context.set({ counted: false });
    }
    this.ask();
  }

  next() {
    this.context.set({ run: (this.state.run + 1) % this.context.limits.runs });
    this.inputs.refresh();
    this.ask();
  }

  async ask() {
    const { context, state } = this;
    const nets = Object.fromEntries([...NETS, "run", "steps"].map((one) => [one, state[one]]));
    context.mark("running");
    context.say("computing…");
    const mine = (this.question = {});
    let found;
    try {
      found = await context.ask("/api/network/fates", nets);
    } catch {
      if (this.question === mine) context.say("");
      return;
    }
    if (this.question !== mine) return;
    this.found = found;
    context.say("");
    context.command([found.command, this.reproduced].filter(Boolean).join("\n"));
    if (this.kept?.counts.length) this.#share();
    await this.#tell();
    context.mark("done");
  }

  colour(twin) {
    return this.colours.c[twin.outcome === "GLOBAL" ? 0 : twin.outcome === "SPURIOUS" ? 5 : 3];
  }

  async #again() {
    this.colours = this.context.colours();
    if (this.found) await this.#tell();
    if (this.kept?.counts.length) this.#share();
  }

  async #tell() {
    const { found, context } = this;
    const many = (outcome) => found.twins.filter((twin) => twin.outcome === outcome).length;
    put(this.cells.global.value, `${many("GLOBAL")} of 4`);
    put(this.cells.spurious.value, `${many("SPURIOUS")} of 4`);
    put(this.words, sentence(many("GLOBAL"), many("SPURIOUS"), found));
    const rows = found.twins.map((twin) => [
      name(twin.signs),
      { GLOBAL: "teacher", SPURIOUS: "spurious" }[twin.outcome] ?? twin.words,
      twin.outcome === "UNDECIDED" ? "no" : `at step ${twin.decided}`,
      short(twin.loss.at(-1)),
      `${((180 / Math.PI) * twin.angle.at(-1)).toFixed(1)}°`,
    ]);
    this.table.replaceChildren(table(["start", "goes to", "proved", "loss", "angle"], rows));
    this.#draw();
    const dash = ["solid", "dash", "dot", "dashdot"];
    const level = (value, words) => ({
      type: "line", xref: "paper", x0: 0, x1: 1, y0: value, y1: value, line: { color: this.colours.quiet, width: 1, dash: "dot" },
      label: { text: words, textposition: "start", yanchor: "top", font: { size: 11, color: this.colours.quiet } },
    });
    const shapes = found.spurious_loss === null ? [] : [level(found.spurious_loss, "loss of the spurious minimum")];
    await context.plot(
      this.loss,
      found.twins.map((twin, i) => ({
        x: found.steps, y: twin.loss.map((loss) => Math.max(loss, LOWEST)), mode: "lines", name: name(twin.signs),
        line: { color: this.colour(twin), dash: dash[i], width: 2 },
      })),
      {
        name: "network-loss",
        said: `The loss of four runs against steps: ${rows.map((row) => `${row[0]} goes to ${row[1]}`).join(", ")}`,
        xaxis: { title: { text: "step" } },
        yaxis: { title: { text: "loss F" }, type: "log", exponentformat: "power" },
        shapes,
      },
    );
    const index = found.teacher_outputs.map((_, i) => i + 1);
    const dots = (y, label, colour, symbol, size = 9) => ({ x: index, y, name: label, mode: "markers", marker: { color: colour, symbol, size, line: { width: 1.5, color: colour } } });
    const good = found.twins.find((twin) => twin.outcome === "GLOBAL");
    const bad = found.twins.find((twin) => twin.outcome === "SPURIOUS");
    await context.plot(
      this.weights,
      [
        { x: index, y: found.teacher_outputs, type: "bar", name: "teacher a*", marker: { color: this.colours.line } },
        ...(found.spurious_outputs ? [dots(found.spurious_outputs, "spurious minimum", this.colours.c[5], "circle-open", 12)] : []),
        ...(good ? [dots(good.end_outputs, `${name(good.signs)} at last`, this.colours.c[0], "circle")] : []),
        ...(bad ? [dots(bad.end_outputs, `${name(bad.signs)} at last`, this.colours.c[5], "x")] : []),
      ],
      {
        name: "network-outputs",
        said: "The output weights of the teacher, of the spurious minimum, and of runs at their last step",
        xaxis: { title: { text: "patch" } },
        yaxis: { title: { text: "output weight" } },
      },
    );
  }

  // ---- the filter's plane ------------------------------------------------------------------------------------------

  toggle() {
    if (this.playing) this.pause();
    else {
      if (this.state.at >= 1) this.context.set({ at: 0 });
      this.playing = true;
      this.player.input("play").textContent = "Pause";
      this.before = undefined;
      this.#draw();
    }
  }

  pause() {
    this.playing = false;
    this.player.input("play").textContent = "Play";
  }

  #draw() {
    this.asked ??= requestAnimationFrame((now) => this.#frame(now));
  }

  #frame(now) {
    this.asked = null;
    const { found, state } = this;
    if (!found || this.context.gone.signal.aborted) return;
    if (this.playing) {
      state.at = Math.min(1, state.at + Math.min(0.1, (now - (this.before ?? now)) / 1000) / SECONDS);
      this.before = now;
      if (state.at >= 1) this.pause();
    }
    this.slider.value = Math.round(1000 * state.at);
    const along = state.at * (found.steps.length - 1);
    put(this.cells["network-step"].value, `${Math.round(along * found.steps[1])}`);
    this.#paint(along);
    if (this.playing) this.#draw();
    else this.context.set({ at: Number(state.at.toFixed(3)) });
  }

  #paint(along) {
    const { found, canvas, colours } = this;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colours.paper;
    pen.fillRect(0, 0, width, height);
    const most = Math.max(...found.twins.flatMap((twin) => [twin.along.at(-1), twin.across.at(-1)].map(Math.abs)), 1);
    const unit = Math.min(width * 0.36, height * 0.42) / most;
    const [x, y] = [(a) => width / 2 + unit * a, (b) => height / 2 - unit * b];
    pen.lineWidth = 1;
    pen.strokeStyle = colours.line;
    pen.beginPath();
    pen.arc(x(0), y(0), unit, 0, TAU);
    pen.stroke();
    if (found.saddle_angle !== null) {
      pen.setLineDash([5, 5]);
      for (const side of [1, -1]) {
        pen.beginPath();
        pen.moveTo(x(0), y(0));
        pen.lineTo(x(1.15 * most * Math.cos(found.saddle_angle)), y(side * 1.15 * most * Math.sin(found.saddle_angle)));
        pen.stroke();
      }
      pen.setLineDash([]);
    }
    pen.font = "13px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.fillStyle = colours.quiet;
    pen.textAlign = "right";
    pen.fillText("teacher", Math.min(width - 8, x(most) + 68), y(0) + 20);
    pen.textAlign = "left";
    pen.fillText("spurious", Math.max(8, x(-most) - 74), y(0) + 20);
    const [moment, share] = [Math.floor(along), along - Math.floor(along)];
    const at = (values) => values[moment] + share * ((values[moment + 1] ?? values[moment]) - values[moment]);
    found.twins.forEach((twin, i) => {
      const colour = this.colour(twin);
      pen.strokeStyle = pen.fillStyle = colour;
      pen.lineWidth = i % 2 ? 1.5 : 3;
      pen.setLineDash(i % 2 ? [6, 4] : []);
      pen.globalAlpha = 0.6;
      pen.beginPath();
      for (let j = 0; j <= moment; j += 1) pen.lineTo(x(twin.along[j]), y(twin.across[j]));
      pen.stroke();
      pen.globalAlpha = 1;
      const [tipX, tipY] = [x(at(twin.along)), y(at(twin.across))];
      pen.beginPath();
      pen.moveTo(x(0), y(0));
      pen.lineTo(tipX, tipY);
      pen.stroke();
      pen.setLineDash([]);
      pen.beginPath();
      pen.arc(tipX, tipY, i % 2 ? 5 : 7, 0, TAU);
      pen.fill();
    });
    const rows = found.twins.map((twin) => `${name(twin.signs)} at ${Math.round((180 / Math.PI) * at(twin.angle))} degrees`);
    const said = `Four filters and the teacher's: ${rows.join(", ")}`;
    if (!this.playing) canvas.setAttribute("aria-label", said);
  }

  // ---- many starts -------------------------------------------------------------------------------------------------

  count() {
    const { context, state } = this;
    this.counter?.stop();
    this.kept = { counts: [], shares: [] };
    context.set({ counted: true });
    put(this.counted, "counting…");
    this.root.dataset.counting = "running";
    const body = { ...Object.fromEntries(NETS.map((one) => [one, state[one]])), runs: state.runs, all: state.all };
    const counter = context.stream("/api/network/count", body, ({ count, share }) => {
      if (this.counter !== counter) return;
      if (count) this.kept.counts.push(count);
      if (share) this.kept.shares.push(share);
      this.#share();
    });
    this.counter = counter;
    counter.done.then((how) => {
      if (this.counter !== counter) return;
      this.root.dataset.counting = how === "end" ? "done" : how;
      if (how === "refused") put(this.counted, "");
    });
  }

  #share() {
    const { context, kept, colours } = this;
    const words = { one: "signs as drawn", four: "best of four signs" };
    const rows = kept.counts.map((one) => {
      const [low, high] = one.interval.map((end) => end.toFixed(1));
      return [words[one.signs], `${one.spurious} of ${one.runs}`, `${one.percent.toFixed(1)}%`, `${low}% to ${high}%`];
    });
    const made = table([`S = ${kept.counts[0].ratio}`, "spurious", "share", "95% interval"], rows);
    [...made.tBodies[0].rows].forEach((row, i) => {
      row.cells[1].dataset.number = `count-${kept.counts[i].signs}`;
    });
    this.counted.replaceChildren(make("div", { className: "scroll" }, made));
    this.reproduced = [...kept.counts, ...kept.shares].map((one) => one.command).join("\n");
    context.command([this.found?.command, this.reproduced].filter(Boolean).join("\n"));
    const all = [...kept.shares, kept.counts[0]].sort((a, b) => a.ratio - b.ratio);
    if (!kept.shares.length) return;
    context.plot(
      this.shares,
      [
        {
          x: all.map((one) => one.ratio), y: all.map((one) => one.percent), mode: "lines+markers", name: "signs as drawn",
          error_y: { array: all.map((one) => one.interval[1] - one.percent), arrayminus: all.map((one) => one.percent - one.interval[0]), thickness: 1.2 },
          line: { color: colours.c[5] },
        },
      ],
      {
        name: "network-shares",
        said: `The share of starts that end at the spurious minimum: ${all.map((one) => `${one.percent.toFixed(0)}% at ${one.ratio}`).join(", ")}`,
        xaxis: { title: { text: "S, the sum of a* over its norm" } },
        yaxis: { title: { text: "spurious, %" }, rangemode: "tozero" },
        shapes: this.found ? [{ type: "line", x0: this.found.limit, x1: this.found.limit, yref: "paper", y0: 0, y1: 1, line: { color: colours.quiet, width: 1, dash: "dot" }, label: { text: "no minimum beyond", textposition: "middle", font: { size: 11, color: colours.quiet } } }] : [],
        showlegend: false,
      },
    );
  }
}

function sentence(good, bad, found) {
  if (found.spurious_loss === null) return "Here the second stationary point is no minimum: all four signs reach the teacher.";
  if (good && bad) return `One start, four signs: ${good} reach the teacher and ${bad} end at the spurious minimum.`;
  return good ? "All four signs of this start reach the teacher; try the next start." : "All four signs end at the spurious minimum.";
}

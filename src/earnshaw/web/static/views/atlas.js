// What is proved: named families against k, what holds for every k, what is absent, and the ladder that grow climbs.
import { decades } from "/static/lib/pictures.js";
import { make, precise } from "/static/lib/words.js";

// A proved bound in so many digits, rounded to its safe side: down, or up for one from above.
export function bound(value, digits = 6, up = false) {
  if (value === null || value === undefined) return "–";
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(value))) - digits + 1);
  const near = Number(value.toPrecision(digits));
  return precise(up ? (near < value ? near + unit : near) : near > value ? near - unit : near, digits);
}
const eigenvalue = (point, digits = 6) => bound(point.lambda_ge, digits, point.kind === "saddle");
const SYMBOLS = ["circle", "square", "triangle-up", "diamond", "cross", "pentagon", "star", "hexagon", "triangle-down", "x", "hourglass", "bowtie"];
const ACCEPTED = "proved: the trusted checker accepted its certificate on this server";
const button = (textContent, onclick, first = false) => {
  const made = make("button", { type: "button", textContent, className: first ? "first" : "" });
  made.addEventListener("click", onclick);
  return made;
};
const row = (cells, tag = "td") => make("tr", {}, ...cells.map((cell) => make(tag, {}, cell)));

function mount(root, context) {
  const { state, limits } = context;
  root.classList.add("stack");
  const points = new Map(); // "II 7" -> the point
  let families = {};
  let running = null;
  let drawing = false;
  let ready = false;
  let turns = {};
  const courses = {};
  const rungs = [];

  const controls = context.controls(
    root,
    [
      { name: "families", label: "Families", kind: "text", help: "names with spaces between: II A I (n = k), B M:4 (n = k + 1), 2B C (n = k + 2), ..." },
      { name: "first", label: "From k", kind: "number", min: 1, max: limits.atlas_k, step: 1 },
      { name: "last", label: "To k", kind: "number", min: 1, max: limits.atlas_k, step: 1 },
      { name: "log", label: "k on a logarithmic scale", kind: "check" },
      { name: "stop", label: "Stop", kind: "button", onclick: () => running?.stop() },
    ],
    (name) => (name === "log" ? draw() : start()),
  );
  Object.assign(controls.input("families"), { maxLength: 80, size: 20, spellcheck: false });
  const panel = (title, note, ...more) => {
    const place = make("div");
    const about = make("p", { className: "note", textContent: note });
    return [make("section", { className: "panel" }, make("h2", { textContent: title }), about, place, ...more), place];
  };
  const key = "Filled marks are minima, open ones saddles; choose one to see it. Every mark has a certificate that the trusted checker accepted on this server.";
  const [lossPanel, losses] = panel("Loss at the critical point", key);
  const [leastPanel, leasts] = panel("Smallest eigenvalue", "For minima a proved bound below it, in every dimension; for saddles a proved bound above a negative one. Dashed: for every k at once.");
  const chosen = make("section", { className: "panel" });
  const table = make("table", {});
  const listing = make("details", {}, make("summary", { textContent: "All points as a table" }), make("div", { className: "scroll" }, table));
  const known = make("section", { className: "panel" });
  const [ladderPanel, ladderPlot] = panel("The ladder", "From spurious minima with n = k neurons to ones with more: each is split or mirrored, slides down, and is proved if it gets stuck. Filled: the checker accepted it.");
  const ladderControls = make("div");
  const ladderTable = make("table", {});
  ladderPanel.querySelector("h2").after(ladderControls);
  ladderPanel.append(make("div", { className: "scroll" }, ladderTable));
  root.append(make("div", { className: "panels pairs" }, lossPanel, leastPanel), chosen, listing, known, ladderPanel);

  // ---- families against k

  const mine = (family) => [...points.values()].filter((point) => point.family === family).sort((a, b) => a.k - b.k);

  async function start() {
    running?.stop();
    points.clear();
    families = {};
    context.mark("running");
    controls.enable("stop", true);
    context.say("proving family by family");
    const stream = context.stream("/api/atlas/points", { families: state.families.trim(), first: state.first, last: state.last }, (event) => {
      if (event.families) {
        families = event.families;
        context.command(event.command);
        keepChoice();
      }
      for (const point of event.points ?? []) points.set(`${point.family} ${point.k}`, point);
      const done = [...points.values()].filter((point) => point.kind).length;
      context.say(`${done} points proved and checked`);
      draw();
    });
    running = stream;
    const end = await stream.done;
    if (running !== stream) return;
    controls.enable("stop", false);
    if (end === "refused") return;
    const all = [...points.values()];
    const count = (kind) => all.filter((point) => point.kind === kind).length;
    const open = all.length - count("minimum") - count("saddle");
    const words = `${count("minimum")} minima and ${count("saddle")} saddles; the checker accepted a certificate of each on this server`;
    context.say(`${words}${open ? `; of ${open} nothing is proved (see the table)` : ""}${end === "stopped" ? "; stopped" : ""}`);
    await draw();
    context.mark("done");
  }

  function keepChoice() {
    const names = Object.keys(families);
    if (!names.includes(state.family)) context.set({ family: names[0] });
    card();
  }

  async function draw() {
    if (drawing) return;
    drawing = true;
    await new Promise(requestAnimationFrame);
    drawing = false;
    const { ink, c } = context.colours();
    const names = Object.keys(families);
    const style = (name) => ({ color: c[names.indexOf(name) % 6], symbol: SYMBOLS[names.indexOf(name) % SYMBOLS.length] });
    const curve = (name, number) => {
      const some = mine(name).filter((point) => point.kind);
      const { color, symbol } = style(name);
      const dark = (point) => point.family === state.family && point.k === state.k;
      return {
        x: some.map((point) => point.k),
        y: some.map(number),
        customdata: some.map((point) => [point.family, point.k]),
        text: some.map((point) => `${point.family}, k = ${point.k}, n = ${point.n}<br>a proved ${point.kind}: F ≥ ${bound(point.objective_ge)}<br>${point.kind === "minimum" ? "smallest eigenvalue ≥" : "an eigenvalue ≤"} ${eigenvalue(point)}`),
        hoverinfo: "text",
        mode: "lines+markers",
        legendgroup: name,
        showlegend: false,
        line: { color, width: 1.5 },
        marker: {
          symbol: some.map((point) => (point.kind === "minimum" ? symbol : `${symbol}-open`)),
          color,
          size: some.map((point) => (dark(point) ? 15 : 8)),
          line: { width: some.map((point) => (dark(point) ? 2.5 : 1.5)), color: some.map((point) => (dark(point) && point.kind === "minimum" ? ink : color)) },
        },
      };
    };
    const entry = (name) => {
      const { color, symbol } = style(name);
      const more = families[name].more;
      const words = more === null ? "" : more ? ` (n = k + ${more})` : " (n = k)";
      return { x: [null], y: [null], mode: "lines+markers", legendgroup: name, name: `${name}${words}`, line: { color, width: 1.5 }, marker: { color, symbol, size: 8 } };
    };
    const tends = names.filter((name) => families[name].words && mine(name).some((point) => point.kind));
    const dotted = tends.map((name) => {
      const some = mine(name).filter((point) => point.kind);
      const { value, power, words } = families[name];
      return { x: some.map((p) => p.k), y: some.map((p) => value / p.k ** power), mode: "lines", line: { dash: "dot", width: 1, color: style(name).color }, hovertemplate: `${name}: ${words}<extra></extra>`, showlegend: false };
    });
    const bounds = names.filter((name) => courses[name]).map((name) => {
      const { first, start: tail, lambda_head_ge: head, lambda_tail_ge: far } = courses[name];
      const beyond = state.last > tail;
      const x = beyond ? [first, tail, tail, state.last] : [first, Math.max(first, state.last)];
      const y = beyond ? [head, head, far, far] : [head, head];
      return { x, y, mode: "lines", line: { dash: "dash", width: 2, color: style(name).color }, name: `${name}, every k: at least`, hovertemplate: `${name}: at least this for every k, proved<extra></extra>` };
    });
    const axis = { title: { text: "teacher neurons k" }, ...(state.log ? { type: "log", ...decades(1, limits.atlas_k) } : { type: "linear", dtick: Math.max(1, Math.ceil((state.last - state.first) / 12)) }) };
    const all = [...points.values()].filter((point) => point.kind);
    const heights = all.map((point) => point.objective_ge);
    const wide = Math.max(...heights) > 4 * Math.min(...heights);
    const height = Math.max(340, Math.min(460, losses.clientWidth * 0.75));
    const legend = { orientation: "h", yref: "container", y: 0, yanchor: "bottom", x: 0 };
    await Promise.all([
      context.plot(losses, [...names.map((name) => curve(name, (point) => point.objective_ge)), ...names.map(entry), ...dotted], {
        name: "atlas-loss",
        said: `Loss against k of ${names.join(", ")}: ${all.length} proved points. Dotted: what it tends to.`,
        height,
        legend,
        xaxis: axis,
        yaxis: { title: { text: "loss F" }, ...(wide ? { type: "log", ...decades(1e-6, 1) } : { type: "linear" }) },
      }),
      context.plot(leasts, [...names.map((name) => curve(name, (point) => point.lambda_ge)), ...names.map(entry), ...bounds], {
        name: "atlas-eigenvalue",
        said: `Bounds of the smallest eigenvalue against k of ${names.join(", ")}.`,
        height,
        legend,
        xaxis: axis,
        yaxis: { title: { text: "smallest eigenvalue" }, zeroline: true, zerolinewidth: 2 },
      }),
    ]);
    if (!ready && losses.on) {
      ready = true;
      for (const place of [losses, leasts]) {
        place.on("plotly_click", ({ points: [point] }) => {
          if (point.customdata) choose(point.customdata[0], point.customdata[1]);
        });
      }
    }
    rows();
    card();
  }

  function rows() {
    const body = [...points.values()].sort((a, b) => a.n - a.k - (b.n - b.k) || a.family.localeCompare(b.family) || a.k - b.k).map((point) =>
      row([point.family, `${point.k}`, `${point.n}`, point.kind ? `proved ${point.kind}` : `nothing proved: ${point.reason}`, bound(point.objective_ge, 8), eigenvalue(point), bound(point.unique_radius, 3)]),
    );
    table.replaceChildren(make("thead", {}, row(["family", "k", "n", "", "loss at least", "eigenvalue bound", "no other within"], "th")), make("tbody", {}, ...body));
  }

  // ---- the point that is chosen

  function choose(family, k) {
    context.set({ family, k });
    draw();
  }

  const facts = make("dl", { className: "numbers" });
  const said = make("p", { className: "verdict" });
  const actions = make("div", { className: "actions" });
  const picker = make("div");
  chosen.append(make("h2", { textContent: "The chosen point" }), picker, facts, said, actions);
  const family = make("select", { id: "atlas-family" });
  const size = make("select", { id: "atlas-k" });
  picker.className = "controls";
  picker.append(
    make("div", { className: "control" }, make("label", { htmlFor: family.id, textContent: "Family" }), family),
    make("div", { className: "control" }, make("label", { htmlFor: size.id, textContent: "k" }), size),
  );
  family.addEventListener("change", () => choose(family.value, state.k));
  size.addEventListener("change", () => choose(state.family, Number(size.value)));

  function card() {
    const some = mine(state.family);
    family.replaceChildren(...Object.keys(families).map((value) => make("option", { value, textContent: value })));
    family.value = state.family;
    size.replaceChildren(...some.map(({ k }) => make("option", { value: k, textContent: k })));
    const nearest = some.reduce((best, point) => (best === null || Math.abs(point.k - state.k) < Math.abs(best.k - state.k) ? point : best), null);
    if (!nearest) {
      facts.replaceChildren();
      said.textContent = "";
      actions.replaceChildren();
      return;
    }
    size.value = nearest.k;
    const point = nearest;
    const numbers = point.kind
      ? [
          ["n", "n", `${point.n}`],
          ["loss at least", "loss", bound(point.objective_ge, 8)],
          [point.kind === "minimum" ? "smallest eigenvalue at least" : "an eigenvalue of at most", "eigenvalue", eigenvalue(point)],
          ["no other critical point within", "radius", bound(point.unique_radius, 4)],
        ]
      : [["n", "n", `${point.n}`]];
    facts.replaceChildren(
      ...numbers.map(([name, what, value]) => {
        const cell = make("dd", { textContent: value });
        cell.dataset.number = what;
        return make("div", {}, make("dt", { textContent: name }), cell);
      }),
    );
    said.textContent = point.kind
      ? `${point.family} at k = ${point.k} is a ${point.kind === "minimum" ? "spurious minimum, in every dimension" : "saddle"}; ${ACCEPTED}.`
      : `Nothing is proved of ${point.family} at k = ${point.k}: ${point.reason}.`;
    const turned = turns[point.family];
    if (turned) said.append(` It turns from saddle to minimum at a real k between ${(Math.floor(turned.k_ge * 1e11) / 1e11).toFixed(11)} and ${(Math.ceil(turned.k_le * 1e11) / 1e11).toFixed(11)} (${turned.block}): enclosed in ball arithmetic, a result without a certificate.`);
    const items = [];
    if (point.k <= limits.k && point.n <= limits.n) {
      const address = `#landscape?${new URLSearchParams({ point: "family", family: point.family, k: point.k })}`;
      items.push(make("a", { href: address, className: "button first", textContent: "See its landscape" }));
    } else items.push(make("span", { className: "note", textContent: `The view Landscape shows k up to ${limits.k} and n up to ${limits.n}.` }));
    if (point.kind) {
      const address = `/api/atlas/certificate?${new URLSearchParams({ family: point.family, k: point.k })}`;
      items.push(make("a", { href: address, className: "button", download: "", textContent: "Save its certificate" }));
    }
    if (!turned) items.push(button("Where does it turn?", () => turning(point.family)));
    actions.replaceChildren(...items);
  }

  async function turning(name) {
    context.say(`enclosing the k at which ${name} turns`);
    try {
      const answer = await context.ask("/api/atlas/turn", { family: name });
      turns = { ...turns, [name]: answer };
      context.command(answer.command);
      context.say("");
      card();
    } catch {
      context.say("");
    }
  }

  // ---- every k, and absence

  async function knowledge() {
    const { rows: list } = await context.ask("/api/atlas/known");
    const body = list.map((one) => {
      const cell = make("td", {});
      if (one.theorem) {
        cell.append("not checked on this server yet ", button("Prove and check it", (event) => theorem(one, cell, event.target)));
        cell.dataset.theorem = one.theorem;
      } else cell.append(one.how ?? "");
      if (one.command && !one.theorem) cell.append(" ", button("Show the command", () => context.command(one.command)));
      return make("tr", {}, ...[one.k, one.n, one.says].map((text) => make("td", { textContent: text })), cell);
    });
    const head = make("thead", {}, row(["k", "n", "for orthonormal teachers", "how it is known"], "th"));
    known.replaceChildren(make("h2", { textContent: "For every k, and where there is none" }), make("div", { className: "scroll" }, make("table", {}, head, make("tbody", {}, ...body))));
  }

  async function theorem(one, cell, pressed) {
    pressed.disabled = true;
    pressed.textContent = "Proving …";
    let answer = null;
    const stream = context.stream("/api/atlas/theorem", { theorem: one.theorem }, (event) => {
      if (event.state === "done") answer = event;
      else pressed.textContent = `Proving … ${event.seconds.toFixed(0)} s`;
    });
    await stream.done;
    if (!answer) {
      pressed.disabled = false;
      pressed.textContent = "Prove and check it";
      return;
    }
    const words = answer.verified ? `Proved: the trusted checker accepted the certificate on this server, in ${answer.seconds.toFixed(1)} s. It says: ${answer.says}. ` : `Not proved: the checker rejects it: ${answer.says}. `;
    cell.replaceChildren(words);
    cell.dataset.verified = answer.verified;
    if (answer.certificate) cell.append(button(`Save ${answer.file}`, () => context.save(new Blob([answer.certificate], { type: "application/json" }), answer.file)));
    if (answer.course) courses[one.theorem] = answer.course;
    context.command(answer.command);
    draw();
  }

  // ---- the ladder

  let climbing = null;
  const ladder = context.controls(ladderControls, [
    { name: "ladder", label: "Teacher neurons k", kind: "number", min: 2, max: limits.ladder_k, step: 1 },
    { name: "neurons", label: "Neurons to add", kind: "number", min: 1, max: limits.ladder_neurons, step: 1 },
    { name: "climb", label: "Climb", kind: "button", onclick: climb, first: true },
  ], () => {});

  async function climb() {
    climbing?.stop();
    rungs.length = 0;
    ladderPanel.dataset.state = "running";
    ladder.enable("climb", false);
    context.say("climbing; the first rungs of a size take some seconds");
    const stream = context.stream("/api/atlas/ladder", { k: state.ladder, neurons: state.neurons }, (event) => {
      if (event.command) context.command(event.command);
      if (event.state === "waiting") context.say(`waiting for another ladder: ${event.seconds.toFixed(0)} s`);
      else if (event.state) context.say(`climbing from n = ${rungs.at(-1)?.n ?? state.ladder}: ${event.seconds.toFixed(0)} s`);
      if (event.rung) rungs.push(event.rung);
      if (event.rung) steps();
    });
    climbing = stream;
    const end = await stream.done;
    ladder.enable("climb", true);
    ladderPanel.dataset.state = end === "end" ? "done" : end;
    if (end === "end") {
      const highest = rungs.filter((rung) => rung.minima.some((one) => one.verified)).at(-1);
      context.say(highest ? `the highest rung with a proved minimum has n = ${highest.n}` : "no minimum was found");
    }
  }

  function steps() {
    if (!rungs.length) return null;
    const { c, ink, quiet } = context.colours();
    const all = rungs.flatMap((rung) => rung.minima.map((one, place) => ({ ...one, n: rung.n, place })));
    const at = (n, place) => all.find((one) => one.n === n && one.place === place);
    const links = all.filter((one) => one.parent.length).map((one) => [at(...one.parent), one]);
    const dots = {
      x: all.map((one) => one.n), y: all.map((one) => one.value), mode: "markers+text", text: all.map((one) => (one.family ?? "").split(" (")[0]), textposition: "top center", textfont: { color: ink, size: 11 },
      marker: { size: 11, color: c[5], symbol: all.map((one) => (one.verified ? "circle" : "circle-open")), line: { color: c[5], width: 2 } },
      hovertemplate: all.map((one) => `n = ${one.n}, F = ${precise(one.value)}<br>smallest eigenvalue ${precise(one.least, 4)}<br>${one.move}<extra></extra>`), showlegend: false,
    };
    const lines = { x: links.flatMap(([a, b]) => [a.n, b.n, null]), y: links.flatMap(([a, b]) => [a.value, b.value, null]), mode: "lines", line: { color: quiet, width: 1 }, hoverinfo: "skip", showlegend: false };
    const ns = rungs.map((rung) => rung.n);
    const body = rungs.flatMap((rung) => [
      ...rung.minima.map((one) => {
        const save = one.verified ? button("Save certificate", () => context.save(new Blob([one.certificate], { type: "application/json" }), `k${state.ladder}-n${rung.n}-minimum.json`)) : "";
        return row([`${rung.n}`, one.verified ? "proved, checked here" : `not proved: ${one.reason}`, precise(one.value), one.verified ? `≥ ${bound(one.lambda_ge, 4)}` : `about ${precise(one.least, 4)}`, one.family ?? "", one.move, save]);
      }),
      row([`${rung.n}`, `${rung.tried} candidates: ${Object.entries(rung.fates).map(([name, count]) => `${count} ${name.toLowerCase()}`).join(", ")}`, "", "", "", "", ""]),
    ]);
    ladderTable.replaceChildren(make("thead", {}, row(["n", "", "F", "smallest eigenvalue", "symmetry", "made by", ""], "th")), make("tbody", {}, ...body));
    return context.plot(ladderPlot, [lines, dots], {
      name: `ladder-k${state.ladder}`,
      said: `A ladder for k = ${state.ladder}: ${rungs.map((rung) => `${rung.minima.length} minima with n = ${rung.n}`).join(", ")}.`,
      height: 320,
      xaxis: { title: { text: "student neurons n" }, dtick: 1, range: [Math.min(...ns) - 0.5, Math.max(...ns) + 0.8] },
      yaxis: { title: { text: "loss F" }, rangemode: "tozero" },
    });
  }

  addEventListener("themechange", () => { draw(); steps(); }, { signal: context.gone.signal });
  knowledge().catch(() => {});
  start();
  return () => {};
}

export default {
  name: "atlas",
  title: "Atlas",
  key: "a",
  about: "What is proved of spurious minima: against k, for every k, with more neurons, and where there is none.",
  defaults: { families: "II A I B M:4 2B", first: 4, last: 20, log: false, family: "II", k: 7, ladder: 7, neurons: 2 },
  mount,
};

// The loss on a plane through a critical point, with the descent on it; the spectrum and the weights of the point.
import * as pictured from "/static/lib/pictures.js";
import { isDark } from "/static/lib/theme.js";
import { make, precise } from "/static/lib/words.js";

const FAMILIES = ["II", "A", "I", "B", "M:4", "2B"];
// Below the loss at the point, from far to near, and above it, from near to far; as in the pictures of earnshaw draw.
const BANDS = {
  light: [
    ["#08519c", "#2b7bba", "#5ba3cf", "#8fc2de", "#bdd7ec", "#eff5fb"],
    ["#fff7ec", "#fddcae", "#fdc68a", "#fcab63", "#f58f41", "#e5721f", "#c9560b"],
  ],
  dark: [
    ["#b5dcf5", "#7fbfe8", "#4d9fd3", "#2f77a8", "#22506f", "#1c2f3d"],
    ["#2f2419", "#54381c", "#7d4c1c", "#a8601b", "#d0761f", "#ee9640", "#ffc07a"],
  ],
};

// Losses as places on a scale: 0 at the loss of the point, 1 at the largest and -1 at the smallest, finer near 0.
function scale(found, dark) {
  const all = found.values.flat();
  const most = Math.max(...all) - found.loss;
  const deep = found.loss - Math.min(...all);
  const above = Math.max(most, 1e-12);
  const below = deep > 1e-7 * above ? deep : 0;
  const [steep, gentle] = [8, 2];
  const bent = (share, by) => Math.asinh(by * share) / Math.asinh(by);
  const straight = (at, by) => Math.sinh(at * Math.asinh(by)) / by;
  const place = (value) => {
    const rise = value - found.loss;
    return rise >= 0 ? bent(rise / above, steep) : below ? -bent(-rise / below, gentle) : 0;
  };
  const loss = (at) => (at >= 0 ? found.loss + above * straight(at, steep) : found.loss - below * straight(-at, gentle));
  const [low, high] = BANDS[dark ? "dark" : "light"];
  const least = below ? -1 : 0;
  const stops = (colours, from, to) => colours.map((colour, i) => [(from + ((to - from) * i) / (colours.length - 1) - least) / (1 - least), colour]);
  const colours = below ? [...stops(low, -1, -1e-3), ...stops(high, 0, 1)] : stops(high, 0, 1);
  const ticks = below ? [-1, -0.7, 0, 0.5, 1] : [0, 0.35, 0.7, 1];
  const bar = { thickness: 12, tickvals: ticks, ticktext: ticks.map((at) => precise(loss(at), 4)), title: { text: "loss F", side: "right" } };
  return { least, colours, bar, z: found.values.map((row) => row.map(place)) };
}

async function digest(text) {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return [...bytes.slice(0, 6)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const kept = {
  get: (name) => {
    try {
      return sessionStorage.getItem(`certificate-${name}`);
    } catch {
      return null;
    }
  },
  set: (name, text) => {
    try {
      sessionStorage.setItem(`certificate-${name}`, text);
    } catch {
      // a browser that keeps nothing asks for the file again after a reload
    }
  },
};

function mount(root, context) {
  const { state, limits } = context;
  let found = null;
  let asking = 0;
  const texts = new Map();

  const spec = [
    { name: "point", label: "Point", kind: "select", options: [["family", "a named family"], ["run", "the end of a run"], ["shipped", "the shipped certificate"], ["certificate", "a certificate's file"]] },
    { name: "family", label: "Family", kind: "text", help: "II, A, I, B, 2B, 3Bp, C, or M:4, B:4, P:9 with your numbers" },
    { name: "k", label: "Teacher neurons k", kind: "number", min: 1, max: limits.k, step: 1 },
    { name: "n", label: "Student neurons n", kind: "number", min: 1, max: limits.n, step: 1 },
    { name: "seed", label: "Seed", kind: "number", min: 0, max: limits.seed, step: 1 },
    { name: "run", label: "Run", kind: "number", min: 0, max: limits.runs - 1, step: 1 },
    { name: "plane", label: "Plane", kind: "select", options: [["eigenvectors", "two eigenvectors"], ["teacher", "towards the teacher"], ["family", "towards another family"]] },
    { name: "second", label: "Other family", kind: "text" },
    { name: "x", label: "Across, eigenvalue", kind: "select", options: [[-1, "the softest"]] },
    { name: "y", label: "Upwards, eigenvalue", kind: "select", options: [[-1, "the next one"]] },
    { name: "reach", label: "Reach (0: as suits)", kind: "number", min: 0, max: limits.reach, step: "any" },
    { name: "surface", label: "As a surface, too", kind: "check" },
    { name: "prove", label: "Prove it", kind: "button", onclick: prove, first: true },
  ];
  const controls = context.controls(root, spec, (name) => {
    if (name === "surface") {
      arrange();
      pictures();
      return;
    }
    if (["point", "family", "k", "n", "seed", "run"].includes(name)) context.set({ x: -1, y: -1, reach: 0 });
    arrange();
    draw();
  });
  const file = make("input", { type: "file", accept: ".json,application/json", id: "landscape-file" });
  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    const text = await file.files[0].text();
    const name = await digest(text);
    texts.set(name, text);
    kept.set(name, text);
    context.set({ certificate: name, x: -1, y: -1, reach: 0 });
    draw();
  });
  const upload = make("div", { className: "control" }, make("label", { htmlFor: file.id, textContent: "Certificate's file" }), file);
  controls.input("plane").closest(".control").before(upload);
  const names = make("datalist", { id: "landscape-families" }, ...FAMILIES.map((value) => make("option", { value })));
  root.append(names);
  for (const name of ["family", "second"]) {
    Object.assign(controls.input(name), { maxLength: 24, size: 7, spellcheck: false });
    controls.input(name).setAttribute("list", names.id);
  }

  const words = make("p", { className: "words" });
  const numbers = make("dl", { className: "numbers" });
  const verdict = make("p", { className: "verdict", hidden: true });
  verdict.setAttribute("role", "status");
  const panel = (title, note) => {
    const place = make("div");
    const about = make("p", { className: "note", textContent: note });
    return [make("section", { className: "panel" }, make("h2", { textContent: title }), about, place), place, about];
  };
  const [mapPanel, map, mapNote] = panel("The plane from above", "");
  const [hillPanel, hill] = panel("As a surface", "Drag to turn it. The line is the descent, lifted a little off its own loss so that it is seen.");
  const [levelPanel, levels] = panel("Eigenvalues of the Hessian", "All directions, in order of curvature; diamonds are negative.");
  const [weightPanel, weights] = panel("Weights", "Neurons are rows, in the order that shows the pattern.");
  root.append(words, numbers, verdict, make("div", { className: "panels pairs" }, mapPanel, hillPanel, levelPanel, weightPanel));

  function arrange() {
    const shown = {
      family: state.point === "family",
      k: state.point === "family" || state.point === "run",
      n: state.point === "run",
      seed: state.point === "run",
      run: state.point === "run",
      second: state.plane === "family",
      x: state.plane === "eigenvectors",
      y: state.plane === "eigenvectors",
    };
    for (const [name, yes] of Object.entries(shown)) controls.show(name, yes);
    hillPanel.hidden = !state.surface;
    upload.hidden = state.point !== "certificate";
    controls.input("prove").textContent = ["shipped", "certificate"].includes(state.point) ? "Check it" : "Prove it";
  }

  const point = () => {
    const { point: kind, family, k, n, seed, run } = state;
    const certificate = kind === "certificate" ? (texts.get(state.certificate) ?? kept.get(state.certificate) ?? "") : "";
    return { point: kind, family: family.trim(), k, n, seed, run, certificate };
  };

  async function draw() {
    const mine = (asking += 1);
    verdict.hidden = true;
    if (state.point === "certificate" && !point().certificate) {
      context.mark("idle");
      context.say("choose a certificate's file: one that earnshaw prove, or this page, wrote");
      return;
    }
    context.mark("running");
    context.say("computing the plane; the first one of a size takes some seconds");
    const { plane, second, x, y, reach, resolution } = state;
    try {
      const answer = await context.ask("/api/landscape/slice", { ...point(), plane, second: second.trim(), x, y, reach, resolution });
      if (mine !== asking) return;
      found = answer;
    } catch {
      if (mine === asking) context.say("");
      return;
    }
    axes();
    show();
    context.command(found.command);
    context.say("computed in floating point; nothing on this page is proved until the checker has said so");
    await pictures();
    context.mark("done");
  }

  // The eigenvalues that can be chosen, each with its first place in the spectrum.
  function axes() {
    let place = 0;
    const options = found.levels.map(([value, count]) => {
      const option = [place, `${precise(value, 4)}${count > 1 ? ` (×${count})` : ""}`];
      place += count;
      return option;
    });
    for (const [name, first] of [["x", "the softest"], ["y", "the next one"]]) {
      controls.input(name).replaceChildren(...[[-1, first], ...options].map(([value, textContent]) => make("option", { value, textContent })));
      if (![...controls.input(name).options].some((option) => Number(option.value) === state[name])) {
        controls.input(name).append(make("option", { value: state[name], textContent: `direction ${state[name]}` }));
      }
    }
    controls.refresh();
  }

  function show() {
    const smallest = found.levels[0][0];
    const down = found.levels.filter(([value]) => value < -1e-9).reduce((sum, [, count]) => sum + count, 0);
    const kind = found.gradient > 1e-6 ? "not a critical point" : down ? `a saddle, ${down} ways down` : smallest > 1e-9 ? "a strict minimum" : "flat to second order";
    words.textContent = `${found.words[0].toUpperCase()}${found.words.slice(1)}${found.label ? `; its symmetry: ${found.label}` : ""}.`;
    const rows = [
      ["loss F", "loss", precise(found.loss, 8)],
      ["gradient", "gradient", precise(found.gradient, 3)],
      ["smallest eigenvalue", "smallest", precise(smallest)],
      ["so it looks like", "kind", kind],
      ["weights", "count", `${found.weights.length} × ${found.weights[0].length}`],
    ];
    numbers.replaceChildren(
      ...rows.map(([name, key, value]) => {
        const cell = make("dd", { textContent: value });
        cell.dataset.number = key;
        return make("div", {}, make("dt", { textContent: name }), cell);
      }),
    );
    mapNote.textContent = `Blue is below F = ${precise(found.loss, 4)}, orange above it. The line is gradient descent in all dimensions, as its shadow; the ring is where it begins.`;
  }

  function pictures() {
    if (!found) return null;
    const { ink, paper, c, quiet } = context.colours();
    const { least, colours, bar, z } = scale(found, isDark(paper));
    const [across, upwards] = found.labels;
    const steps = found.path.places.map((place, i) => [...place, found.path.losses[i], found.path.steps[i]]);
    const [right, top] = [found.across.at(-1), found.along.at(-1)];
    const inside = ([x, y]) => x >= found.across[0] && x <= right && y >= found.along[0] && y <= top;
    const highest = Math.max(...found.values.flat());
    const lowest = Math.min(...found.values.flat());
    const near = steps.filter((step) => inside(step) && step[2] <= 1.05 * highest);
    const hover = "F = %{customdata:.6g}<extra></extra>";
    const told = steps.map((step) => `step ${step[3]}, F = ${precise(step[2])}`);
    const dot = (x, y, symbol, color, size, name) => ({ x: [x], y: [y], mode: "markers", hoverinfo: "name", name, showlegend: false, marker: { symbol, color, size, line: { color: ink, width: 1.5 } } });
    const name = `landscape-${state.point === "family" ? `${state.family.replace(/[:,]/g, "")}-k${state.k}` : state.point}`;
    const target = found.target ? [dot(...found.target, "star", c[6], 15, "the other point")] : [];
    const size = (place) => Math.max(280, Math.min(440, place.clientWidth * 0.82));
    const drawn = [
      context.plot(
        map,
        [
          { type: "contour", x: found.across, y: found.along, z, customdata: found.values, hovertemplate: hover, zmin: least, zmax: 1, colorscale: colours, colorbar: bar, contours: { start: least, end: 1, size: 0.125 }, line: { width: 0.5, color: quiet } },
          { x: steps.map((s) => s[0]), y: steps.map((s) => s[1]), mode: "lines", line: { color: ink, width: 2 }, text: told, hoverinfo: "text", showlegend: false },
          dot(steps[0][0], steps[0][1], "circle", paper, 9, "the descent begins"),
          dot(0, 0, "circle", ink, 10, "the point"),
          ...target,
        ],
        {
          name: `${name}-plane`,
          said: `Contours of the loss on a plane through ${found.words}: ${across}, curvature ${precise(found.curvatures[0], 4)}, and ${upwards}, curvature ${precise(found.curvatures[1], 4)}. Gradient descent ends at a loss of ${precise(found.path.losses.at(-1))}.`,
          height: size(map),
          xaxis: { title: { text: across }, range: [found.across[0], right], zeroline: false },
          yaxis: { title: { text: upwards }, range: [found.along[0], top], zeroline: false },
        },
      ),
      state.surface && context.plot(
        hill,
        [
          { type: "surface", x: found.across, y: found.along, z: found.values, surfacecolor: z, cmin: least, cmax: 1, colorscale: colours, showscale: false, hovertemplate: "F = %{z:.6g}<extra></extra>", opacity: 0.95 },
          { type: "scatter3d", x: near.map((s) => s[0]), y: near.map((s) => s[1]), z: near.map((s) => s[2] + 0.01 * (highest - lowest)), mode: "lines", line: { color: ink, width: 6 }, hoverinfo: "skip", showlegend: false },
          { type: "scatter3d", x: [0], y: [0], z: [found.loss], mode: "markers", marker: { size: 5, color: ink }, hoverinfo: "skip", showlegend: false },
          ...(found.target ? [{ type: "scatter3d", x: [found.target[0]], y: [found.target[1]], z: [lossAt(found.target)], mode: "markers", marker: { size: 6, color: c[6], symbol: "diamond", line: { color: ink, width: 1 } }, hoverinfo: "skip", showlegend: false }] : []),
        ],
        {
          name: `${name}-surface`,
          said: `The same plane as a surface, from F = ${precise(lowest, 4)} to ${precise(highest, 4)}.`,
          height: size(hill),
          margin: { l: 0, r: 0, t: 0, b: 0 },
          scene: { xaxis: { title: { text: "" } }, yaxis: { title: { text: "" } }, zaxis: { title: { text: "F" } }, camera: { eye: { x: 1.45, y: -1.35, z: 0.95 } }, aspectmode: "manual", aspectratio: { x: 1, y: 1, z: 0.7 } },
        },
      ),
      pictured.spectrum(context, levels, found.levels, `${name}-spectrum`),
      pictured.weights(context, weights, found.weights, `${name}-weights`),
    ];
    return Promise.all(drawn);
  }

  // The loss of the map at the place nearest to a point of the plane.
  function lossAt([x, y]) {
    const nearest = (places, to) => places.reduce((best, at, i) => (Math.abs(at - to) < Math.abs(places[best] - to) ? i : best), 0);
    return found.values[nearest(found.along, y)][nearest(found.across, x)];
  }

  async function prove() {
    const button = controls.input("prove");
    button.disabled = true;
    context.say("proving, and letting the trusted checker judge the certificate");
    try {
      const answer = await context.ask("/api/landscape/prove", point());
      verdict.hidden = false;
      verdict.dataset.verified = answer.verified;
      verdict.replaceChildren(
        make("strong", { textContent: answer.verified ? "Proved. " : "Not proved. " }),
        answer.verified ? `The trusted checker accepted the certificate on this server, in ${answer.seconds.toFixed(2)} s: ${answer.statement}. ` : `${answer.reason}. `,
      );
      if (answer.certificate) {
        const save = make("button", { type: "button", textContent: `Save ${answer.file}` });
        save.addEventListener("click", () => context.save(new Blob([answer.certificate], { type: "application/json" }), answer.file));
        verdict.append(save);
      }
      context.command(answer.command);
      context.say("");
    } catch {
      context.say("");
    }
    button.disabled = false;
  }

  addEventListener("themechange", pictures, { signal: context.gone.signal });
  arrange();
  draw();
  return () => {};
}

export default {
  name: "landscape",
  title: "Landscape",
  key: "l",
  about: "The loss on a plane through a minimum or a saddle, and gradient descent on it.",
  defaults: { point: "family", family: "II", k: 6, n: 6, seed: 0, run: 0, certificate: "", plane: "eigenvectors", second: "A", x: -1, y: -1, reach: 0, resolution: 61, surface: true },
  mount,
};

// Charges: electrons look for protons. The server computes the moments; this file shows them, and what lies between.
import { Energy } from "/static/lib/energy.js";
import { Film } from "/static/lib/film.js";
import { PRESETS } from "/static/lib/presets.js";
import { Stage } from "/static/lib/stage.js";
import { make, numbers, put, short, table } from "/static/lib/words.js";

const RATE = 0.25; // pictures a second, at speed 1
const KEPT = 600; // frames whose times are kept
const SCENE = ["potential", "motion", "protons", "k", "n", "d", "spread", "step", "steps", "until", "seed"];
const MOVED = ["potential", "protons", "k", "n", "d", "spread", "seed"]; // a change of these forgets a dragged electron
const PATIENCE = 20; // times a run that finds the server busy is asked for again

export default {
  name: "charges",
  title: "Charges",
  key: "c",
  about: "Student neurons are electrons, teacher neurons protons, and the loss is their energy. Drag an electron and watch.",
  defaults: {
    potential: "relu",
    motion: "descent",
    protons: "orthonormal",
    k: 6,
    n: 6,
    d: 6,
    spread: 0.25,
    step: 0.1,
    steps: 5000,
    until: 10000,
    seed: 0,
    speed: 1,
    trails: true,
    forces: true,
    at: "",
  },
  async mount(root, context) {
    const { potentials } = await context.ask("/api/charges/potentials");
    return new Charges(root, context, potentials).leave;
  },
};

class Charges {
  constructor(root, context, potentials) {
    Object.assign(this, { root, context, state: context.state });
    this.film = null;
    this.reading = 0; // of the film's clock
    this.playing = false;
    this.chosen = -1;
    this.held = null; // the coordinates while an electron is dragged
    this.ending = null;
    this.colours = context.colours();
    this.spent = []; // milliseconds of the last frames
    root.frames = this.spent; // for measurements, as is where the electrons are on the canvas:
    root.places = () => this.seen.map(([x, y]) => [this.stage.x(x), this.stage.y(y)]);
    if (!potentials.some(([name]) => name === this.state.potential)) potentials.push([this.state.potential, this.state.potential]);
    this.#build(potentials);
    this.#listen();
    this.#shown();
    this.run();
  }

  leave = () => {
    clearTimeout(this.waiting);
    this.sizes.disconnect();
    cancelAnimationFrame(this.asked);
  };

  #build(potentials) {
    const { root, context } = this;
    const { limits } = context;
    const scenes = make("div", { className: "presets" });
    scenes.setAttribute("role", "group");
    scenes.setAttribute("aria-label", "Scenes");
    for (const [label, title, patch] of PRESETS) {
      const button = make("button", { type: "button", textContent: label, title });
      button.addEventListener("click", () => {
        context.set({ step: 0.1, spread: 0.25, steps: 5000, until: 10000, at: "", ...patch });
        this.inputs.refresh();
        this.#shown();
        this.run();
      });
      scenes.append(button);
    }
    root.append(scenes);
    this.inputs = context.controls(
      root,
      [
        { name: "potential", label: "Potential", kind: "select", options: potentials },
        { name: "motion", label: "Motion", kind: "select", options: [["descent", "gradient descent"], ["dynamics", "dynamics"]] },
        { name: "protons", label: "Protons", kind: "select", options: [["orthonormal", "orthonormal"], ["random", "at random"]] },
        { name: "k", label: "Protons k", kind: "number", min: 1, max: limits.k, step: 1 },
        { name: "n", label: "Electrons n", kind: "number", min: 1, max: limits.n, step: 1 },
        { name: "d", label: "Dimension d", kind: "number", min: 2, max: limits.d, step: 1 },
        { name: "spread", label: "Spread", kind: "number", min: 0.01, max: 10, help: "Places are drawn from N(0, c d log d I) with this c" },
        { name: "step", label: "Step", kind: "number", min: 0.0001, max: 10 },
        { name: "steps", label: "Steps at most", kind: "number", min: 1, max: limits.watched_steps, step: 1 },
        { name: "until", label: "Last time", kind: "number", min: 0.01, max: 1000000 },
        { name: "seed", label: "Seed", kind: "number", min: 0, max: limits.seed, step: 1 },
      ],
      (name) => this.#changed(name),
    );
    for (const name of ["k", "n", "d", "spread", "step", "steps", "until", "seed"]) this.inputs.input(name).classList.add("small");
    this.canvas = make("canvas", { className: "stage", tabIndex: 0 });
    this.canvas.setAttribute("role", "img");
    this.stage = new Stage(this.canvas);
    this.player = make("div");
    this.play = context.controls(this.player, [
      { name: "play", label: "Pause", kind: "button", first: true, onclick: () => this.toggle() },
      { name: "reset", label: "Reset", kind: "button", onclick: () => this.reset(), help: "Back to where the seed puts them" },
      { name: "speed", label: "Speed", kind: "select", options: [[0.25, "¼"], [0.5, "½"], [1, "1"], [2, "2"], [4, "4"], [16, "16"]] },
      { name: "trails", label: "Trails", kind: "check" },
      { name: "forces", label: "Forces", kind: "check" },
      { name: "save", label: "Save PNG", kind: "button", onclick: () => context.saveCanvas(this.canvas, "charges") },
    ], () => this.#draw());
    this.slider = make("input", { type: "range", min: 0, max: 1000, value: 0, className: "film" });
    this.slider.setAttribute("aria-label", "Where in the run");
    this.help = make("p", { className: "hint", id: "charges-help" });
    this.help.textContent =
      "Drag an electron with the mouse or a finger. With the keyboard, on the picture: e chooses the next electron, arrows move it (with Shift farther), Enter lets it go, Space plays and pauses, Home goes to the start.";
    this.canvas.setAttribute("aria-describedby", "charges-help");
    const told = numbers([["clock", "step"], ["energy", "energy"], ["found", "on a proton"], ["frame-ms", "ms a frame"]]);
    this.cells = told.cells;
    this.end = make("p", { className: "ending" });
    this.end.dataset.number = "ending";
    this.end.setAttribute("role", "status");
    this.energy = new Energy(context);
    this.table = make("div", { className: "scroll arrivals", tabIndex: 0 });
    this.table.setAttribute("role", "region");
    this.table.setAttribute("aria-label", "Who found whom");
    const left = make("section", { className: "panel" }, this.player, this.canvas, this.slider, told.element, this.end, this.help);
    left.setAttribute("aria-label", "The charges");
    const right = make("section", { className: "panel" }, this.energy.element, this.table);
    right.setAttribute("aria-label", "Energy, and who found whom");
    root.append(make("div", { className: "panels wide" }, left, right));
  }

  #listen() {
    const { canvas, context } = this;
    const signal = context.gone.signal;
    this.sizes = new ResizeObserver(() => this.#draw());
    this.sizes.observe(canvas);
    const repaint = () => {
      this.colours = context.colours();
      this.#draw();
    };
    addEventListener("themechange", repaint, { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint, { signal });
    this.slider.addEventListener("input", () => {
      this.pause();
      this.reading = (Number(this.slider.value) / 1000) * (this.film?.last ?? 0);
      this.#draw();
    });
    canvas.addEventListener("pointerdown", (event) => this.#grab(event));
    const touched = (event) => {
      const { left, top } = canvas.getBoundingClientRect();
      const [touch] = event.changedTouches;
      if (this.#at(touch.clientX - left, touch.clientY - top) >= 0) event.preventDefault(); // else the page is scrolled
    };
    canvas.addEventListener("touchstart", touched, { passive: false });
    canvas.addEventListener("pointermove", (event) => this.#drag(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.#drop(event));
    canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  #changed(name) {
    const { state, context } = this;
    const patch = {};
    if (MOVED.includes(name)) patch.at = "";
    const odd = /yukawa/.test(state.potential);
    const sphere = state.potential.startsWith("sphere");
    if (name === "potential") {
      if (odd || state.potential === "coulomb") Object.assign(patch, { protons: "random", motion: "dynamics", d: odd ? 3 : 2 });
      else if (sphere) Object.assign(patch, { protons: "random", motion: "descent", d: 2, step: 0.005 });
      else Object.assign(patch, { motion: "descent" });
    }
    const protons = patch.protons ?? state.protons;
    if (protons === "orthonormal" && (name === "k" || name === "protons")) patch.d = Math.max(2, state.k);
    if (name === "d" && protons === "orthonormal" && state.d < state.k) patch.protons = "random";
    context.set(patch);
    this.inputs.refresh();
    this.#shown();
    this.#soon(300);
  }

  // Only what has a meaning here can be changed.
  #shown() {
    const { state } = this;
    const law = /yukawa|coulomb/.test(state.potential);
    const dynamics = law && state.motion === "dynamics";
    this.inputs.show("until", dynamics);
    for (const name of ["step", "steps"]) this.inputs.show(name, !dynamics);
    this.inputs.show("spread", state.protons === "random" || law);
  }

  // ---- the run ---------------------------------------------------------------------------------------------------

  // Run after a while, in which others may be asked for instead: numbers are changed click by click.
  #soon(milliseconds, tries = 0) {
    this.stream?.stop();
    this.stream = null;
    this.context.mark("running");
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.run(tries), milliseconds);
  }

  run(tries = 0) {
    clearTimeout(this.waiting);
    this.stream?.stop();
    const { context, state } = this;
    const body = Object.fromEntries(SCENE.map((name) => [name, state[name]]));
    if (state.at) body.start = state.at.split(";").map((row) => row.split(",").map(Number));
    Object.assign(this, { held: null, ending: null, reading: 0 });
    this.table.replaceChildren();
    this.end.textContent = "";
    this.energy.follow(null);
    context.mark("running");
    context.say("computing…");
    this.playing = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    const stream = context.stream("/api/charges/run", body, (event) => {
      if (this.stream === stream) this.#heard(event);
    });
    this.stream = stream;
    stream.done.then((how) => {
      if (this.stream !== stream || how === "stopped") return;
      if (how === "refused" && context.busy && tries < PATIENCE) {
        context.say("waiting for an earlier run to end…");
        this.#soon(500, tries + 1);
      } else if (how === "refused") {
        context.say("");
        this.pause();
      } else {
        context.say("");
        const { film, ending } = this;
        this.energy.draw(film, ending, this.colours).then(() => {
          this.plotted = ending;
          this.#done();
          this.#draw();
        });
      }
      this.#draw();
    });
    this.#buttons();
  }

  #heard({ scene, moments, again, ending }) {
    if (scene) {
      this.film = new Film(scene);
      this.chosen = this.chosen < scene.start.length ? this.chosen : -1;
      this.cells.clock.term.textContent = scene.clock;
      this.cells.energy.term.textContent = scene.energy;
      this.context.command(scene.command);
      this.root.dataset.electrons = scene.start.length;
    }
    if (again) {
      this.film.clear();
      this.reading = 0;
      this.context.say("the step was too long; once more from the start with half of it");
    }
    if (moments) this.film.add(moments);
    if (ending) this.ending = ending;
    this.#draw();
  }

  reset() {
    this.context.set({ at: "" });
    this.run();
  }

  toggle() {
    if (this.playing) this.pause();
    else {
      if (this.film && this.ending && this.reading >= this.film.last) this.reading = 0;
      this.playing = true;
      this.#buttons();
      this.#draw();
    }
  }

  pause() {
    this.playing = false;
    this.#buttons();
  }

  #buttons() {
    this.play.input("play").textContent = this.playing ? "Pause" : "Play";
  }

  // ---- frames ----------------------------------------------------------------------------------------------------

  #draw() {
    this.asked ??= requestAnimationFrame((now) => this.#frame(now));
  }

  #frame(now) {
    const begun = performance.now();
    this.asked = null;
    const { film } = this;
    if (!film || this.context.gone.signal.aborted) return;
    const passed = Math.min(0.1, (now - (this.before ?? now)) / 1000);
    this.before = this.playing ? now : undefined;
    if (this.playing && film.length) {
      this.reading = Math.min(film.last, this.reading + RATE * this.state.speed * passed);
      if (this.ending && this.reading >= film.last) this.pause();
    }
    this.#paint(film);
    if (this.playing) this.#draw();
    this.spent.push(performance.now() - begun);
    if (this.spent.length > KEPT) this.spent.shift();
  }

  #paint(film) {
    const { stage, colours, state } = this;
    stage.resize();
    stage.look(film.box);
    stage.begin(colours);
    if (film.scene.sphere) stage.circle(colours, 1);
    const where = film.length ? film.at(this.reading) : null;
    const { paths, forces, count } = film;
    const now = (values, at) => {
      const [moment, share] = where;
      const one = 2 * moment * count + at;
      const two = 2 * Math.min(moment + 1, film.length - 1) * count + at;
      return values[one] + share * (values[two] - values[one]);
    };
    const held = this.held?.map((row) => film.seen(row));
    this.seen = film.start.map((place, i) => held?.[i] ?? (where ? [now(paths, 2 * i), now(paths, 2 * i + 1)] : place));
    film.protons.forEach(([x, y], j) => stage.proton(colours, x, y, `p${j + 1}`));
    this.seen.forEach(([x, y], i) => {
      const colour = colours.c[i % 5];
      if (state.trails && where && !held) stage.trail(colour, paths, count, i, where[0], x, y);
    });
    this.seen.forEach(([x, y], i) => {
      if (state.forces && where && !held) stage.force(colours, x, y, now(forces, 2 * i), now(forces, 2 * i + 1), film.strongest);
    });
    this.seen.forEach(([x, y], i) => stage.electron(colours, colours.c[i % 5], x, y, `${i + 1}`, i === this.chosen));
    if (!where) stage.say(colours, "computing… (the first run of a kind takes some seconds)");
    this.#tell(film, where);
  }

  // The numbers beside the picture; few things change in a frame.
  #tell(film, where) {
    const over = this.ending && this.reading >= film.last && !this.held;
    if (where) {
      put(this.cells.clock.value, short(film.between(film.times, where) * film.scene.unit));
      put(this.cells.energy.value, short(film.between(film.energies, where)));
      this.slider.value = film.last ? Math.round((1000 * this.reading) / film.last) : 0;
    }
    this.frames = (this.frames ?? 0) + 1;
    if (this.frames % 30 === 0) put(this.cells["frame-ms"].value, median(this.spent).toFixed(1));
    this.energy.follow(this.plotted === this.ending ? film : null, where);
    if (!over) {
      put(this.cells.found.value, "–");
      this.root.dataset.film = "running";
      if (this.frames % 60 === 1) this.#alternative(film, "");
      return;
    }
    if (this.root.dataset.film === "over") return;
    this.root.dataset.film = "over";
    const found = this.ending.arrivals.filter((one) => one.found).length;
    put(this.cells.found.value, `${found} of ${film.count}`);
    put(this.end, `${this.ending.name}: ${this.ending.words}`);
    this.#arrivals();
    this.#alternative(film, this.ending.words);
    this.#done();
  }

  // Done is a run whose film is over and whose energy is drawn.
  #done() {
    if (this.root.dataset.film === "over" && this.plotted === this.ending) this.context.mark("done");
  }

  #alternative(film, words) {
    const { state } = this;
    const shown = film.dimension === 2 ? "in the plane" : `in ${film.dimension} dimensions, drawn in a plane`;
    const clock = this.cells.clock.value.textContent;
    this.canvas.setAttribute(
      "aria-label",
      `${film.count} electrons among ${film.protons.length} protons ${shown}, ${state.potential}, ${film.scene.clock} ${clock}. ${words}`,
    );
  }

  #arrivals() {
    const rows = this.ending.arrivals.map((one) => {
      const yes = one.shared ? "shares it" : one.time === null ? "yes" : `at time ${short(one.time)}`;
      const words = one.found ? yes : one.faces === null ? "no" : `no: ${one.faces + 1} faces it, they cancel`;
      return [`${one.electron + 1}`, `p${one.proton + 1}`, short(one.distance), words];
    });
    this.table.replaceChildren(table(["electron", "nearest proton", "distance", "reached"], rows));
  }

  // ---- by hand ---------------------------------------------------------------------------------------------------

  // The electron at a place of the canvas, or -1.
  #at(x, y) {
    const near = (this.seen ?? []).map((place) => Math.hypot(this.stage.x(place[0]) - x, this.stage.y(place[1]) - y));
    const least = Math.min(...near);
    return least <= 24 ? near.indexOf(least) : -1;
  }

  #grab(event) {
    const chosen = this.#at(event.offsetX, event.offsetY);
    if (chosen < 0) {
      this.chosen = -1;
      this.#draw();
      return;
    }
    event.preventDefault();
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    this.dragging = true;
    this.#hold(chosen);
  }

  #hold(electron) {
    this.pause();
    this.chosen = electron;
    this.held ??= this.film.positions(this.reading);
    this.#draw();
  }

  // Put the chosen electron to a place of the plane; what it has beside the plane stays.
  #put([x, y]) {
    const { directions } = this.film.scene;
    const row = this.held[this.chosen];
    const [oldX, oldY] = this.film.seen(row);
    row.forEach((_, i) => {
      row[i] += (x - oldX) * directions[0][i] + (y - oldY) * directions[1][i];
    });
    if (this.film.scene.sphere) {
      const size = Math.hypot(...row) || 1;
      row.forEach((_, i) => {
        row[i] /= size;
      });
    }
    this.#draw();
  }

  #drag(event) {
    if (this.dragging) this.#put(this.stage.place(event.offsetX, event.offsetY));
  }

  #drop(event) {
    if (!this.dragging) return;
    this.dragging = false;
    this.#drag(event);
    this.go();
  }

  // Go on from where the electrons are held.
  go() {
    if (!this.held) return;
    const rows = this.held.map((row) => row.map((number) => String(Number(number.toFixed(4)))).join(","));
    this.context.set({ at: rows.join(";") });
    this.run();
  }

  #key(event) {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (!this.film || event.ctrlKey || event.metaKey || event.altKey) return;
    const { count, size } = this.film;
    if (event.key in arrows) {
      this.#hold(Math.max(0, this.chosen));
      const far = size * (event.shiftKey ? 0.1 : 0.02);
      const [x, y] = this.film.seen(this.held[this.chosen]);
      this.#put([x + far * arrows[event.key][0], y + far * arrows[event.key][1]]);
    } else if (event.key === "e") this.chosen = (this.chosen + 1) % count;
    else if (event.key === "E") this.chosen = (this.chosen + count - 1 + (this.chosen < 0)) % count;
    else if (event.key === "Enter") this.go();
    else if (event.key === " ") this.toggle();
    else if (event.key === "Home") {
      this.reading = 0;
      this.held = null;
    } else if (event.key === "Escape") {
      this.held = null;
      this.chosen = -1;
    } else return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key.toLowerCase() === "e") this.context.say(`electron ${this.chosen + 1} is chosen`);
    this.#draw();
  }
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

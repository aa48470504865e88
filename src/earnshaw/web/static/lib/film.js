// Moments of a run as they come from the server, seen in a plane, and the charges between two of them.
const LEAST = 1 / 300; // of the picture: what a moment takes although nothing moves

export class Film {
  // scene: {protons, start, centre, directions} of d coordinates each
  constructor(scene) {
    this.scene = scene;
    this.count = scene.start.length;
    this.dimension = scene.centre.length;
    this.protons = scene.protons.map((row) => this.seen(row));
    this.start = scene.start.map((row) => this.seen(row));
    this.times = [];
    this.energies = [];
    this.full = []; // of each moment the n d coordinates
    this.clock = []; // of each moment the way to it, in pictures
    this.paths = new Float32Array(2 * this.count * 64); // seen in the plane, moment by moment
    this.forces = new Float32Array(2 * this.count * 64);
    this.strongest = 0;
    const all = [...this.protons, ...this.start];
    const spans = [0, 1].map((axis) => all.map((place) => place[axis]));
    this.box = spans.flatMap((span) => [Math.min(...span), Math.max(...span)]);
    if (scene.sphere) this.box = [-1, 1, -1, 1];
    const size = Math.max(this.box[1] - this.box[0], this.box[3] - this.box[2], 1e-9);
    for (const side of [0, 2]) {
      const short = (0.6 * size - (this.box[side + 1] - this.box[side])) / 2;
      if (short > 0) {
        this.box[side] -= short;
        this.box[side + 1] += short;
      }
    }
    this.size = size;
  }

  get length() {
    return this.times.length;
  }

  get last() {
    return this.length ? this.clock[this.length - 1] : 0;
  }

  // A place of d coordinates in the plane; a force has no centre.
  seen(row, centre = this.scene.centre) {
    return this.scene.directions.map((axis) => axis.reduce((sum, part, i) => sum + part * (row[i] - (centre ? centre[i] : 0)), 0));
  }

  add({ t, x, f, e }) {
    const { count, dimension } = this;
    for (let index = 0; index < t.length; index += 1) {
      const moment = this.length;
      const room = 2 * count * (moment + 1);
      if (room > this.paths.length) {
        this.paths = grown(this.paths);
        this.forces = grown(this.forces);
      }
      let moved = 0;
      for (let electron = 0; electron < count; electron += 1) {
        const cut = (flat) => flat.slice(electron * dimension, (electron + 1) * dimension);
        const at = 2 * (moment * count + electron);
        const place = this.seen(cut(x[index]));
        const force = this.seen(cut(f[index]), null);
        this.paths.set(place, at);
        this.forces.set(force, at);
        this.strongest = Math.max(this.strongest, Math.hypot(...force));
        if (moment) moved = Math.max(moved, Math.hypot(place[0] - this.paths[at - 2 * count], place[1] - this.paths[at - 2 * count + 1]));
      }
      this.clock.push(moment ? this.last + Math.max(LEAST, Math.min(0.2, moved / this.size)) : 0);
      this.times.push(t[index]);
      this.energies.push(e[index]);
      this.full.push(x[index]);
    }
  }

  clear() {
    this.times.length = this.energies.length = this.full.length = this.clock.length = 0;
    this.strongest = 0;
  }

  // The moment before a reading of the clock, and the share of the way to the next.
  at(reading) {
    let low = 0;
    let high = this.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.clock[middle] <= reading) low = middle;
      else high = middle - 1;
    }
    const next = Math.min(low + 1, this.length - 1);
    const width = this.clock[next] - this.clock[low];
    return [low, width > 0 ? Math.min(1, Math.max(0, (reading - this.clock[low]) / width)) : 0];
  }

  between(values, [moment, share]) {
    const next = values[Math.min(moment + 1, this.length - 1)];
    return values[moment] + share * (next - values[moment]);
  }

  // The coordinates (n rows of d) at a reading, or at the start.
  positions(reading) {
    if (!this.length) return this.scene.start.map((row) => [...row]);
    const [moment, share] = this.at(reading);
    const [one, two] = [this.full[moment], this.full[Math.min(moment + 1, this.length - 1)]];
    const { dimension } = this;
    return this.scene.start.map((_, i) =>
      Array.from({ length: dimension }, (_, c) => one[i * dimension + c] + share * (two[i * dimension + c] - one[i * dimension + c])),
    );
  }
}

function grown(array) {
  const longer = new Float32Array(2 * array.length);
  longer.set(array);
  return longer;
}

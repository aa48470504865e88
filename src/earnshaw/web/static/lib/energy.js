// The energy of a film against its clock, drawn when the run has come to its end, and a line over it that moves with the film.
import { make, short } from "/static/lib/words.js";

export class Energy {
  constructor(context) {
    this.context = context;
    this.plot = make("div");
    this.line = make("div", { className: "cursor", hidden: true });
    this.element = make("div", { className: "over" }, this.plot, this.line);
  }

  async draw(film, ending, colours) {
    const { scene, times, energies } = film;
    const captures = ending.arrivals.filter((one) => one.time !== null);
    const dotted = { color: colours.c[5], width: 1, dash: "dot" };
    const finite = energies.filter((energy) => energy !== null).sort((a, b) => a - b);
    // Under an unbounded law a pair that is about to touch dives: those few moments are left out of the axis.
    const range = scene.unbounded ? { range: [finite[Math.floor(0.03 * finite.length)], finite.at(-1)] } : {};
    await this.context.plot(
      this.plot,
      [
        {
          x: times.map((time) => place(film, time)), y: energies, mode: "lines", line: { color: colours.c[0], width: 2 },
          hovertemplate: `${scene.clock} %{x:.4g}: %{y:.6g}<extra></extra>`,
        },
      ],
      {
        name: "charges-energy",
        said: `${scene.energy} against ${scene.clock}: from ${short(finite.at(-1))} at most to ${short(energies.at(-1))} at the end`,
        xaxis: { title: { text: scene.clock }, type: "log", exponentformat: "power" },
        yaxis: { title: { text: scene.energy }, ...range },
        shapes: captures.map(({ time }) => ({ type: "line", x0: time, x1: time, y0: 0, y1: 1, yref: "paper", line: dotted })),
        showlegend: false,
        margin: { l: 60, r: 12, t: 12, b: 44 },
      },
    );
  }

  // Move the line to where the film is; without a film it is not shown.
  follow(film, where) {
    const layout = this.plot._fullLayout;
    this.line.hidden = !(film && where && layout);
    if (this.line.hidden) return;
    const { xaxis, _size } = layout;
    const along = Math.min(xaxis._length, Math.max(0, xaxis.d2p(place(film, film.between(film.times, where)))));
    this.line.style.cssText = `transform: translate(${xaxis._offset + along}px, ${this.plot.offsetTop + _size.t}px); height: ${_size.h}px`;
  }
}

// A time on the logarithmic axis, which has no 0: the start is drawn at half of the first moment.
const place = ({ scene, times }, time) => Math.max(time, (times[1] ?? 1) / 2) * scene.unit;

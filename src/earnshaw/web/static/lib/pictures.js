// Pictures that several views have: the weights of a point, and the eigenvalues of the Hessian there.
import { isDark } from "/static/lib/theme.js";
import { short } from "/static/lib/words.js";

const WRITTEN = 144; // entries of a matrix up to which each is written out
const many = (size) => Array.from({ length: size }, (_, index) => index + 1);

// The ticks of a logarithmic axis: 1, 2 and 5 of each power of ten.
export function decades(least, most) {
  const tickvals = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); power += 1) {
    for (const digit of [1, 2, 5]) tickvals.push(Number(`${digit}e${power}`));
  }
  return { tickvals, ticktext: tickvals.map((value) => (value < 1e-3 ? value.toExponential(0) : `${value}`)) };
}

// Rows are neurons; blue is negative, red positive.
export function weights(context, place, rows, name) {
  const [height, width] = [rows.length, rows[0].length];
  const limit = Math.max(...rows.flat().map(Math.abs)) || 1;
  const middle = isDark(context.colours().paper) ? "#2b333c" : "#f7f7f7";
  const few = height * width <= WRITTEN && (place.clientWidth - 130) / width >= 30;
  const words = few ? { text: rows.map((row) => row.map((value) => value.toFixed(2).replace("-", "−").replace("−0.00", "0.00"))), texttemplate: "%{text}", textfont: { size: 11 } } : {};
  const trace = {
    type: "heatmap", z: rows, x: many(width), y: many(height), zmin: -limit, zmax: limit, xgap: 1, ygap: 1,
    colorscale: [[0, "#2166ac"], [0.25, "#67a9cf"], [0.5, middle], [0.75, "#ef8a62"], [1, "#b2182b"]],
    colorbar: { title: { text: "weight", side: "right" }, thickness: 12 },
    hovertemplate: "neuron %{y}, coordinate %{x}: %{z:.6f}<extra></extra>",
    ...words,
  };
  const axis = (title, size) => ({ title: { text: title }, dtick: size > 12 ? 5 : 1, showgrid: false, zeroline: false });
  return context.plot(place, [trace], {
    name,
    said: `Weights of ${height} neurons with ${width} coordinates, between ${short(Math.min(...rows.flat()))} and ${short(Math.max(...rows.flat()))}.`,
    height: 320,
    xaxis: axis("coordinate", width),
    yaxis: { ...axis("student neuron", height), autorange: "reversed" },
  });
}

// levels: [value, multiplicity] from the smallest on. On a logarithmic scale where all are positive; diamonds are negative.
export function spectrum(context, place, levels, name) {
  const { c } = context.colours();
  const all = levels.flatMap(([value, count]) => Array.from({ length: count }, () => value));
  const log = all[0] > 1e-9;
  const low = all.map((value) => value < -1e-9);
  const annotations = [];
  let begin = 1;
  for (const [value, count] of levels) {
    if (count >= Math.max(2, all.length / 25)) annotations.push({ x: begin + (count - 1) / 2, y: log ? Math.log10(value) : value, text: `×${count}`, showarrow: false, yshift: 12, font: { size: 11 } });
    begin += count;
  }
  const marker = { color: low.map((yes) => c[yes ? 5 : 0]), symbol: low.map((yes) => (yes ? "diamond" : "circle")), size: 7 };
  return context.plot(place, [{ x: many(all.length), y: all, mode: "markers", marker, hovertemplate: "%{y:.8g}<extra></extra>", showlegend: false }], {
    name,
    said: `${all.length} eigenvalues of the Hessian, ${levels.length} of them distinct, from ${short(all[0])} to ${short(all.at(-1))}.`,
    height: 320,
    annotations,
    xaxis: { title: { text: "direction, in order of curvature" }, range: [0, all.length + 1] },
    yaxis: { title: { text: "eigenvalue" }, type: log ? "log" : "linear", ...(log ? decades(all[0], all.at(-1)) : {}) },
  });
}

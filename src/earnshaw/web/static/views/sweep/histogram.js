// The histogram of es.plot.histogram, whose bars the server counts.
const FATES = [["global", "the global minimum", 0, ""], ["minima", "other minima", 5, "/"], ["neither", "neither", null, ""]];
const SUPER = { "-": "\u207b", 0: "\u2070", 1: "\u00b9", 2: "\u00b2", 3: "\u00b3", 4: "\u2074", 5: "\u2075", 6: "\u2076", 7: "\u2077", 8: "\u2078", 9: "\u2079" };
const power = (exponent) => `10${[...String(exponent)].map((sign) => SUPER[sign]).join("")}`;

export function bars(context, place, histogram, sizes) {
  if (!histogram) return;
  const { c, quiet, paper } = context.colours();
  const log = histogram.logarithmic;
  const edges = histogram.edges.map((edge) => (log ? Math.log10(edge) : edge));
  const middles = edges.slice(1).map((edge, index) => (edge + edges[index]) / 2);
  const widths = edges.slice(1).map((edge, index) => edge - edges[index]);
  const traces = FATES.filter(([fate]) => histogram.percent[fate].some((share) => share > 0)).map(([fate, words, colour, shape]) => {
    const shares = histogram.percent[fate];
    return {
      type: "bar",
      name: `${words}: ${shares.reduce((sum, share) => sum + share, 0).toFixed(1)}%`,
      x: middles,
      y: shares.map((share) => share || null),
      width: widths,
      marker: { color: colour === null ? quiet : c[colour], pattern: { shape, fillmode: "overlay", fgcolor: paper, fgopacity: 0.7, size: 6, solidity: 0.2 }, line: { width: 0 } },
      customdata: histogram.edges.slice(1).map((edge, index) => [histogram.edges[index].toPrecision(3), edge.toPrecision(3)]),
      hovertemplate: "loss %{customdata[0]} to %{customdata[1]}<br>%{y:.2f}% of all runs<extra></extra>",
    };
  });
  const decades = [];
  for (let exponent = Math.ceil(edges[0]); log && exponent <= edges.at(-1); exponent += 1) decades.push(exponent);
  const few = [0, 8, 16, 24, 32].map((index) => edges[Math.min(index, edges.length - 1)]);
  const ticks = !log ? {} : decades.length > 1 ? { tickvals: decades, ticktext: decades.map(power) } : { tickvals: few, ticktext: few.map((at) => (10 ** at).toPrecision(3)) };
  const notes = [];
  if (histogram.least !== null) notes.push(`first bar: up to ${histogram.least.toExponential(0)}`);
  if (histogram.unshown) notes.push(`${histogram.unshown} runs without a finite loss are not shown`);
  const least = Math.min(...traces.flatMap((trace) => trace.y.filter((share) => share > 0)));
  const said = traces.map((trace) => trace.name).join(", ");
  context.plot(place, traces, {
    name: `sweep-k${sizes.k}${sizes.n ? `-n${sizes.n}` : ""}`,
    said: `Losses at the end of runs, in percent of all: ${said}`,
    barmode: "overlay",
    bargap: 0,
    showlegend: true,
    xaxis: { title: { text: "loss F at the end of a run" }, range: [edges[0], edges.at(-1)], ...ticks },
    yaxis: { title: { text: "runs (%)" }, ...(context.state.rare ? { type: "log", range: [Math.log10(least / 2), 2] } : { type: "linear", autorange: true }) },
    annotations: notes.map((text, index) => ({
      text, showarrow: false, xref: "paper", yref: "paper", x: 0.01, y: 0.99 - 0.07 * index, xanchor: "left", yanchor: "top", font: { color: quiet, size: 12 },
    })),
  });
}

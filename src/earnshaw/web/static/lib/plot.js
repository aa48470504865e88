// Pictures by Plotly, whose script is loaded with the first of them, in the colours of the page, and how they are saved.
import { colours } from "/static/lib/theme.js";

let loading = null;

function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src: "/static/plotly.min.js" });
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error("Plotly's script could not be loaded"));
    document.head.append(script);
  });
  return loading;
}

function themed(layout) {
  const { ink, quiet, line, grid, c } = colours();
  const axis = { gridcolor: grid, linecolor: line, zerolinecolor: line, tickcolor: line, automargin: true };
  const space = { ...axis, backgroundcolor: "rgba(0,0,0,0)", color: ink };
  const template = {
    layout: {
      colorway: c,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: ink, family: "system-ui, sans-serif", size: 13 },
      xaxis: axis,
      yaxis: axis,
      scene: { xaxis: space, yaxis: space, zaxis: space },
      margin: { l: 56, r: 12, t: 28, b: 44 },
      legend: { orientation: "h", font: { color: quiet }, yanchor: "bottom", y: 1.02, x: 0 },
      hoverlabel: { font: { family: "system-ui, sans-serif" } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: quiet, activecolor: ink },
    },
  };
  return { ...layout, template, autosize: true };
}

// Draw, or draw anew, on an element; `layout.name` is what a saved file is called, `layout.said` what a screen reader says.
export async function plot(context, place, traces, layout = {}) {
  const { name = context.view.name, said, ...rest } = layout;
  const Plotly = await plotly();
  if (context.gone.signal.aborted) return place;
  place.classList.add("plot");
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", said ?? `${name}: a picture`);
  if (!place.dataset.drawn) {
    place.dataset.drawn = "true";
    place.before(tools(place));
    addEventListener("themechange", () => Plotly.relayout(place, themed(place.drawn)), { signal: context.gone.signal });
  }
  place.drawn = rest;
  place.named = name;
  await Plotly.react(place, traces, themed(rest), { responsive: true, displaylogo: false, displayModeBar: false });
  return place;
}

function tools(place) {
  const box = Object.assign(document.createElement("div"), { className: "plot-tools" });
  for (const kind of ["png", "svg"]) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: `Save ${kind.toUpperCase()}` });
    button.addEventListener("click", async () => {
      const paper = colours().paper;
      const { width, height } = place.getBoundingClientRect();
      const layout = { ...place.layout, paper_bgcolor: paper, plot_bgcolor: paper };
      const figure = { data: place.data, layout };
      const address = await window.Plotly.toImage(figure, { format: kind, width, height, scale: kind === "png" ? 2 : 1 });
      link(address, `${place.named}.${kind}`);
    });
    box.append(button);
  }
  return box;
}

function link(address, name) {
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
}

export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  link(address, name);
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

export function purge(place) {
  window.Plotly?.purge(place);
}

// Colours: as the system has them, light, or dark; and what a drawing needs to know of them.
const NAMES = { auto: "Auto", light: "Light", dark: "Dark" };

export function themes(button) {
  let theme = "auto";
  try {
    theme = localStorage.getItem("theme") in NAMES ? localStorage.getItem("theme") : "auto";
  } catch {
    // a browser that keeps nothing begins anew each time
  }
  const apply = () => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `◐ ${NAMES[theme]}`;
    button.setAttribute("aria-label", `Colours: ${NAMES[theme]}`);
    dispatchEvent(new Event("themechange"));
  };
  button.addEventListener("click", () => {
    const names = Object.keys(NAMES);
    theme = names[(names.indexOf(theme) + 1) % names.length];
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // as above
    }
    apply();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
  apply();
}

// The colours of this moment: {paper, panel, ink, quiet, line, grid, accent, c: [seven colours of the house]}.
export function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  const found = { c: [0, 1, 2, 3, 4, 5, 6].map((index) => of(`c${index}`)) };
  for (const name of ["paper", "panel", "ink", "quiet", "line", "grid", "accent"]) found[name] = of(name);
  return found;
}

export function isDark(paper) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(paper.slice(at, at + 2), 16));
  return red + green + blue < 384;
}

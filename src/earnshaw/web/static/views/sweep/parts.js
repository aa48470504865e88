// Small parts of the view Sweep.
import { make } from "/static/lib/words.js";

// Terms and numbers: [[term, value, name for tests]].
export function dl(place, rows) {
  place.replaceChildren(
    ...rows.map(([term, value, name]) => {
      const box = make("div"), number = make("dd", { textContent: value });
      number.dataset.number = name;
      box.append(make("dt", { textContent: term }), number);
      return box;
    }),
  );
}

// A number with so many significant digits, and a minus sign that is one.
export const digits = (value, count = 6) => (value === null ? "-" : String(Number(value.toPrecision(count))).replace("-", "\u2212"));

export function button(text, onclick, given = {}) {
  const made = make("button", { type: "button", textContent: text, ...given });
  made.addEventListener("click", onclick);
  return made;
}

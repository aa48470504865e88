// Small things that views share: elements, numbers as people write them, and text that changes only where it differs.
export const make = (tag, given = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), given);
  made.append(...children);
  return made;
};

export const put = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

// Four digits.
export function short(number) {
  if (number === null || number === undefined || Number.isNaN(number)) return "–";
  const size = Math.abs(number);
  return size !== 0 && (size < 1e-3 || size >= 1e5) ? number.toExponential(2) : String(Number(number.toPrecision(4)));
}

// So many digits, all of them shown, with a true minus sign.
export function precise(number, digits = 6) {
  if (number === null || number === undefined) return "–";
  const size = Math.abs(number);
  return (size !== 0 && (size < 1e-4 || size >= 1e6) ? number.toExponential(digits - 1) : number.toPrecision(digits)).replace("-", "−");
}

// A line of numbers with their names: {name: {term, value}} and the element.
export function numbers(rows) {
  const element = make("dl", { className: "numbers" });
  const cells = {};
  for (const [name, words] of rows) {
    const value = make("dd", { textContent: "–" });
    value.dataset.number = name;
    const term = make("dt", { textContent: words });
    cells[name] = { value, term };
    element.append(make("div", {}, term, value));
  }
  return { element, cells };
}

export function table(heads, rows) {
  const head = make("tr", {}, ...heads.map((text) => make("th", { textContent: text, scope: "col" })));
  const body = rows.map((row) => make("tr", {}, ...row.map((text) => make("td", { textContent: text }))));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...body));
}

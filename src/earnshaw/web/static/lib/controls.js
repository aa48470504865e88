// Labelled inputs, bound to the state of a view.
import { make } from "/static/lib/words.js";
let count = 0;

// spec: [{name, label, kind: "number" | "select" | "check" | "button", min, max, step, options, onclick, help, first}].
// options: values, or [value, words]. A kind of "text" is a line of text. Returns {refresh(), input(name), show(name, yes), enable(name, yes)}.
export function controls(context, place, spec, onchange) {
  const inputs = new Map();
  const box = make("div", { className: "controls" });
  for (const one of spec) {
    const cell = make("div", { className: `control ${one.kind}` });
    const id = `control-${(count += 1)}`;
    const input = one.kind === "button" ? button(one) : field(context, one, id, onchange);
    input.id = id;
    input.name = one.name;
    if (one.help) input.title = one.help;
    const label = one.kind === "button" ? [] : [make("label", { htmlFor: id, textContent: one.label ?? one.name, title: one.help ?? "" })];
    cell.append(...(one.kind === "check" ? [input, ...label] : [...label, input]));
    box.append(cell);
    inputs.set(one.name, { one, input, cell });
  }
  place.append(box);
  const refresh = () => {
    for (const { one, input } of inputs.values()) {
      if (one.kind === "check") input.checked = context.state[one.name];
      else if (one.kind !== "button") input.value = context.state[one.name];
      input.removeAttribute("aria-invalid");
    }
  };
  refresh();
  return {
    refresh,
    input: (name) => inputs.get(name).input,
    show: (name, yes) => {
      inputs.get(name).cell.hidden = !yes;
    },
    enable: (name, yes) => {
      inputs.get(name).input.disabled = !yes;
    },
  };
}

function button(one) {
  const made = make("button", { type: "button", textContent: one.label ?? one.name, className: one.first ? "first" : "" });
  made.addEventListener("click", one.onclick);
  return made;
}

function field(context, one, id, onchange) {
  const input = one.kind === "select" ? make("select") : make("input", { type: one.kind === "check" ? "checkbox" : one.kind });
  if (one.kind === "select") {
    for (const option of one.options) {
      const [value, words] = Array.isArray(option) ? option : [option, option];
      input.append(make("option", { value, textContent: words }));
    }
  } else if (one.kind === "number") {
    Object.assign(input, { min: one.min ?? "", max: one.max ?? "", step: one.step ?? "any", required: true, inputMode: "decimal" });
  }
  input.addEventListener("change", () => {
    if (!input.checkValidity()) {
      input.setAttribute("aria-invalid", "true");
      context.refuse(sentence(one, input));
      return;
    }
    input.removeAttribute("aria-invalid");
    context.refuse(null);
    const numeric = one.kind === "number" || typeof context.view.defaults[one.name] === "number";
    context.set({ [one.name]: one.kind === "check" ? input.checked : numeric ? Number(input.value) : input.value });
    onchange(one.name);
  });
  return input;
}

function sentence(one, input) {
  const given = input.value === "" ? "no number" : input.value;
  const between = one.min !== undefined && one.max !== undefined ? `a number from ${one.min} to ${one.max}` : "a number in its range";
  const step = one.step && one.step !== "any" ? ` in steps of ${one.step}` : "";
  return `${one.label ?? one.name}: ${given} was given; it must be ${between}${step}`;
}

// The families of a sweep's ends, as a table of which one row can be chosen.
import { make } from "/static/lib/words.js";
import { button, digits } from "/static/views/sweep/parts.js";

const HEAD = ["", "name", "runs", "share (95%)", "loss", "smallest eigenvalue"];

const counted = (count) => (count === 1 ? "One family" : `${count} families`);

export function families(context, place, onchoose) {
  const words = make("p"), scroll = make("div", { className: "scroll", tabIndex: -1 });
  place.append(make("h2", { textContent: "Families of minima" }), words, scroll);
  let rows = [];

  function choose(row) {
    for (const one of rows) {
      one.line.classList.toggle("chosen", one.row === row);
      one.button.setAttribute("aria-pressed", String(one.row === row));
    }
    onchoose(row);
  }

  function show(result) {
    rows = [];
    scroll.replaceChildren();
    words.textContent = !result
      ? "Ends that symmetries of the problem carry into each other are one family."
      : result.families.length
        ? `${counted(result.families.length + result.more)} of ends away from the global minimum${result.more ? `, of which the first ${result.families.length} are shown` : ""}. Choose one to see it and to prove it.`
        : "No run ended at a minimum away from the global one, or at a saddle. More runs, another seed or a larger k may.";
    if (!result?.families.length) return;
    const table = make("table"), head = make("tr"), body = make("tbody");
    head.append(...HEAD.map((text) => make("th", { textContent: text, scope: "col" })));
    for (const row of result.families) {
      const line = make("tr");
      const own = button(`${row.index + 1}`, () => choose(row), { ariaLabel: `Family ${row.index + 1}` });
      own.setAttribute("aria-pressed", "false");
      own.dataset.family = row.index;
      const [low, high] = row.interval;
      const cells = [
        [row.label ?? row.name ?? "unnamed", row.saddle ? " (saddle)" : ""].join(""),
        row.count,
        `${row.percent.toFixed(1)}% (${low.toFixed(1)} to ${high.toFixed(1)})`,
        digits(row.objective, 7),
        digits(row.min_eigenvalue, 4),
      ].map((text) => make("td", { textContent: text, title: row.name ?? "" }));
      const firstCell = make("td");
      firstCell.append(own);
      line.append(firstCell, ...cells);
      line.addEventListener("click", (event) => event.target.closest("button") || choose(row));
      body.append(line);
      rows.push({ row, line, button: own });
    }
    const top = make("thead");
    top.append(head);
    table.append(top, body);
    scroll.append(table);
  }

  return { show, choose };
}

// One family: its weights in the order that shows their pattern, the spectrum there, and its proof.
import * as pictured from "/static/lib/pictures.js";
import { theorem } from "/static/views/sweep/checking.js";
import { make } from "/static/lib/words.js";
import { button, digits, dl } from "/static/views/sweep/parts.js";

export function point(context, place, problem, found) {
  const title = make("h2"), numbers = make("dl", { className: "numbers" }), pictures = make("div", { className: "panels" });
  const weights = make("div"), spectrum = make("div"), boxes = [make("div"), make("div")];
  const actions = make("div", { className: "actions" }), verdict = make("div", { ariaLive: "polite" });
  const prove = button("Prove it", () => begin(), { className: "first" }), cancel = button("Cancel", () => stream?.stop(), { hidden: true });
  boxes[0].append(make("h3", { textContent: "Weights" }), weights);
  boxes[1].append(make("h3", { textContent: "Eigenvalues of the Hessian" }), spectrum);
  pictures.append(...boxes);
  actions.append(prove, cancel);
  place.append(title, numbers, pictures, actions, verdict);
  place.dataset.proof = "idle";
  let row = null, stream = null, seen = null;

  async function show(given) {
    stream?.stop();
    stream = null;
    row = given;
    seen = null;
    verdict.replaceChildren();
    place.dataset.proof = "idle";
    place.hidden = !given;
    if (!given) return;
    title.textContent = `Family ${row.index + 1}: ${row.label ?? row.name ?? "unnamed"}`;
    dl(numbers, []);
    const why = found().unprovable;
    prove.disabled = false;
    prove.hidden = Boolean(why);
    cancel.hidden = true;
    if (why) verdict.replaceChildren(make("p", { textContent: `There are no proofs about this problem: ${why}.` }));
    pictures.hidden = !row.weights;
    context.command(commands(found()));
    if (!row.weights) {
      dl(numbers, [["loss", digits(row.objective, 10), "loss"], ["runs", row.count, "count"]]);
      return;
    }
    const asked = { problem: problem(), weights: row.weights };
    const answer = await context.ask("/api/sweep/point", asked).catch(() => null);
    if (row !== given || !answer) return;
    seen = answer;
    dl(numbers, [
      ["loss", digits(seen.loss, 10), "loss"],
      ["smallest eigenvalue", digits(seen.spectrum[0], 8), "eigenvalue"],
      ["distinct eigenvalues", `${seen.levels.length} of ${seen.spectrum.length}`, "levels"],
      ...(row.name ? [["neurons", row.name, "words"]] : []),
    ]);
    draw();
  }

  function draw() {
    if (!seen) return;
    pictured.weights(context, weights, seen.weights, `${row.file}-weights`);
    pictured.spectrum(context, spectrum, seen.levels.map(({ value, count }) => [value, count]), `${row.file}-spectrum`);
  }

  async function begin() {
    const given = row;
    place.dataset.proof = "running";
    prove.disabled = true;
    cancel.hidden = false;
    verdict.replaceChildren();
    const asked = { problem: problem(), weights: row.weights, index: row.index };
    const own = context.stream("/api/sweep/prove", asked, (event) => {
      if (own !== stream) return;
      if (event.state === "done") judged(event);
      else context.say(`${event.state === "proving" ? "Proving" : "The checker checks the certificates"}: ${event.seconds.toFixed(1)} s`);
    });
    stream = own;
    const end = await own.done;
    if (row !== given || own !== stream) return;
    prove.disabled = false;
    cancel.hidden = true;
    if (end === "stopped") context.say("The proof was cancelled.");
    if (end === "end") context.say("");
    place.dataset.proof = { end: "done", stopped: "idle", refused: "refused" }[end];
  }

  function judged(event) {
    const rejected = event.certificates.find((one) => !one.verified);
    const line = make("p", { className: event.proved ? "proved" : "unproved" });
    line.dataset.number = "verdict";
    line.textContent = event.proved
      ? `${event.sentence[0].toUpperCase()}${event.sentence.slice(1)}. The checker has accepted the certificate.`
      : rejected
        ? `Not proved: the checker rejected the certificate (${rejected.sentence}).`
        : `Inconclusive: ${event.words}`;
    verdict.replaceChildren(line);
    if (event.proved) verdict.append(make("p", { textContent: `${event.words}${event.kept ? `; kept in ${event.kept}` : ""}` }));
    for (const one of event.certificates.filter((some) => some.verified)) verdict.append(certificate(one));
  }

  function certificate(one) {
    const box = make("article", { className: "certificate" }), line = make("p");
    const load = button(`Download ${one.kind}`, () => context.save(new Blob([one.text], { type: "application/json" }), one.file));
    load.dataset.download = one.kind;
    line.append(load, make("span", { textContent: ` ${one.file}` }));
    box.append(line, make("p", { textContent: one.sentence }), ...theorem(one));
    return box;
  }

  addEventListener("themechange", draw, { signal: context.gone.signal });
  return { show };
}

function commands(result) {
  const folder = "runs/explored";
  const draw = result.families[0].weights ? [`earnshaw draw ${folder} --out pictures`] : [];
  const prove = result.unprovable ? [] : [`earnshaw prove ${folder} --out certs`, "earnshaw check certs"];
  return [`${result.command} --out ${folder}`, ...draw, ...prove].join("\n");
}

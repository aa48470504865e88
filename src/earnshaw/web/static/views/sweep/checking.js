// A certificate from a file, and what the trusted checker says of it.
import { make } from "/static/lib/words.js";
import { button } from "/static/views/sweep/parts.js";

export function checking(context, place) {
  const label = make("label", { textContent: "A certificate, as a .json file: " }), file = make("input", { type: "file", accept: ".json,application/json" });
  const cancel = button("Cancel", () => stream?.stop(), { hidden: true });
  const answer = make("div", { ariaLive: "polite" }), line = make("p");
  const about = "The checker recomputes every number of the file and believes none of it; the file is not kept.";
  label.append(file);
  line.append(label, cancel);
  place.append(make("h2", { textContent: "Verify a certificate" }), make("p", { textContent: about }), line, answer);
  place.dataset.check = "idle";
  let stream = null;

  async function begin() {
    const given = file.files[0];
    if (!given) return;
    stream?.stop();
    answer.replaceChildren();
    if (given.size > context.limits.body_bytes) {
      place.dataset.check = "refused";
      context.refuse(`${given.name} has ${given.size} bytes; a certificate may have ${context.limits.body_bytes} here: use earnshaw check`);
      return;
    }
    place.dataset.check = "running";
    cancel.hidden = false;
    const own = context.stream("/api/sweep/verify", given, (event) => {
      if (own !== stream) return;
      if (event.state === "done") said(given.name, event);
      else context.say(`Checking ${given.name}: ${event.seconds.toFixed(1)} s`);
    });
    stream = own;
    const end = await own.done;
    if (own !== stream) return;
    cancel.hidden = true;
    context.say(end === "stopped" ? "The check was cancelled." : "");
    place.dataset.check = { end: "done", stopped: "idle", refused: "refused" }[end];
    file.value = ""; // the same file may be given again
  }

  function said(name, event) {
    const words = make("p", { className: event.verified ? "proved" : "unproved" });
    words.dataset.number = "check";
    words.textContent = `${event.verified ? "VERIFIED" : "REJECTED"} ${name}: ${event.sentence}`;
    answer.replaceChildren(words, ...(event.verified ? theorem(event) : []));
    context.command(`earnshaw check ${/^[\w.-]+$/.test(name) ? name : "FILE.json"}`);
  }

  file.addEventListener("change", begin);
}

// The theorem of a certificate that the checker has verified, in words and in LaTeX, to be opened.
export function theorem({ words, latex }) {
  if (!words) return [];
  const box = make("details"), code = make("pre", { tabIndex: 0 });
  code.append(make("code", { textContent: latex }));
  box.append(make("summary", { textContent: "The theorem, in words and in LaTeX" }), make("p", { textContent: words }), code);
  return [box];
}

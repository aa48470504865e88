// What a view is given: its state, which is the address; questions and streams; controls, pictures, and the lines of the page.
import { controls } from "/static/lib/controls.js";
import { plot, purge, save } from "/static/lib/plot.js";
import { colours } from "/static/lib/theme.js";

const element = (id) => document.getElementById(id);

// "#charges?k=5" -> {name: "charges", given: {k: "5"}}
export function read(hash) {
  const [name, query] = hash.replace(/^#/, "").split("?", 2);
  return { name, given: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

export function write(name, state) {
  const words = Object.entries(state).map(([key, value]) => [key, typeof value === "object" ? JSON.stringify(value) : value]);
  return words.length ? `#${name}?${new URLSearchParams(words)}` : `#${name}`;
}

// The text of an address as a value of the kind that the default has; undefined if it is none.
function parsed(text, like) {
  if (typeof like === "number") return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
  if (typeof like === "boolean") return text === "true" ? true : text === "false" ? false : undefined;
  if (typeof like === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export class Context {
  constructor(view, root, given, limits) {
    Object.assign(this, { view, root, limits, state: { ...view.defaults }, changed: null, moved: null, address: location.hash });
    this.streams = new Set();
    this.plots = new Set();
    this.unread = [];
    for (const [name, text] of Object.entries(given)) {
      const value = name in view.defaults ? parsed(text, view.defaults[name]) : undefined;
      if (value === undefined) this.unread.push(name);
      else this.state[name] = value;
    }
    this.gone = new AbortController(); // listeners that end with the view: {signal: context.gone.signal}
    if (this.unread.length) this.refuse(`the address has ${this.unread.join(", ")}, which this view cannot read; it is left out`);
  }

  // Change the state, and with it the address; nothing is mounted anew. An address that is another by now leads elsewhere: the
  // browser tells of that when it has time.
  set(patch) {
    Object.assign(this.state, patch);
    if (this.gone.signal.aborted) return;
    if (location.hash === this.address) {
      history.replaceState(null, "", write(this.view.name, this.state));
      this.address = location.hash;
    }
    this.moved?.();
  }

  // idle, running, done or refused
  mark(state) {
    this.root.dataset.state = state;
  }

  say(text) {
    if (!this.gone.signal.aborted) element("status").textContent = text;
  }

  // Say a sentence of refusal; null takes it away.
  refuse(sentence) {
    if (this.gone.signal.aborted) return;
    element("message").hidden = !sentence;
    element("message").textContent = sentence ?? "";
  }

  // A question and its answer, as JSON: POST if there is a body (text or bytes go as they are), else GET.
  async ask(path, body) {
    const response = await this.#fetch(path, body);
    const answer = await response.json();
    this.refuse(null);
    return answer;
  }

  async #fetch(path, body, signal = this.gone.signal) {
    const raw = typeof body === "string" || body instanceof Blob || body instanceof ArrayBuffer;
    let response;
    try {
      response = await fetch(path, {
        method: body === undefined ? "GET" : "POST",
        headers: body === undefined ? {} : { "content-type": raw ? "application/octet-stream" : "application/json" },
        body: body === undefined || raw ? body : JSON.stringify(body),
        signal,
      });
    } catch (error) {
      if (error.name !== "AbortError") this.#refused("the server does not answer; is earnshaw explore still running?");
      throw error;
    }
    this.busy = response.status === 429; // too much goes on at once; later it may be different
    if (!response.ok) {
      const said = await response.json().catch(() => ({}));
      this.#refused(said.error ?? `the server answers ${response.status}`);
      throw new Error(said.error ?? `${response.status}`);
    }
    return response;
  }

  #refused(sentence) {
    this.refuse(sentence);
    this.mark("refused");
  }

  // Events as they come: {stop(), done}. `done` is "end", "stopped" or "refused"; it never throws.
  stream(path, body, onEvent) {
    const ending = new AbortController();
    const stop = () => ending.abort();
    const handle = { stop, done: this.#events(path, body ?? {}, onEvent, ending.signal) };
    this.streams.add(stop);
    handle.done.finally(() => this.streams.delete(stop));
    return handle;
  }

  async #events(path, body, onEvent, signal) {
    let text = "";
    try {
      const response = await this.#fetch(path, body, signal);
      this.refuse(null);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        const blocks = text.split("\n\n");
        text = blocks.pop();
        for (const block of blocks) {
          if (signal.aborted) return "stopped";
          const lines = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s, 2)));
          const data = JSON.parse(lines.data ?? "{}");
          if (lines.event === "end") return "end";
          if (lines.event === "refused") {
            this.#refused(data.error);
            return "refused";
          }
          onEvent(data);
        }
      }
      this.#refused("the server stopped in the middle of a run");
      return "refused";
    } catch (error) {
      if (signal.aborted) return "stopped";
      if (this.root.dataset.state !== "refused") this.#refused(`${error.message}`);
      return "refused";
    }
  }

  // Labelled inputs bound to the state; onchange(name) is called after one has changed it.
  controls(place, spec, onchange) {
    return controls(this, place, spec, onchange ?? ((name) => this.changed?.(name)));
  }

  // A picture by Plotly in the colours of the page; drawing again on the same element changes it.
  plot(place, traces, layout) {
    this.plots.add(place);
    return plot(this, place, traces, layout);
  }

  colours() {
    return colours();
  }

  saveCanvas(canvas, name) {
    canvas.toBlob((blob) => save(blob, `${name}.png`));
  }

  save(blob, name) {
    save(blob, name);
  }

  // The line at the foot of the view: the command that computes what is shown.
  command(text) {
    if (this.gone.signal.aborted) return;
    element("foot").hidden = !text;
    element("command").textContent = text ?? "";
  }

  leave() {
    this.gone.abort();
    for (const stop of this.streams) stop();
    for (const place of this.plots) purge(place);
  }
}

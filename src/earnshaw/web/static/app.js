// The page: which view is shown, the tabs, the keys, the colours.
import { Context, read, write } from "/static/lib/context.js";
import { themes } from "/static/lib/theme.js";

const element = (id) => document.getElementById(id);
const views = new Map();
let shown = null; // {view, context, unmount}

// Show what the address says, or the first view.
async function show() {
  const { name, given } = read(location.hash);
  const view = views.get(name) ?? views.values().next().value;
  shown?.context.leave();
  shown?.unmount?.();
  shown = null;
  const root = document.createElement("div");
  element("view").replaceChildren(root);
  element("message").hidden = true;
  element("foot").hidden = true;
  element("status").textContent = "";
  if (!view) {
    element("about").textContent = "There is no view in this installation.";
    return;
  }
  for (const link of element("tabs").querySelectorAll("a")) {
    if (link.dataset.name === view.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${view.title} · earnshaw explore`;
  element("title").textContent = view.title;
  element("about").textContent = view.about;
  root.dataset.view = view.name;
  root.dataset.state = "idle";
  const context = new Context(view, root, given, about.limits);
  context.moved = () => {
    tab(view.name).href = write(view.name, context.state);
  };
  context.set({});
  shown = { view, context };
  const unmount = await view.mount(root, context);
  if (shown?.context === context) shown.unmount = unmount;
  else unmount?.(); // somebody has gone on meanwhile
}

const tab = (name) => element("tabs").querySelector(`a[data-name="${name}"]`);

function tabs() {
  for (const view of views.values()) {
    const link = Object.assign(document.createElement("a"), { href: `#${view.name}`, textContent: view.title });
    link.dataset.name = view.name;
    link.setAttribute("aria-keyshortcuts", view.key);
    const item = document.createElement("li");
    item.append(link);
    element("tabs").append(item);
  }
}

// Keys of views work where nothing is being typed.
function keys() {
  const rows = [...views.values()].map((view) => [view.key, view.title]);
  for (const [key, what] of [...rows, ["t", "colours: as the system, light, dark"], ["?", "this help"]]) {
    const term = Object.assign(document.createElement("dt"), { textContent: key });
    const said = Object.assign(document.createElement("dd"), { textContent: what });
    element("keys-list").append(term, said);
  }
  document.addEventListener("keydown", (event) => {
    // A dialog that has just been closed keeps the focus until the next frame: it is no longer typed in.
    const typing = event.target.closest("input, select, textarea, dialog[open]");
    if (typing || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const view = [...views.values()].find((one) => one.key === event.key);
    if (view) tab(view.name).click();
    else if (event.key === "t") element("theme").click();
    else if (event.key === "?") element("keys").showModal();
    else return;
    event.preventDefault();
  });
  element("help").addEventListener("click", () => element("keys").showModal());
}

function copying() {
  element("copy").addEventListener("click", async () => {
    const text = element("command").textContent;
    try {
      await navigator.clipboard.writeText(text);
      element("status").textContent = "copied";
    } catch {
      getSelection().selectAllChildren(element("command"));
      element("status").textContent = "selected; copy it with Ctrl-C";
    }
  });
}

const about = await (await fetch("/api/about")).json();
for (const name of about.views) views.set(name, (await import(`/static/views/${name}.js`)).default);
themes(element("theme"));
tabs();
keys();
copying();
element("skip").addEventListener("click", (event) => {
  event.preventDefault();
  element("view").focus();
});
addEventListener("hashchange", show);
await show();
document.documentElement.dataset.ready = "true";

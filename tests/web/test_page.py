"""The page itself in a browser, with a made-up view: tabs, state, keys, colours, phone width, pictures, refusals."""

import json

import pytest

from earnshaw.web.limits import LIMITS

NARROW = {"width": 390, "height": 844}
VIEW = """
export default {
  name: "NAME", title: "TITLE", key: "KEY", about: "A view for the test.",
  defaults: { k: 5, law: "relu", trails: true, pair: [1, 2] },
  mount(root, context) {
    const seen = document.createElement("output");
    seen.dataset.number = "seen";
    const picture = document.createElement("div");
    const show = (name) => { seen.textContent = `${name}: ${JSON.stringify(context.state)}`; };
    context.controls(root, [
      { name: "k", label: "Protons k", kind: "number", min: 1, max: 20, step: 1 },
      { name: "law", label: "Law", kind: "select", options: ["relu", ["erf", "error function"]] },
      { name: "trails", label: "Trails", kind: "check" },
      { name: "draw", label: "Draw", kind: "button", first: true, onclick: async () => {
        await context.plot(picture, [{ y: [3, 1, 2], name: "a" }], { name: "sample", said: "three numbers", yaxis: { title: { text: "F" } } });
        context.mark("done");
      } },
      { name: "ask", label: "Ask", kind: "button", onclick: () => context.ask("/api/nothing", { k: 1 }).catch(() => {}) },
      { name: "run", label: "Run", kind: "button", onclick: async () => {
        context.mark("running");
        const got = [];
        const run = context.stream("/api/made-up", {}, (event) => { got.push(event.i); context.say(`step ${event.i}`); });
        const how = await run.done;
        seen.textContent = `${how} ${got}`;
        context.mark(how === "end" ? "done" : "refused");
      } },
    ], show);
    root.append(seen, picture);
    show("mounted");
    context.command("earnshaw sweep -k 5");
    return () => { window.unmounted = (window.unmounted ?? 0) + 1; };
  },
};
"""


def answering(text, kind="text/event-stream"):
    """Return what answers a question in the server's place."""
    return lambda route: route.fulfill(body=text, content_type=kind)


@pytest.fixture
def made_up(page):
    """A page with two made-up views, called first and second."""
    about = {"version": "0", "views": ["first", "second"], "limits": {"k": 20}, "ready": True}
    page.route("**/api/about", lambda route: route.fulfill(json=about))
    for name, key in (("first", "f"), ("second", "s")):
        text = VIEW.replace("NAME", name).replace("TITLE", name.title()).replace("KEY", key)
        page.route(f"**/static/views/{name}.js", answering(text, "text/javascript"))
    return page


def seen(page):
    return page.text_content('[data-number="seen"]')


def test_a_state_is_read_from_the_address_and_written_to_it(made_up):
    page = made_up.open("second?k=7&trails=false&pair=[3]")
    assert page.get_attribute("[data-view]", "data-view") == "second"
    assert json.loads(seen(page).partition(": ")[2]) == {"k": 7, "law": "relu", "trails": False, "pair": [3]}
    page.fill("input[name=k]", "9")
    page.press("input[name=k]", "Enter")
    page.select_option("select[name=law]", "erf")
    page.check("input[name=trails]")
    assert seen(page).startswith("trails: ")
    assert page.evaluate("location.hash") == "#second?k=9&law=erf&trails=true&pair=%5B3%5D"
    page.click("nav >> text=First")
    page.wait_for_selector("h1 >> text=First")  # the browser tells of another address when it has time
    assert page.evaluate("window.unmounted") == 1
    page.click("nav >> text=Second")  # which is as it was left
    page.wait_for_selector("h1 >> text=Second")
    assert page.input_value("input[name=k]") == "9"
    assert page.inner_text("#command") == "earnshaw sweep -k 5"


def test_who_goes_to_another_view_gets_there_whatever_this_one_still_sets(made_up):
    """The address is another before the page hears of it."""
    page = made_up.open("first")
    page.evaluate("""() => {
      document.querySelector("#tabs a[data-name=second]").click();
      const law = document.querySelector("select[name=law]");
      law.value = "erf";
      law.dispatchEvent(new Event("change"));
    }""")
    page.wait_for_selector("h1 >> text=Second")
    assert page.evaluate("location.hash").startswith("#second?k=5&law=relu")
    page.click("nav >> text=First")
    page.wait_for_selector("h1 >> text=First")
    assert page.input_value("select[name=law]") == "erf"


def test_what_cannot_be_read_or_is_out_of_range_is_said(made_up):
    page = made_up.open("first?k=many&colour=red&law=erf")
    assert "the address has k, colour" in page.inner_text("#message")
    assert page.input_value("input[name=k]") == "5"
    page.fill("input[name=k]", "99")
    page.press("input[name=k]", "Enter")
    assert page.inner_text("#message") == "Protons k: 99 was given; it must be a number from 1 to 20 in steps of 1"
    assert page.get_attribute("input[name=k]", "aria-invalid") == "true"
    assert "k=5" in page.evaluate("location.hash")
    page.fill("input[name=k]", "6")
    page.press("input[name=k]", "Enter")
    assert page.is_hidden("#message")


def test_a_refusal_of_the_server_is_shown_as_it_is(made_up):
    page = made_up.open("first")
    page.click("button[name=ask]")
    page.wait_for_selector('[data-state="refused"]')
    assert page.inner_text("#message") == "there is nothing at /api/nothing"
    assert "404" in page.errors.pop()


def test_events_are_read_and_a_stream_that_breaks_off_is_said(made_up):
    page = made_up.open("first")
    text = "".join(f'data: {{"i": {i}}}\n\n' for i in range(3))
    for body, found in ((f"{text}event: end\ndata: {{}}\n\n", "end 0,1,2"), (text, "refused 0,1,2")):
        page.route("**/api/made-up", answering(body))
        page.click("button[name=run]")
        page.wait_for_selector(f'output:text-is("{found}")')
        assert page.inner_text("#status") == "step 2"
    assert "in the middle of a run" in page.inner_text("#message")
    page.route("**/api/made-up", answering('event: refused\ndata: {"error": "no: it is not"}\n\n'))
    page.click("button[name=run]")
    page.wait_for_selector('#message:text-is("no: it is not")')


def test_keys_change_views_and_colours_but_not_while_one_types(made_up):
    page = made_up.open("first")
    page.hit("s")
    page.wait_for_selector('[data-view="second"]')
    page.focus("input[name=k]")
    page.hit("f")
    assert page.get_attribute("[data-view]", "data-view") == "second"
    page.evaluate("document.activeElement.blur()")
    page.hit("?")
    assert page.is_visible("dialog")
    assert "Second" in page.inner_text("dialog")
    page.hit("Escape")
    page.wait_for_selector("dialog", state="hidden")
    papers = []
    for name in ("Auto", "Light", "Dark"):
        page.wait_for_selector(f"#theme:has-text('{name}')")
        papers.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.hit("t")
    assert papers[0] == papers[1] != papers[2]  # the system of the test is light
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == papers[2]


def test_a_key_pressed_at_once_after_the_help_was_closed_is_heard(made_up):
    """Until the next frame the focus is still on the closed dialog's button; while it is open no key passes it."""
    page = made_up.open("first")
    press = 'document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "t", bubbles: true, cancelable: true }))'
    page.click("#help")
    page.evaluate(press)
    assert page.inner_text("#theme").endswith("Auto")
    page.click("dialog button")
    page.evaluate("document.activeElement.blur()")
    page.hit("?")
    where = page.evaluate(
        f'() => {{ document.querySelector("dialog").close(); const at = document.activeElement.tagName; {press}; return at; }}'
    )
    assert (where, page.inner_text("#theme")[-5:]) == ("BUTTON", "Light")


def test_everything_is_reached_by_tab(made_up):
    page = made_up.open("first")
    wanted = ["skip", "first", "second", "theme", "help", "k", "law", "trails", "draw", "ask", "run", "copy"]
    reached = []
    while "copy" not in reached:
        page.hit("Tab")
        name, outline = page.evaluate(
            "(({name, id, dataset, tagName}) => name || id || dataset.name || tagName)(document.activeElement)"
            ".concat(' ', getComputedStyle(document.activeElement).outlineStyle)"
        ).split(" ")
        assert outline == "solid", name
        reached.append(name)
        assert len(reached) < 30
    assert [name for name in reached if name in wanted] == wanted


def test_a_picture_is_drawn_named_and_saved(made_up):
    page = made_up.open("first")
    page.click("button[name=draw]")
    page.wait_for_selector('[data-state="done"]')
    assert page.get_attribute(".plot", "aria-label") == "three numbers"
    for kind, begins in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        with page.expect_download() as download:
            page.click(f"text=Save {kind}")
        assert download.value.suggested_filename == f"sample.{kind.lower()}"
        with open(download.value.path(), "rb") as file:
            assert file.read(4) == begins


def test_a_phone_shows_all_of_it(made_up):
    made_up.set_viewport_size(NARROW)
    page = made_up.open("first")
    page.click("button[name=draw]")
    page.wait_for_selector('[data-state="done"]')
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


def test_the_limits_reach_the_page(page):
    page.open()
    assert page.evaluate("fetch('/api/about').then(one => one.json())")["limits"]["k"] == LIMITS.k

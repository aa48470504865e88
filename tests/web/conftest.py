"""One server for the session, a page for a test, in the Chromium that all tests share; and a client that needs neither."""

import json
import time
import urllib.request
import warnings

import pytest

from earnshaw.web.app import create_app
from earnshaw.web.server import serving

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of httpx, which has a younger sister
    from starlette.testclient import TestClient

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
HEARD = 'window.heard = []; addEventListener("keydown", (event) => heard.push(`${event.key} at ${event.target.tagName}`), true)'


def loaded(about):
    """Wait until a server has loaded all in its thread: Python 3.11 cannot parse in two threads at once, and pytest does."""
    while not about()["ready"]:
        time.sleep(0.05)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("explorer")


@pytest.fixture(scope="session")
def client(folder):
    """The application without a server: requests go straight to it."""
    with TestClient(create_app(folder), base_url="http://127.0.0.1:8750") as client:
        loaded(lambda: client.get("/api/about").json())
        yield client


@pytest.fixture(scope="session")
def server(folder):
    """The address of a server, without the slash at its end."""
    with serving(0, folder) as (address, _):
        loaded(lambda: json.load(urllib.request.urlopen(f"{address}api/about")))
        yield address.rstrip("/")


@pytest.fixture
def page(browser, server):
    """A page of 1280 pixels; ``page.open("charges?k=5")`` shows a view. An error in its console fails the test.

    What a test expects to be refused it takes out of ``page.errors``. Wait for selectors, or with
    ``page.until`` for an expression: ``wait_for_function`` evaluates text in the page, which its policy forbids.
    ``page.hit("t")`` presses a key, and again if the page heard nothing of it: a browser under load may lose one. What
    the page does with a key that it heard is its own affair. A test that fails shows them.
    """
    context = browser.new_context(viewport=WIDE, base_url=server, accept_downloads=True)
    context.add_init_script(HEARD)
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.errors, asked = [], []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))

    def show(place=""):
        page.goto("about:blank")  # an address that differs in its hash alone would not be loaded again
        page.goto(f"/#{place}")
        page.wait_for_selector("html[data-ready]")
        return page

    def until(what, seconds=30):
        for _ in range(20 * seconds):
            if page.evaluate(what):
                return
            page.wait_for_timeout(50)
        raise TimeoutError(what)

    def hit(key, tries=3):
        before = page.evaluate("heard.length")
        for _ in range(tries):
            page.keyboard.press(key)
            if page.evaluate("heard.length") > before:
                return
            print(f"the page heard nothing of the key {key}")
        raise TimeoutError(key)

    page.open, page.until, page.hit = show, until, hit
    yield page
    print("keys heard:", ", ".join(page.evaluate("heard")))
    context.close()
    assert page.errors == []
    assert [url for url in asked if not url.startswith((f"{server}/", "about:", "data:", "blob:"))] == []

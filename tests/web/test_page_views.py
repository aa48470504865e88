"""All views in a browser, on a phone in the dark: keys, names, widths; and the picture of the page in README and docs.

``python tests/web/test_page_views.py`` makes that picture again.
"""

from pathlib import Path

import pytest

from earnshaw.web.app import VIEWS

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "explore.png"
SHOWN = "charges?potential=relu&motion=descent&protons=orthonormal&k=6&n=6&d=6&step=0.1&seed=0&speed=4"
NAMELESS = """[...document.querySelectorAll("main :is(input, select, button, canvas, summary, [tabindex='0'])")].filter((one) =>
  one.checkVisibility() && !(one.labels?.length || one.getAttribute("aria-label") || one.closest("[aria-label]") || one.textContent.trim()))
  .map((one) => one.outerHTML)"""


def test_every_view_has_its_key_its_names_and_fits_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.open()
    keys = page.eval_on_selector_all("#tabs a", "links => links.map((one) => one.getAttribute('aria-keyshortcuts'))")
    assert keys == [name[0] for name in VIEWS]
    for name in reversed(VIEWS):
        page.evaluate("document.activeElement.blur()")
        page.hit(name[0])
        page.wait_for_selector(f'[data-view="{name}"] .controls')
        assert page.inner_text("h1").lower() == name
        assert page.evaluate(NAMELESS) == []
        labels = page.eval_on_selector_all(".controls label", "all => all.map((one) => one.textContent)")
        assert labels
        assert [label for label in labels if label[0].islower() and label.split()[0] != "k"] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert f"{name}?" in page.get_attribute(f'#tabs a[data-name="{name}"]', "href")


def photograph(page, path):
    """Make the picture: the view Charges when all electrons have found protons."""
    page.open(SHOWN)
    page.wait_for_selector('[data-view="charges"][data-state="done"]', timeout=120_000)
    page.wait_for_timeout(5000)  # the film runs to its end
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=path)


@pytest.mark.slow
@pytest.mark.nightly
def test_the_picture_can_be_made_again_and_is_small(page, tmp_path):
    from PIL import Image

    photograph(page, tmp_path / "new.png")
    for path in (tmp_path / "new.png", PICTURE):
        with Image.open(path) as picture:
            assert picture.size == (1280, 900)
        assert path.stat().st_size < 300_000


if __name__ == "__main__":
    from types import SimpleNamespace

    from playwright.sync_api import sync_playwright

    from earnshaw.web.server import serving

    with serving() as (address, _), sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        taken = SimpleNamespace(
            open=lambda place: (page.goto(f"{address}#{place}"), page.wait_for_selector("html[data-ready]")),
            **{
                name: getattr(page, name)
                for name in ("wait_for_selector", "wait_for_timeout", "evaluate", "screenshot")
            },
        )
        photograph(taken, PICTURE)
        browser.close()

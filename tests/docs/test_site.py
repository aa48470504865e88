"""The site: it builds in strict mode, needs no network to read, and every page can be reached."""

import html
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from typer.testing import CliRunner

import earnshaw
from earnshaw.cli.app import COMMANDS, app
from earnshaw.proof.trusted.reading import FORMAT as CERTIFICATE
from earnshaw.report import formulas
from earnshaw.store.folder import FORMAT as RUN

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
GENERATED = {"genindex.html", "search.html", "py-modindex.html"}
LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src"}


def build(source: Path, target: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", *options, str(source), str(target)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


class Reader(HTMLParser):
    """What a page loads and links to, which ids it has, and how many formulas."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.formulas = 0
        self.sidebar: list[str] = []
        self.in_sidebar = 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = {name: value or "" for name, value in attrs}
        if tag in LOADING and found.get(LOADING[tag]):
            self.loaded.append(found[LOADING[tag]])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
            if self.in_sidebar:
                self.sidebar.append(found["href"])
        if found.get("id"):
            self.ids.add(found["id"])
        self.formulas += tag == "math"
        if tag == "div":
            self.in_sidebar += bool(self.in_sidebar) or found.get("class") == "sidebar-tree"

    def handle_endtag(self, tag):
        self.in_sidebar -= tag == "div" and self.in_sidebar > 0


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    target = tmp_path_factory.mktemp("site")
    done = build(DOCS, target, "-W", "--keep-going", "-d", str(tmp_path_factory.mktemp("doctrees")))
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr, done.stderr
    return {str(path.relative_to(target)): path for path in target.rglob("*.html")}


@pytest.fixture(scope="module")
def pages(site):
    return {name: Reader(path.read_text()) for name, path in site.items() if name not in GENERATED}


@pytest.mark.slow
def test_every_source_is_a_page(pages):
    sources = [*DOCS.glob("*.md"), *DOCS.glob("api/*.rst")]
    expected = {str(path.relative_to(DOCS).with_suffix(".html")) for path in sources}
    expected |= {f"notebooks/{path.stem}.html" for path in (REPOSITORY / "examples").glob("*.ipynb")}
    assert expected == set(pages)


@pytest.mark.slow
def test_nothing_is_loaded_from_a_network(site, pages):
    root = site["index.html"].parent
    for name, page in pages.items():
        assert page.loaded, f"{name} loads nothing, not even its style"
        for address in page.loaded:
            assert not urlsplit(address).netloc, f"{name} loads {address}"
            if not address.startswith("data:"):
                assert (site[name].parent / unquote(urlsplit(address).path)).exists(), f"{name} loads {address}"
    for sheet in root.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", sheet.read_text()), sheet
    for script in root.rglob("*.js"):
        assert "mathjax" not in script.name.lower(), script


@pytest.mark.slow
def test_formulas_are_mathml(pages):
    assert pages["certificates.html"].formulas > 100
    assert pages["convnet.html"].formulas > 100
    assert pages["api/landscapes.html"].formulas > 20, "those of the docstrings"


@pytest.mark.slow
def test_no_formula_is_left_as_tex(site):
    for name in ("theory.html", "certificates.html", "charges.html", "convnet.html", "logistic.html", "glossary.html"):
        text = re.sub(r"<(pre|code|script|style).*?</\1>", "", site[name].read_text(), flags=re.DOTALL)
        text = re.sub(r"<[^>]*>", "", text)
        assert not re.search(r"\$|\\(frac|sum|Phi|bar|lambda)", text), name


@pytest.mark.slow
def test_every_page_is_in_the_sidebar(site, pages):
    root = site["index.html"].parent
    for name in ("index.html", "api/proof.html"):
        found = {(site[name].parent / unquote(urlsplit(link).path)).resolve() for link in pages[name].sidebar}
        missing = [
            other for other in pages if other not in ("index.html", name) and (root / other).resolve() not in found
        ]
        assert not missing, f"not in the sidebar of {name}"


@pytest.mark.slow
def test_links_between_pages_lead_somewhere(site, pages):
    root = site["index.html"].parent.resolve()
    for name, page in pages.items():
        for link in page.links:
            address = urlsplit(link)
            if address.scheme or address.netloc or name in GENERATED:
                continue
            target = (site[name].parent / unquote(address.path)).resolve() if address.path else site[name].resolve()
            assert target.exists(), f"{name} links to {link}"
            other = pages.get(str(target.relative_to(root)))
            if address.fragment and other:
                assert unquote(address.fragment) in other.ids, f"{name} links to {link}"


MEASURED = """() => ({
    page: document.documentElement.scrollWidth - window.innerWidth,
    blocks: [...document.querySelectorAll("article pre")]
        .filter(block => block.scrollWidth > block.clientWidth)
        .map(block => block.innerText.slice(0, 60)),
    pictures: [...document.querySelectorAll("article img")].filter(image => !image.naturalWidth).map(image => image.src),
})"""


@pytest.mark.slow
def test_no_code_is_cut_off_and_no_page_is_wider_than_the_screen(site, pages):
    """In a browser, at 1280 pixels; a phone may scroll a block of code, but not the page."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("there is no Chromium here")
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    wrong = []
    with api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        for name in pages:
            page.goto(site[name].as_uri())
            found = page.evaluate(MEASURED)
            page.set_viewport_size({"width": 390, "height": 800})
            narrow = page.evaluate(MEASURED)["page"]
            page.set_viewport_size({"width": 1280, "height": 900})
            wrong += [f"{name}: {block}" for block in found["blocks"] + found["pictures"]]
            wrong += [
                f"{name} is {over} wider than {width}"
                for over, width in ((found["page"], 1280), (narrow, 390))
                if over > 0
            ]
        browser.close()
    assert not wrong


@pytest.mark.slow
def test_every_tutorial_has_a_picture(pages, site):
    index = (DOCS / "index.md").read_text()
    tutorials = re.findall(
        r"^\| \[[^]]+\]\(([\w-]+)\.md\)", index.partition("## Tutorials")[2].partition("## ")[0], re.MULTILINE
    )
    assert len(tutorials) >= 5
    for name in [*tutorials, "start", "idea", "sweeps", "charges", "convnet", "logistic"]:
        assert any("_images/" in address for address in pages[f"{name}.html"].loaded), f"{name} has no picture"


@pytest.mark.slow
def test_every_public_name_is_documented(pages):
    ids = set().union(*(page.ids for page in pages.values()))
    assert {f"earnshaw.{name}" for name in earnshaw.__all__ if not name.startswith("_")} <= ids


@pytest.mark.parametrize(
    ("tex", "found"),
    [
        (r"\mathbb E x", "<mi>𝔼</mi>"),
        (r"\mathfrak R", "<mi>ℜ</mi>"),
        (r"\sum_i x_i", "<munder><mo>∑</mo>"),
        (r"\Bigl(x + \bigl(y\bigr)\Bigr)^2", "<msup><mrow><mo stretchy"),
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", '<mtd columnalign="right"><mi>a</mi></mtd>'),
        (r"\max_i x", "<munder><mo"),
        ("a < b", "<mo>&lt;</mo>"),
    ],
)
def test_a_formula_is_rendered(tex, found):
    assert found in formulas.render(tex, display=True)


@pytest.mark.parametrize(
    "tex",
    [r"\nosuchthing x", r"\frac{1}{", "a}", "a & b", r"x^", r"\begin{nothing}x\end{nothing}", r"x\Bigr)^2", r"\left("],
)
def test_what_cannot_be_rendered_is_refused(tex):
    with pytest.raises(ValueError, match=r"\w"):
        formulas.render(tex, display=True)


@pytest.mark.slow
def test_a_bad_formula_fails_the_build_even_without_strictness(tmp_path):
    (tmp_path / "index.md").write_text("# A page\n\nGood: $x^2$.\n\n$$\\nosuchthing + 1$$\n")
    settings = f"import sys\nsys.path.insert(0, {str(DOCS / '_ext')!r})\n"
    settings += (
        'extensions = ["myst_nb", "mathml"]\nhtml_math_renderer = "mathml"\nmyst_enable_extensions = ["dollarmath"]\n'
    )
    (tmp_path / "conf.py").write_text(settings)
    done = build(tmp_path, tmp_path / "out")
    assert done.returncode == 1
    assert "index.md:5: ERROR: unknown or stray" in done.stderr


@pytest.mark.slow
def test_the_page_of_commands_has_the_help_of_every_one(site):
    page = site["commands.html"].read_text()
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    for name, *_ in COMMANDS:
        assert f'id="earnshaw-{name}"' in page
    for group, command in (("runs", "export"), ("atlas", "build")):
        assert f'id="earnshaw-{group}-{command}"' in page
    printed = CliRunner().invoke(app, ["follow", "--help"], prog_name="earnshaw", env={"COLUMNS": "80"}).stdout
    assert printed.split() == text[text.index("Usage: earnshaw follow") :].split()[: len(printed.split())]


@pytest.mark.slow
def test_every_page_says_the_version_and_code_can_be_copied(site):
    page = site["start.html"].read_text()
    assert f"earnshaw {earnshaw.__version__}" in page
    assert "copybutton.js" in page
    assert "[Unreleased]" in site["changelog.html"].read_text()


def test_the_citation_is_of_this_version():
    stated = re.search(r"^version: (\S+)$", (REPOSITORY / "CITATION.cff").read_text(), flags=re.MULTILINE)
    assert stated is not None
    assert stated[1] == earnshaw.__version__


def test_the_stated_formats_are_those_of_the_code():
    page = (DOCS / "stability.md").read_text()
    assert f"`{RUN}`" in page
    assert f"`{CERTIFICATE}`" in page

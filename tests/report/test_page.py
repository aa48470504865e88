"""Pages: what is written is one valid, self-contained document, and nothing in it is taken for markup by accident."""

import json
import re
import shlex
import shutil
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

from earnshaw.descent import GradientDescent, optimizer
from earnshaw.errors import InputError
from earnshaw.experiments import Plan, finished_records, load_sweep, prove_sweep, run_plan
from earnshaw.papers import Item, Source
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.proof import explanation, prove
from earnshaw.proof.trusted.reading import seal
from earnshaw.report import (
    Code,
    Figure,
    Folded,
    Page,
    Reproduced,
    Section,
    Table,
    Text,
    folder_page,
    reproduction_section,
    write_page,
)
from earnshaw.starts import Given
from earnshaw.store import RunFolder
from earnshaw.store.folder import file_digest

VOID = {"meta", "img", "br"}


class Outline(HTMLParser):
    """Checks that tags nest, and collects addresses."""

    def __init__(self):
        super().__init__()
        self.open, self.addresses, self.text = [], [], []

    def handle_starttag(self, tag, attributes):
        self.addresses += [value for name, value in attributes if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def outline(html):
    parser = Outline()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser


def test_a_page_nests_and_needs_no_network(tmp_path):
    (tmp_path / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    parts = [
        Text("1 < 2 & *so* on"),
        Code("a <b>"),
        Folded("more", [Table(["x"], [["<i>"]])]),
        Figure(tmp_path / "a.svg", 'a "b"'),
        Folded("open me", [Text("hidden <words>")]),
    ]
    path = tmp_path / "out" / "page.html"
    write_page(Page("T <1>", "lead", [Section("One two", parts)]), path)
    found = outline(path.read_text())
    assert all(address.startswith(("data:", "#")) for address in found.addresses)
    assert "#one-two" in found.addresses
    words = "".join(found.text)
    for literal in ("T <1>", "1 < 2 & so on", "a <b>", "<i>", "hidden <words>"):
        assert literal in words


@pytest.mark.parametrize(
    ("words", "html"),
    [
        ("a *b* c", "<p>a <em>b</em> c</p>"),
        ("2*3*4", "<p>2*3*4</p>"),
        ("[x](a/b.json)", '<p><a href="a/b.json">x</a></p>'),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("[x](javascript:alert%281%29)", "<p>[x](javascript:alert%281%29)</p>"),
        ("[x](JavaScript:alert)", "<p>[x](JavaScript:alert)</p>"),
        ("[x](data:text/html+a)", "<p>[x](data:text/html+a)</p>"),
        ("[x](vbscript:a)", "<p>[x](vbscript:a)</p>"),
        ("[x](https://a.org/b:c)", '<p><a href="https://a.org/b:c">x</a></p>'),
        ("[x](//a.org/b)", "<p>[x](//a.org/b)</p>"),
        ("[x](a/b:c)", '<p><a href="a/b:c">x</a></p>'),
        ("[x](a) as follows:", '<p><a href="a">x</a> as follows:</p>'),
        ("`a<b`", "<p><code>a&lt;b</code></p>"),
        ("$S_5$ x", "<p><math><msub><mi>S</mi><mi>5</mi></msub></math> x</p>"),
        ("$S_{<b>}$ $a$", "<p>$S_{&lt;b&gt;}$ $a$</p>"),
    ],
)
def test_what_text_understands(words, html):
    assert Text(words).html() == html


def test_numbers_that_disagree_stand_out():
    rows = [
        Item("p", "i").within("s", "a_b", 1.0, 1.0, Source.READ_OFF, 0.0),
        Item("p", "i").at_most("s", "q", 2.0, 1.0),
        Item("p", "i").context("s", "q", 2.0, 1.0, Source.LIMIT, "because"),
    ]
    html = reproduction_section(Reproduced("Title", "words", rows, [], "earnshaw reproduce p i")).html()
    assert "1 of 2 compared numbers agree; 1 more are context" in html
    assert ">context</td>" in html
    assert html.count("class=mark") == 1
    assert "earnshaw reproduce p i" in html
    assert "a b" in html
    assert ">read off</td>" in html
    assert Source.READ_OFF.value in html
    assert Source.LIMIT.value in html
    assert Source.PRINTED.value not in html


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A small sweep whose first run ends at the published spurious minimum of six neurons."""
    folder = tmp_path_factory.mktemp("report") / "run"
    weights = np.full((6, 6), -0.0504)
    np.fill_diagonal(weights, 0.9867)
    weights[0, 1:], weights[1:, 0], weights[0, 0] = 0.2245, 0.3080, -0.6015
    near = np.eye(6) + 0.05 * np.random.default_rng(0).normal(size=(6, 6))
    plan = Plan.of(TwoLayer(standard_teacher(6)), runs=2, start=Given(np.stack([weights, near])), batch=8)
    prove_sweep(run_plan(plan, folder, workers=1), folder, workers=1)
    return folder


def test_the_page_of_a_sweep_says_what_the_folder_holds(swept):
    path = swept / "report.html"
    write_page(folder_page(swept, path), path)
    found = outline(path.read_text())
    words = "".join(found.text)
    (record,) = finished_records(swept).values()
    assert record["outcomes"] == {"GLOBAL": 1, "SPURIOUS": 1}
    assert f"{record['families'][0]['objective']:.8f}" in words
    assert record["families"][0]["label"] == "II (S_5)"
    assert words.count("II (S5)") == 2, "on the card and before the statement, with a lower 5"
    assert words.index("1 of 1 stuck runs end in 1 proved minimum") < words.index("2 runs. Network"), "the headline"
    assert "1 of 2: 50.0% (1.3 to 98.7)" in words, "the count with its interval"
    assert "proved minimum" in words
    assert "It is a strict local minimum" in words
    assert "1 of the 1 spurious runs ended inside a proved basin" in words
    assert "other" not in words.split("Where the runs ended")[2].split("What is proved")[0]
    assert re.search(r"earnshaw \d.*Python 3", words)  # with what it was computed
    links = [address for address in found.addresses if address.endswith(".json")]
    assert links
    for link in links:
        assert json.loads((swept / link).read_text())["kind"] == "minimum"
    for picture in (swept / "report-figures").glob("*.svg"):
        ElementTree.parse(picture)
    assert {file.name for file in (swept / "report-figures").glob("k6*")} == {
        "k6-n6-family0-spectrum.png",
        "k6-n6-family0-weights.png",
    }


@pytest.mark.parametrize("width", [1280, 390])
def test_a_browser_shows_the_headline_and_the_cards(swept, tmp_path, browser, width):
    """As a browser has laid them out: each card is on the screen with its pictures, and nothing is wider than that."""
    path = tmp_path / "page.html"
    write_page(folder_page(swept, path), path)
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(path.as_uri())
    assert page.inner_text(".headline") == "1 of 1 stuck runs end in 1 proved minimum"
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing makes the page scroll sideways"
    (card,) = page.query_selector_all(".card")
    around, shown = card.bounding_box(), [image.bounding_box() for image in card.query_selector_all("img")]
    assert around["x"] >= 0
    assert around["x"] + around["width"] <= width
    assert len(shown) == 2
    for box in shown:
        assert around["x"] < box["x"] < box["x"] + box["width"] < around["x"] + around["width"]
        assert box["height"] > 50
    assert all(page.evaluate("[...document.images].map(image => image.naturalWidth)"))
    assert "proved minimum" in [fact.inner_text() for fact in page.query_selector_all(".card dd")]
    assert page.query_selector(".theorem math msup") is not None, "the theorem has its formulas"
    heights = page.eval_on_selector_all(
        ".theorem .formula math", "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert heights
    assert min(heights) > 20, "which the browser lays out"


def test_many_families_are_in_a_table_too(swept, tmp_path, monkeypatch):
    from earnshaw.report import families

    monkeypatch.setattr(families, "CARDS", 0)
    page = folder_page(swept, tmp_path / "page.html")
    words = words_of(page)
    assert "These are the first 0 of 1 families." in words
    assert "All families" in words
    assert 'class="card"' not in page.html()


def test_the_headline_says_no_more_than_is_proved(swept, tmp_path, monkeypatch):
    folder, _, _ = copied(swept, tmp_path / "run")
    (folder / "k6-n6-proofs.json").unlink()
    shutil.rmtree(folder / "certificates")
    assert folder_page(folder, tmp_path / "page.html").headline == "1 of 2 runs are stuck, at 1 minimum"
    monkeypatch.setattr(explanation, "PATIENCE", 0.0)
    assert folder_page(swept, tmp_path / "page.html").headline == "1 of 2 runs are stuck, at 1 minimum"


def test_every_proved_family_has_its_statement_and_link(swept, tmp_path):
    """Also of settings with several families: each certificate is linked from the table and from its words."""
    path = tmp_path / "deep" / "page.html"
    write_page(folder_page(swept, path), path)
    links = [link for link in outline(path.read_text()).addresses if link.endswith("-minimum.json")]
    assert len(links) == 2
    assert all((path.parent / link).exists() for link in links)
    assert "more families" not in path.read_text()


def copied(swept, place):
    """Return a copy of the folder, the file of its one main certificate, and what that holds."""
    folder = shutil.copytree(swept, place)
    (row,) = json.loads((folder / "k6-n6-proofs.json").read_text())["families"]
    return folder, folder / row["certificate"], json.loads((folder / row["certificate"]).read_text())


def words_of(page):
    return "".join(outline(page.html()).text)


@pytest.mark.parametrize("damage", ["forged", "edited", "other", "missing", "no certificate"])
def test_a_false_certificate_is_rejected_on_the_page(swept, tmp_path, damage):
    """Damage is refused before the page; on the page where the folder's own checksums are right: anyone can seal."""
    folder, file, document = copied(swept, tmp_path / "run")
    document["claims"] |= {"F_ge": (1e300).hex(), "mu_ge": (1e300).hex()}
    document["sha256"] = seal(document) if damage == "forged" else document["sha256"]
    if damage == "missing":
        file.unlink()
    else:
        file.write_text({"other": "{}", "no certificate": '{"kind": "x"}'}.get(damage, json.dumps(document)))
    with pytest.raises(InputError, match=file.name):
        folder_page(folder, tmp_path / "page.html")
    store, listed = RunFolder.open(folder), {str(file.relative_to(folder)): file_digest(file)} if file.exists() else {}
    store.put_record("k6-n6", store.record("k6-n6", "-proofs") | {"certificates": listed}, "-proofs")
    words = words_of(folder_page(folder, tmp_path / "page.html"))
    assert words.count("REJECTED") == 2, "in the table and beside its reason"
    assert "What is not proved" in words
    for false in ("What is proved", "proved minimum", "It is a strict local minimum", "proved basin", "1e+300"):
        assert false not in words


def saddle():
    """Return a point close to a saddle of six neurons, two of which share two of the teacher's."""
    weights = np.full((6, 6), -0.02197364)
    np.fill_diagonal(weights, 1.13797176)
    weights[0], weights[1], weights[2:, :2] = 0.07670397, -0.14435005, 0.03031294
    weights[0, :2], weights[1, :2] = 0.55260265, 0.32075739
    return weights


def test_a_true_certificate_of_another_point_is_no_proof_of_the_family(swept, tmp_path):
    """The family's minimum in another order is the family's; a saddle, or the same minimum in other coordinates, is not."""
    folder, file, _ = copied(swept, tmp_path / "run")
    (family,) = load_sweep(folder)[0].families

    def listed(teacher, point):
        """Return the words of the page when the folder lists a certificate of this point for the family, rightly sealed."""
        proof = prove(TwoLayer(teacher), point)
        assert proof.certificate is not None
        proof.certificate.save(file)
        store, files = RunFolder.open(folder), {str(file.relative_to(folder)): file_digest(file)}
        store.put_record("k6-n6", store.record("k6-n6", "-proofs") | {"certificates": files}, "-proofs")
        return words_of(folder_page(folder, tmp_path / "page.html"))

    order, turned = np.roll(np.arange(6), 1), np.diag([-1.0, 1, 1, 1, 1, 1])
    assert "proved minimum" in listed(np.eye(6), family.weights[order[::-1]][:, order])
    for words in (listed(np.eye(6), saddle()), listed(turned, family.weights @ turned)):
        assert words.count("OF ANOTHER POINT") == 2, "in the table and beside its reason"
        for false in (
            "What is proved",
            "proved minimum",
            "proved saddle",
            "It is a strict local minimum",
            "proved basin",
        ):
            assert false not in words


def test_a_long_check_is_asked_for(swept, tmp_path, monkeypatch):
    monkeypatch.setattr(explanation, "PATIENCE", 0.0)
    words = words_of(folder_page(swept, tmp_path / "page.html"))
    assert words.count("NOT CHECKED") == 2
    assert "What is proved" not in words
    assert "It is a strict local minimum" in words_of(folder_page(swept, tmp_path / "page.html", check=True))


HOSTILE = (
    "[x](javascript:alert(1)) [y](javascript:alert%281%29) <img src=x onerror=alert(2)> <script>window.hacked=1;alert(3)"
    "\"><svg onload=alert(4)> ' onmouseover='alert(5)"
)
REMOTE = "</td><img src=http://127.0.0.1:9/x> <iframe src=http://127.0.0.1:9/y></iframe> [z](//127.0.0.1/a)"


def hostile(swept, tmp_path):
    """Return the page of a folder in which whatever may be text is hostile."""
    folder, _, _ = copied(swept, tmp_path / f"a b[1] {HOSTILE}")
    store = RunFolder.open(folder)
    record, proofs = store.record("k6-n6"), store.record("k6-n6", "-proofs")
    record["families"][0] |= {"name": HOSTILE, "label": HOSTILE}
    record |= {"seed": HOSTILE, "objective": HOSTILE, "optimizer": HOSTILE}
    record["outcomes"] |= {HOSTILE: 1, REMOTE: 1, "1e400": 1}
    store.put_record("k6-n6", record)
    proofs["families"][0]["verdict"] = HOSTILE
    store.put_proofs("k6-n6", proofs)
    path = tmp_path / "pages" / "page.html"
    write_page(folder_page(folder, path), path)
    return path


def test_hostile_names_make_no_links_and_odd_names_make_links_that_work(swept, tmp_path):
    path = hostile(swept, tmp_path)
    found = outline(path.read_text())
    assert "alert" in "".join(found.text)
    typed = re.findall(r"^earnshaw (?:check|prove|report|runs show) .*$", "".join(found.text), re.MULTILINE)
    assert typed
    for line in typed:
        assert Path(shlex.split(line)[3 if "runs" in line else 2]).is_dir(), "also when it is copied into a shell"
    links = [link for link in found.addresses if not link.startswith(("#", "data:image/"))]
    assert len(links) == 3
    for link in links:
        assert not urlsplit(link).scheme
        assert (path.parent / unquote(link)).exists()


@pytest.mark.parametrize("policy", [True, False], ids=["as it is", "without its policy"])
def test_a_browser_runs_nothing_and_asks_for_nothing(swept, tmp_path, browser, policy):
    """As the test above, by the rules of a browser, and also where that ignores the page's own policy of content."""
    path, said, asked = hostile(swept, tmp_path), [], []
    page = browser.new_context(bypass_csp=not policy).new_page()
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.eval_on_selector_all("details", "folded => folded.forEach(one => { one.open = true })")
    kinds = page.eval_on_selector_all("a", "links => links.map(link => link.protocol)")
    made = page.evaluate("document.querySelectorAll('script, iframe, object, embed, form, base, svg').length")
    handlers = page.evaluate(
        "[...document.querySelectorAll('*')].flatMap(one => one.getAttributeNames()).filter(name => /^on/.test(name))"
    )
    shown = page.evaluate("[...document.images].map(image => image.naturalWidth > 0)")
    for link in page.query_selector_all("a"):
        link.click(modifiers=["Control"])  # in a new tab
    page.wait_for_timeout(200)
    scripts = page.evaluate("window.hacked")
    assert set(kinds) == {"file:"}
    assert (said, made, handlers, scripts) == ([], 0, [], None)
    assert [url for url in asked if not url.startswith(("data:image/", "file:"))] == []
    assert shown
    assert all(shown)


def test_a_page_loads_no_code_of_the_users(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.py"
    file.write_text("import optax\nrule = optax.sgd(0.1)\n")
    run_plan(
        Plan.of(TwoLayer(np.eye(2)), runs=2, descent=optimizer("mine.py:rule"), batch=8), tmp_path / "run", workers=1
    )
    file.unlink()
    words = words_of(folder_page(tmp_path / "run", tmp_path / "page.html"))
    assert words.count("2 runs. Network: two-layer/relu. Optimiser: mine.py:rule. Seed 0.") == 2, (
        "first, and as what was run"
    )
    assert "The program that made it finds the results" in words


def test_a_folder_that_is_no_sweep_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no manifest\.json"):
        folder_page(tmp_path, tmp_path / "page.html")


def test_a_sweep_whose_runs_all_diverged_has_a_page(tmp_path):
    plan = Plan.of(TwoLayer(np.eye(2)), runs=3, batch=4, descent=GradientDescent(step=1e9))
    (result,) = run_plan(plan, tmp_path / "lost", workers=1)
    assert result.summary.outcomes == {"DIVERGED": 3}
    write_page(folder_page(tmp_path / "lost", tmp_path / "page.html"), tmp_path / "page.html")
    assert "DIVERGED" in (tmp_path / "page.html").read_text().upper()

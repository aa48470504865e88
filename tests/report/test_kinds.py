"""The page of each kind of folder: its headline, what is drawn, its tables, what is proved, and the command that makes it again."""

import dataclasses
import importlib
import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import earnshaw as es
from earnshaw.cli.app import app
from earnshaw.descent import optimizer
from earnshaw.errors import InputError
from earnshaw.experiments import Motion, dynamics, fit, load_arena, run_arena, run_plan, work_of
from earnshaw.experiments.dynamics import Integration
from earnshaw.experiments.plan import Plan
from earnshaw.problems import ChargeLaw, Charges, Data, RandomConvNets, TwoLayer, problem_from_json
from earnshaw.problems.charges import random_start
from earnshaw.proof import prove
from earnshaw.proof.trusted.reading import seal
from earnshaw.report import arenas, fits, folder_page, motions, write_page
from earnshaw.report.origin import fit_command, motion_commands
from earnshaw.starts import Given
from earnshaw.store import read_json, write_json

MARKS = ("gd:0.1", "gd:0.05")


def minimum():
    """Return a point close to the published minimum of six neurons."""
    weights = np.full((6, 6), -0.0504)
    np.fill_diagonal(weights, 0.9867)
    weights[0, 1:], weights[1:, 0], weights[0, 0] = 0.2245, 0.3080, -0.6015
    return weights


def make_arena(out):
    start = Given(np.stack([minimum(), 0.9 * np.eye(6), minimum()]))
    run_arena([TwoLayer(np.eye(6))], {name: optimizer(name) for name in MARKS}, out, runs=3, start=start, workers=1)


def make_conv(out):
    problems = [RandomConvNets(filter_size=2, patches=3, ratio=ratio) for ratio in (0.5, 1.5)]
    run_plan(Plan.of(problems, runs=8, batch=8), out, workers=1)


def make_fit(out):
    x = np.random.default_rng(0).normal(size=(200, 2))
    fit(x, 1 / (1 + np.exp(-x @ [1.0, -0.5])), neurons=1, start="random", starts=3, out=out)


def make_motion(out):
    places, start, moving = random_start(3, 1, 2, 0.25, seed=1)
    law = ChargeLaw("yukawa", eigenvalue=0.5)
    problem = Charges(places, electrons=2, electron_charges=moving, law=law)
    dynamics(problem, start, Integration(until=10.0), out)


MAKERS = {"arena": make_arena, "conv": make_conv, "fit": make_fit, "motion": make_motion}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Folders of every kind, and in ``pages`` their pages."""
    root, patch = tmp_path_factory.mktemp("kinds"), pytest.MonkeyPatch()
    patch.setattr(motions, "FRAMES", 2)
    for name, make in MAKERS.items():
        make(root / name)
        path = root / "pages" / f"{name}.html"
        write_page(folder_page(root / name, path), path)
    patch.undo()
    return root


def page(place, name):
    """Return the headline and all words of a page, and its text."""
    text = (place / "pages" / f"{name}.html").read_text()
    (headline,) = re.findall(r'class="headline">(.*?)</p>', text)
    return re.sub(r"<[^>]+>", "", headline), re.sub(r"<[^>]+>", "", text.partition("<body>")[2]), text


def drawn(place, name, figure):
    """Return the texts of a figure: matplotlib leaves them as comments."""
    return re.findall("<!-- (.*?) -->", (place / "pages" / f"{name}-figures" / f"{figure}.svg").read_text())


def again(words):
    """Return the commands that a page shows, as lists of words."""
    lines = words.partition("Run it again")[2].partition("Run it again")[2]
    return [shlex.split(line)[1:] for line in lines.splitlines() if line.startswith("earnshaw ")]


def test_an_arena_says_who_finds_the_minimum_and_what_traps_the_others(place):
    headline, words, text = page(place, "arena")
    assert headline == "Each of 2 optimisers finds the global minimum from 33.3% (0.8 to 90.6) of the starts"
    (arena,) = load_arena(place / "arena")
    assert "2 optimisers from the same 3 starts." in words
    for score in arena.scores:
        assert f"{score.median_gradients:,.0f}" in words
    assert "3 of 3" not in words
    assert words.count("2 of 3: 66.7% (9.4 to 99.2)") == 2, "on the card of the family, for each"
    assert f"{arena.traps[0].objective:.8f}" in words
    assert "proved a minimum" in words
    assert "certificates were not kept" in words
    assert text.count('class="card"') == 1
    assert {"gd:0.1", "gd:0.05", "3 common starts, k = 6, n = 6"} <= set(drawn(place, "arena", "standings"))
    assert {"gd:0.1", "gd:0.05"} <= set(drawn(place, "arena", "values"))
    assert (place / "pages" / "arena-figures" / "k6-n6-family0-weights.png").exists()
    assert "Where they part" not in words


def test_the_command_of_an_arena_has_its_plan(place, monkeypatch):
    _, words, _ = page(place, "arena")
    line = again(words)[0]
    assert line[:5] == ["arena", "-k", "6", "--runs", "3"]
    caught = {}

    def catch(problems, descents, out, **more):
        caught.update(more, problems=problems, names=list(descents), out=out)
        raise es.InputError("enough")

    monkeypatch.setattr("earnshaw.experiments.run_arena", catch)
    np.save(place / "POINTS.npy", np.ones((3, 6, 6)))
    monkeypatch.chdir(place)
    assert CliRunner().invoke(app, line).exit_code == 2
    assert (caught["problems"], caught["names"], caught["out"]) == ([TwoLayer(np.eye(6))], list(MARKS), place / "arena")
    assert (caught["runs"], caught["seed"]) == (3, 0)


def test_what_an_arena_lists_is_shown_as_text(place, tmp_path):
    """Its list is a plain file that anybody can edit: nothing in it becomes markup."""
    folder, hostile = shutil.copytree(place / "arena", tmp_path / "arena"), "<script>alert(1)</script>"
    (entry,) = read_json(folder / "arena.json")
    entry["families"][0] |= {"name": hostile, "label": hostile, "verdict": hostile}
    entry["disagreements"] = [{"run": 1, "optimizer": hostile, "fate": hostile, "fate_of_first": "GLOBAL"}]
    write_json(folder / "arena.json", [entry])
    html = folder_page(folder, tmp_path / "page.html").html()
    assert "<script" not in html
    assert "From 1 starts, counted for each optimiser" in html
    assert html.count("&lt;script&gt;") >= 3


@pytest.mark.parametrize(
    ("shares", "headline"),
    [
        ((97, 40), "gd:0.1 finds the global minimum most often, from 97.0% (91.5 to 99.4) of the starts; gd:0.05 least often, "
         "from 40.0% (30.3 to 50.3)"),
        ((50, 49), "gd:0.1 finds the global minimum most often, from 50.0% (39.8 to 60.2) of the starts; gd:0.05 least often, "
         "from 49.0% (38.9 to 59.2); the intervals overlap"),
    ],
)  # fmt: skip
def test_a_headline_says_whether_chance_could_do_it(place, shares, headline):
    (arena,) = load_arena(place / "arena")
    scores = [
        dataclasses.replace(score, runs=100, outcomes={"GLOBAL": share})
        for score, share in zip(arena.scores, shares, strict=True)
    ]
    assert arenas._headline([dataclasses.replace(arena, scores=tuple(scores))]) == headline


def test_a_convolutional_sweep_is_held_against_the_closed_form(place):
    headline, words, text = page(place, "conv")
    results = es.load(place / "conv")
    met = results["p2-k3-ratio0.5"].summary
    assert re.fullmatch(
        r"Runs that end at the spurious minimum: .* for ratio 0\.5, and 0\.0% \(0\.0 to 36\.9\) for ratio 1\.5",
        headline,
    )
    assert met.spurious > 0
    assert f"{met.mean_objective:.10f}" in words
    row = re.search(r"<td[^>]*>0.5</td>(.*?)</tr>", text.partition("The spurious minimum</h2>")[2])[1]
    limit, one, closed, mean, _ = re.findall(r"<td[^>]*>(.*?)</td>", row)
    assert (limit, one) == (f"{np.sqrt((3 + np.pi - 1) / np.pi):.4f}", "yes")
    assert float(closed) == pytest.approx(float(mean), abs=1e-9), "where runs ended, by its formula"
    titles = drawn(place, "conv", "convergence")
    assert "The first 8 runs, p=2, k=3, ratio=0.5, step 0.1" in titles, "of the setting in which most are stuck"
    assert {"success: global minimum", "failure: spurious minimum", "loss of the spurious minimum"} <= set(titles)
    assert "the paper's" not in " ".join(titles)
    assert text.count("<math") > 5
    assert "convolutional with weight normalisation" in words
    assert "--prove" not in words, "there are no proofs about random teachers"


def test_a_fit_says_what_is_proved_around_it(place):
    headline, words, text = page(place, "fit")
    found = es.load(place / "fit")
    assert found.proved is not None
    assert re.fullmatch(r"A minimum with risk [\d.e-]+, proved to be the only one within 0\.\d+", headline)
    assert f"{found.value:.6g}" in headline
    assert "3 of 3 starts end at the smallest risk: 100.0% (29.2 to 100.0)" in words
    assert f"{found.spectrum[0]:.6g}" in words
    assert "f is strictly convex there" in words
    assert re.search(r'class="theorem"><p><strong>Theorem\.</strong> Let <math', text)
    assert 'href="../fit/certificates/fit-convexity.json"' in text
    assert again(words)[0] == shlex.split(fit_command(found.plan, place / "fit"))[1:]
    assert again(words)[0][:8] == ["fit", "DATA", "--neurons", "1", "--start", "random", "--starts", "3"]


def test_a_fit_has_no_proof_but_a_true_one_of_its_own(place, tmp_path):
    """A certificate of other data or of another point is not of the fit; one that is false or missing proves nothing."""
    found, file = es.load(place / "fit"), tmp_path / fits.CERTIFICATE
    own = place / "fit" / fits.CERTIFICATE
    document = es.Certificate.load(own).document
    file.parent.mkdir()
    shutil.copy(place / "fit" / "manifest.json", tmp_path)
    data = problem_from_json(document["problem"])
    other = prove(Data(data.x[:90], data.y[:90], 1), found.weights).certificate
    beside = prove(data, found.weights + 1e-9).certificate
    forged = {**document, "claims": document["claims"] | {"radius": (1e3).hex()}}
    for text, word in (
        (other.to_text(), "OF ANOTHER POINT"),
        (beside.to_text(), "OF ANOTHER POINT"),
        (json.dumps(forged | {"sha256": seal(forged)}), "REJECTED"),
        (None, "REJECTED"),
        (own.read_text(), ""),
    ):
        file.unlink() if text is None else file.write_text(text)
        said = fits.fit_said(found, tmp_path, check=False)
        assert bool(said.verified) == (not word)
        html = fits._proof(found, said, tmp_path, tmp_path / "page.html").html()
        assert ("What is not proved" in html) == bool(word)
        assert ('class="theorem"' in html) == (not word)
        assert word in html
        assert fits._headline(found, said).endswith("; nothing is proved of it") == bool(word)


def test_a_fit_whose_certificate_is_not_as_it_was_written_has_no_page(place, tmp_path):
    """As a sweep: what is wrong is said, and nothing is written."""
    folder = shutil.copytree(place / "fit", tmp_path / "fit")
    for damage, words in ((lambda file: file.write_text("{}"), "is not the certificate"), (Path.unlink, "is missing")):
        damage(folder / fits.CERTIFICATE)
        with pytest.raises(InputError, match=rf"fit-convexity\.json {words}"):
            folder_page(folder, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_charges_in_motion_say_who_reaches_whom(place):
    headline, words, text = page(place, "motion")
    trajectory = es.load(place / "motion")
    (capture,) = trajectory.captures
    assert (
        headline
        == f"1 of 2 electrons reach a proton, the last at time {capture.time:.4g}; by time 10 the others have not"
    )
    assert f"{capture.time:.5g}" in words
    assert "from a capture on the loss is that of the charges that are left" in words
    assert "Law: yukawa, λ = 0.5." in words
    assert "yukawa, d = 3: 1 of 2 electrons on a proton" in drawn(place, "motion", "paths")
    assert "loss L" in drawn(place, "motion", "energy")
    assert "data:image/gif" in text


def test_the_command_of_a_motion_has_its_charges(place, monkeypatch):
    """The seed is not in the folder: it is the one whose places these are."""
    motion = work_of(place / "motion")
    _, words, _ = page(place, "motion")
    line = again(words)[0]
    assert line[:9] == ["dynamics", "--protons", "1", "--electrons", "2", "--seed", "1", "--potential", "yukawa"]
    caught = []

    def catch(*given):
        caught.append(given)
        raise es.InputError("enough")

    monkeypatch.setattr(importlib.import_module("earnshaw.experiments.dynamics"), "dynamics", catch)
    assert CliRunner().invoke(app, line).exit_code == 2
    problem, start, integration, folder, _ = caught[0]
    assert Motion(problem, start, integration).hash == motion.hash
    assert folder == place / "motion"
    moved = Motion(motion.problem, motion.start + 1e-9, motion.integration)
    assert motion_commands(moved, place) == [], "other places come from no seed"


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", MAKERS)
def test_a_browser_shows_each_page(place, browser, name, width):
    """Laid out: headline first and on the first screen, all pictures there, formulas drawn, nothing wider than the screen."""
    opened = browser.new_page(viewport={"width": width, "height": 844})
    opened.goto((place / "pages" / f"{name}.html").as_uri())
    assert opened.inner_text(".headline") == page(place, name)[0]
    assert opened.query_selector(".headline").bounding_box()["y"] < 200
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    boxes = [image.bounding_box() for image in opened.query_selector_all("main > section > figure img")]
    main = opened.query_selector("main").bounding_box()
    assert boxes
    assert all(box["width"] == pytest.approx(main["width"], abs=3) for box in boxes), "figures are as wide as the page"
    assert all(opened.evaluate("[...document.images].map(image => image.naturalWidth)"))
    heights = opened.eval_on_selector_all(".formula math", "all => all.map(one => one.getBoundingClientRect().height)")
    assert heights
    assert min(heights) > 20
    opened.close()

"""The page, its files, and what the server says of itself."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

from earnshaw.plots.style import COLOURS
from earnshaw.web.app import STATIC, VIEWS, Late
from earnshaw.web.limits import LIMITS


def test_the_page_and_its_scripts_are_served(client):
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    for address in re.findall(r'(?:src|href)="(/[^"]+)"', page.text):
        assert client.get(address).status_code == 200
    for file in STATIC.rglob("*.*"):
        answer = client.get(f"/static/{file.relative_to(STATIC)}")
        assert answer.content == file.read_bytes()
        assert answer.headers["cache-control"] == "no-cache"
    assert client.head("/").status_code == 200


def test_plotly_comes_from_the_installed_package(client):
    answer = client.head("/static/plotly.min.js")
    assert int(answer.headers["content-length"]) > 1_000_000
    assert "javascript" in answer.headers["content-type"]


def test_the_page_asks_for_nothing_from_elsewhere():
    for file in STATIC.rglob("*.*"):
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|@import|//cdn", text), file


def test_the_colours_are_those_of_the_figures():
    found = re.findall(r"--c\d: (#\w+);", (STATIC / "style.css").read_text())
    assert tuple(found) == COLOURS


def test_every_view_has_a_router_and_a_module_of_the_page():
    assert sorted(VIEWS) == sorted(file.stem for file in (STATIC / "views").glob("*.js"))
    for name in VIEWS:
        assert importlib.import_module(f"earnshaw.web.{name}").router.prefix == f"/api/{name}"


def test_the_server_says_what_there_is(client):
    about = client.get("/api/about").json()
    assert about["views"] == list(VIEWS)
    assert about["limits"]["body_bytes"] == LIMITS.body_bytes


def test_the_page_is_served_before_jax_is_loaded():
    """Nor is NumPy: what is loaded before the first answer is the time that a user waits."""
    program = """
import sys
import urllib.request
import earnshaw.web.app
earnshaw.web.app.WARM_AFTER = 3600
from earnshaw.web.server import serving
with serving() as (address, _):
    page = urllib.request.urlopen(address).read().decode()
    about = urllib.request.urlopen(address + "api/about").read().decode()
print("<html" in page, '"ready":false' in about, [name for name in ("jax", "numpy", "fastapi", "plotly") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.split("\n")[0] == "True True []", done.stderr


def test_jax_is_loaded_in_the_background(monkeypatch, folder):
    monkeypatch.setattr("earnshaw.numerics.remember_programs", lambda: None)
    late = Late(folder)
    assert not late.ready.is_set()
    late.warm()
    late.close()
    assert late.ready.is_set()
    assert "jax" in sys.modules


def test_the_page_about_the_limits_has_those_of_the_code():
    text = (Path(__file__).resolve().parents[2] / "docs" / "explore.md").read_text()
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text.partition("## Limits")[2], flags=re.MULTILINE))
    assert rows == {
        "what": "most",
        "---": "---",
        "teacher neurons k, students n": f"{LIMITS.k}, {LIMITS.n}",
        "dimension of charges": f"{LIMITS.d}",
        "filter p, patches k of the convolutional network": f"{LIMITS.filter}, {LIMITS.patches}",
        "steps of a run that is watched": f"{LIMITS.watched_steps:,}",
        "runs of a sweep": f"{LIMITS.runs}",
        "teacher neurons of the families of Atlas, of its ladder": f"{LIMITS.atlas_k:,}, {LIMITS.ladder_k}",
        "runs that go on at once": f"{LIMITS.streams}, one of them a sweep; a second sweep waits",
        "a sweep": f"{LIMITS.sweep_seconds / 60:g} minutes, {LIMITS.sweep_steps:,} steps of a run; "
        f"the {LIMITS.families} largest families are shown",
        "a proof, the check of an uploaded certificate": f"{LIMITS.proof_seconds / 60:g} minutes, "
        f"{LIMITS.check_seconds / 60:g} minute; {LIMITS.process_bytes >> 30} GiB of memory",
        "sweeps and proofs that are kept": f"{LIMITS.kept} of each; later ones are only shown",
        "a request, an uploaded certificate": f"{LIMITS.body_bytes // 10**6} MB",
        "connections": f"{LIMITS.connections}",
    }

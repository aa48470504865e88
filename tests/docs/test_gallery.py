"""The gallery: each picture is made by the commands under it, here in a small size, and leads to its page."""

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from earnshaw.cli.app import app

DOCS = Path(__file__).resolve().parents[2] / "docs"
LARGEST = 200_000  # bytes of a picture
LARGER = {"map": "atlas-map.svg", "ladder": "ladder-k11.svg"}  # what the page shows in place of the gallery's picture
EVERY_TIME = {"absence-cells", "map", "spectra"}  # seconds in all; the commands of the others have tests of their own


def _script():
    spec = importlib.util.spec_from_file_location("gallery", DOCS / "images" / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["gallery"] = module
    spec.loader.exec_module(module)
    return module


PICTURES = _script().pictures()


def test_every_picture_of_the_page_is_an_entry_of_the_table():
    text = (DOCS / "gallery.md").read_text()
    assert [picture.name for picture in PICTURES] == re.findall(r"!\[[^]]+\]\(images/([\w-]+)\.png\)", text)
    assert len({picture.name for picture in PICTURES}) == len(PICTURES) == text.count("\n## ") >= 15
    assert {"overview", "minimum", "sweep-film", "own-teacher"} <= {picture.name for picture in PICTURES}


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_picture_is_small_and_its_page_shows_it(picture):
    file = DOCS / "images" / f"{picture.name}.png"
    assert file.stat().st_size < LARGEST
    with Image.open(file) as image:
        assert image.width >= 600
    page = (DOCS / picture.page).read_text()
    assert f"images/{LARGER.get(picture.name, f'{picture.name}.png')}" in page, f"{picture.page} does not show it"
    smaller = picture.smaller()
    for old, _ in picture.small:
        assert any(old in text for text in (*picture.commands, picture.made)), f"nothing is {old!r}"
    assert any(line.startswith("earnshaw ") for line in smaller.commands)


def _marks(name):
    return (pytest.mark.slow,) if name in EVERY_TIME else (pytest.mark.slow, pytest.mark.nightly)


@pytest.mark.parametrize(
    "picture", [pytest.param(picture, id=picture.name, marks=_marks(picture.name)) for picture in PICTURES]
)
def test_the_commands_make_the_picture(picture, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("earnshaw.numerics.remember_programs", lambda: None)
    smaller = picture.smaller()
    for line in smaller.commands:
        program, *words = shlex.split(line)
        if program == "earnshaw":
            done = CliRunner().invoke(app, words, prog_name="earnshaw")
            fine = (0, 1) if words[0] == "reproduce" else (0,)  # so few runs need not agree with the paper
            assert done.exception is None or isinstance(done.exception, SystemExit), f"{line}: {done.exception}"
            assert done.exit_code in fine, f"{line}: {done.output}"
        else:
            assert program == "python"
            subprocess.run([sys.executable, *words], check=True, timeout=60)
    with Image.open(tmp_path / smaller.made) as made:
        assert made.width > 300
        seen = np.asarray(made.convert("RGB").resize((200, 100))).reshape(-1, 3)
        assert len(np.unique(seen, axis=0)) > 20, "the picture is empty"

"""The common style: figures are written as PNG and SVG, whole, and colours differ for colour-blind readers."""

import itertools
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from earnshaw.plots import example_figure, value_figure
from earnshaw.plots.style import COLOURS, figure

# Viénot, Brettel & Mollon (1999): what readers without the first or the second kind of cones see, in linear RGB.
BLIND = {
    "protan": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
    "deutan": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
}


@pytest.mark.parametrize("kind", BLIND)
def test_colours_stay_apart_for_colour_blind_readers(kind):
    seen = [np.asarray(BLIND[kind]) @ np.asarray(to_rgb(colour)) ** 2.2 for colour in COLOURS]
    for first, second in itertools.combinations(seen, 2):
        assert np.abs(first.clip(0, 1) ** (1 / 2.2) - second.clip(0, 1) ** (1 / 2.2)).max() > 0.05


def test_a_figure_is_written_twice_and_the_same_each_time(tmp_path):
    for name in ("a", "b"):
        with figure(tmp_path / name) as (_, axes):
            axes.plot([1, 2], [3, 4])
            axes.set(xlabel="x", ylabel="y")
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.width > 1000
    ElementTree.parse(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_figure_that_fails_leaves_no_file(tmp_path):
    with pytest.raises(ZeroDivisionError), figure(tmp_path / "a"):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


def test_figures_of_sweeps_are_drawn(tmp_path):
    value_figure({"k=6": np.array([0.0005, 0.02]), "k=7": np.array([0.0004, 0.0006])}, tmp_path / "values")
    weights = np.eye(3) - 0.1
    example_figure(weights, weights + 1e-3, "title", tmp_path / "example")
    example_figure(weights, weights, "title", tmp_path / "same")
    assert "in brackets" in (tmp_path / "example.svg").read_text()
    assert "in brackets" not in (tmp_path / "same.svg").read_text()
    assert (tmp_path / "values.png").exists()

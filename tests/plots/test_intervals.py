"""Bars, dots and curves show the numbers that they are given, with their intervals and references."""

from contextlib import contextmanager

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from earnshaw.plots import OURS, Curve, Proportion, bars, intervals
from earnshaw.plots.intervals import dots, draw_curves
from earnshaw.plots.style import COLOURS

ROWS = [Proportion("k=6, n=6", 1.0, (0.5, 2.0), 0.3), Proportion("k=7, n=7", 4.0, (3.0, 5.0))]


@pytest.fixture
def drawn(monkeypatch):
    """The axes of what is drawn, in place of files."""
    seen = []

    @contextmanager
    def figure(path, width=7.0, height=4.2):
        canvas = Figure(figsize=(width, height), layout="constrained")
        seen.append(canvas.add_subplot())
        yield canvas, seen[-1]

    monkeypatch.setattr(intervals, "figure", figure)
    return seen


def ends(axes, line=0):
    """The lower and upper ends of the error bars of a series, (points, 2, 2)."""
    return np.array([segment for segment in axes.collections[line].get_segments()])


def test_bars_have_heights_intervals_and_references(tmp_path, drawn):
    bars({OURS: ROWS}, "title", tmp_path / "figure")
    (axes,) = drawn
    assert [bar.get_height() for bar in axes.patches] == [1.0, 4.0]
    assert ends(axes)[:, :, 1] == pytest.approx(np.array([[0.5, 2.0], [3.0, 5.0]]))
    (marks,) = [line for line in axes.lines if line.get_marker() == "D"]
    assert (marks.get_xdata().tolist(), marks.get_ydata().tolist()) == ([0.0], [0.3])
    assert axes.get_ylim() == (0, pytest.approx(5.75))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["k=6\nn=6", "k=7\nn=7"]


def test_references_are_named_where_there_are_some(tmp_path):
    bars({OURS: ROWS}, "title", tmp_path / "with")
    bars({OURS: ROWS[1:]}, "title", tmp_path / "without")
    assert "printed in the paper" in (tmp_path / "with.svg").read_text()
    assert "printed in the paper" not in (tmp_path / "without.svg").read_text()


def test_groups_stand_side_by_side(tmp_path, drawn):
    bars({"first": ROWS, "second": [Proportion("k=6, n=6", 9.0), Proportion("k=7, n=7", 99.0)]}, "t", tmp_path / "a")
    (axes,) = drawn
    places = np.array([bar.get_x() + bar.get_width() / 2 for bar in axes.patches])
    assert places == pytest.approx([-0.2, 0.8, 0.2, 1.2])
    assert [to_hex(bar.get_facecolor()).upper() for bar in axes.patches[::2]] == list(COLOURS[:2])
    assert axes.get_ylim() == (0, 105)


def test_stacked_parts_follow_each_other_and_notes_lay_them_down(tmp_path, drawn):
    parts = {
        "good": [Proportion("a", 30.0), Proportion("b", 0.0)],
        "bad": [Proportion("a", 70.0), Proportion("b", 0.0)],
    }
    bars(parts, "title", tmp_path / "a", notes=["10 starts", "no such start"], stacked=True)
    (axes,) = drawn
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [(0, 30), (0, 0), (30, 70), (0, 0)]
    assert [text.get_text() for text in axes.texts] == ["10 starts", "no such start"]
    assert [text.get_position()[0] for text in axes.texts] == [101.5, 2.5]
    assert axes.yaxis_inverted()


def test_dots_of_one_label_are_apart_and_within_it(tmp_path, drawn):
    groups = {
        name: [Proportion("6", 90.0 - i, (80.0, 95.0)), Proportion("7", 50.0)] for i, name in enumerate("abcdefgh")
    }
    dots(groups, "k", "title", tmp_path / "a", "runs (%)")
    (axes,) = drawn
    series = [line for line in axes.lines if line.get_label() in groups or line.get_marker() in intervals.MARKERS]
    first = np.array(
        [line.get_xdata()[0] for line in series if len(line.get_xdata()) == 2 and line.get_marker() not in "_|"]
    )
    assert np.all(np.abs(first) < 0.5)
    looks = {(line.get_color(), line.get_marker()) for line in series if line.get_marker() in intervals.MARKERS}
    assert len(looks) == 8  # more groups than colours stay apart


def test_curves_are_moved_apart_and_reach_to_their_intervals(drawn):
    with intervals.figure("unused") as (_, axes):
        curves = [Curve.around("a", [1.0, 2.0], [10.0, 20.0], [1.0, 2.0]), Curve("b", [1.0, 2.0], [5.0, 6.0])]
        draw_curves(axes, curves, apart=0.1)
        assert ends(axes)[:, :, 1] == pytest.approx(np.array([[9.0, 11.0], [18.0, 22.0]]))
        second = next(line for line in axes.lines if line.get_ydata()[0] == 5.0)
        assert second.get_xdata() == pytest.approx([1.1, 2.1])

"""Films show what their scenes hold: the last frame's curves, bars, maps and words."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

import earnshaw as es
from earnshaw.experiments.scenes import SplitScene, SweepScene
from earnshaw.experiments.views import Descended, Slice
from earnshaw.plots import films, scenes
from earnshaw.plots.style import GLOBAL, SPURIOUS

STEPS = np.arange(0, 101, 10)


def swept(**more):
    """Four runs: two find the teacher, one ends elsewhere, one nowhere."""
    ends = np.array([4e-4, 6e-4, 0.02, 0.3])
    values = np.geomspace(1.0, ends, len(STEPS))
    last = np.array([10, 5, 10, 10])
    values[5:, 1] = ends[1]
    found, spurious = np.array([True, True, False, False]), np.array([False, False, True, False])
    return SweepScene(es.TwoLayer(np.eye(2)), STEPS, values, last, found, spurious, (0.02,), **more)


def parted(after):
    """A minimum whose split neuron has this smallest eigenvalue."""
    grid, loss = np.linspace(-1, 1, 5), 0.1
    maps = np.stack([loss + grid[:, None] ** 2 + sign * grid**2 for sign in (1, after / 0.2)])
    back = Descended(np.arange(0, 50, 10), loss + np.linspace(0.05, 0, 5), np.linspace([0.5, 0.5], [0, 0], 5))
    away = Descended(np.arange(0, 50, 10), np.linspace(loss, 0, 5), np.linspace([0, 0], [0.5, 0.5], 5))
    before, split = np.linspace(0.1, 1, 4), np.append(after, np.linspace(0, 1, 5))
    return SplitScene(2, loss, 0.0, before, split, grid, grid, maps, np.array([0.1, after]), back, away)


@pytest.fixture
def frames(monkeypatch):
    """The figure of a film after each of its frames, in place of files."""
    seen = []

    def write(stage, draw, frames, path, still=None, progress=None):
        for frame in range(frames):
            draw(frame)
            seen.append(_content(stage))

    monkeypatch.setattr(scenes, "write_movie", write)
    return seen


def _content(stage):
    """What the axes hold now: lines, lengths of bars by colour, titles, words."""
    axes = stage.axes
    bars = [
        {
            colour: sum(bar.get_width() for bar in panel.patches if to_hex(bar.get_facecolor()) == colour.lower())
            for colour in (GLOBAL, SPURIOUS)
        }
        for panel in axes
    ]
    return {
        "lines": [[line.get_xydata().copy() for line in panel.lines] for panel in axes],
        "bars": bars,
        "titles": [panel.get_title(loc="left") for panel in axes],
        "texts": [[text.get_text() for text in panel.texts] for panel in axes],
        "limits": [(*panel.get_xlim(), *panel.get_ylim()) for panel in axes],
        "title": stage.get_suptitle(),
    }


def test_a_sweep_comes_to_rest_and_its_histogram_fills(frames, tmp_path):
    made = films.film(swept(), tmp_path / "film", quick=True)
    assert made.words == "25.0% of 4 runs end at other minima, k = 2, n = 2"
    assert (made.gif, made.png) == (tmp_path / "film.gif", tmp_path / "film.png")
    last = frames[-1]
    assert last["title"] == "4 random starts, k = 2, n = 2"
    assert frames[0]["bars"][1] == {GLOBAL: 0, SPURIOUS: 0}, "nobody has come to rest at the start"
    assert last["bars"][1] == pytest.approx({GLOBAL: 50, SPURIOUS: 25})
    assert last["bars"][2] == pytest.approx({GLOBAL: 50, SPURIOUS: 25})
    ends = np.concatenate(last["lines"][0])
    assert sorted(ends[:, 1]) == pytest.approx([4e-4, 6e-4, 0.02, 0.3])
    assert sorted(ends[:, 0]) == [50, 100, 100, 100]
    assert last["texts"][1] == ["F = 0.0200"]
    assert last["limits"][0] == pytest.approx((0, 102, 0.8 * 4e-4, 1.0))
    assert "paper" not in last["titles"][2]


def test_the_percentage_of_a_paper_is_drawn_where_there_is_one(frames, tmp_path):
    made = films.film(swept(again=True), tmp_path / "film", quick=True, printed=12.5)
    assert made.words.endswith("were run again; the paper has 12.5%")
    assert frames[-1]["titles"][2].endswith("black line: 12.5% in the paper")
    np.testing.assert_array_equal(frames[-1]["lines"][2][0][:, 0], [12.5, 12.5])


@pytest.mark.parametrize(
    ("after", "words", "last"),
    [
        (-0.2, "a direction opens that goes down", "3 neurons, a saddle: descent leaves, and finds the teacher"),
        (0.0, "no direction goes down", "3 neurons, and still no way down"),
    ],
)
def test_a_split_neuron_opens_a_way_or_none(frames, tmp_path, after, words, last):
    made = films.film(parted(after), tmp_path / "film", quick=True)
    assert f"+0.1000 with 2 neurons, {after:+.4f} with 3, loss 0.1000 in both" in made.words
    titles = [frame["title"] for frame in frames]
    assert titles[0] == "2 neurons, a minimum: descent after a push comes back"
    assert titles[2].endswith(words)
    assert titles[-1] == last
    assert frames[0]["titles"][1].startswith("2 neurons: lowest eigenvalues")
    assert frames[-1]["titles"][1].endswith(f"smallest {after:+.4f}".replace("-", "\N{MINUS SIGN}"))
    np.testing.assert_array_equal(frames[1]["lines"][0][-1], [[0, 0]], "descent has come back")


def test_descent_moves_on_the_plane_of_a_point(frames, tmp_path):
    grid = np.linspace(-1, 1, 5)
    path = Descended(np.arange(0, 40, 10), np.array([0.9, 0.5, 0.3, 0.2]), np.linspace([0.6, 0.6], [0, 0], 4))
    scene = Slice(0.2, grid, grid, 0.2 + grid[:, None] ** 2 + grid**2, (2.0, 2.0), ("across", "along"), path)
    made = films.film(scene, tmp_path / "film", quick=True)
    assert made.words == "loss 0.2 at the point; descent beside it goes from 0.9 to 0.2"
    assert [len(frame["lines"][0][0]) for frame in frames] == sorted(len(frame["lines"][0][0]) for frame in frames)
    np.testing.assert_array_equal(frames[0]["lines"][0][-1], [[0.6, 0.6]])
    np.testing.assert_array_equal(frames[-1]["lines"][0][-1], [[0, 0]])
    np.testing.assert_array_equal(frames[-1]["lines"][1][0], np.column_stack([path.steps, path.losses]))


def test_levels_that_would_be_written_over_each_other_are_left_out():
    edges = np.geomspace(1e-3, 1, 40)
    assert scenes._apart((0.02, 0.021, 0.5), edges) == [0.02, 0.5]


def test_a_film_is_two_files_and_keeps_a_dot_in_its_name(tmp_path):
    made = films.film(swept(), tmp_path / "ratio0.5", quick=True)
    with Image.open(made.gif) as film, Image.open(made.png) as still:
        assert film.n_frames >= 3
        assert film.size == still.size
    assert {path.name for path in tmp_path.iterdir()} == {"ratio0.5.gif", "ratio0.5.png"}


def test_nothing_to_film_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("earnshaw.experiments.scenes.scenes_of", lambda source, quick: iter(()))
    with pytest.raises(es.InputError, match="nothing to film"):
        es.animate(tmp_path)

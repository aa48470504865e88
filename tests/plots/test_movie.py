"""Animations are small, loop, keep colours, and are written whole or not at all."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from earnshaw.plots.style import COLOURS, common_style, write_movie


def moving(tmp_path, still=None, fail=False):
    seen = []
    with common_style():
        canvas = Figure(figsize=(3, 2))
        axes = canvas.add_axes((0, 0, 1, 1))
        axes.axis("off")
        axes.set(xlim=(0, 6), ylim=(-1, 1))
        (dot,) = axes.plot([], [], "o", color=COLOURS[2], markersize=12)

        def draw(frame):
            if fail and frame == 2:
                raise ZeroDivisionError
            dot.set_data([frame + 0.5], [0])

        write_movie(canvas, draw, 5, tmp_path / "film", still, progress=lambda share, _: seen.append(share))
    return seen


def test_frames_durations_loop_and_colours(tmp_path):
    assert moving(tmp_path, still=-1) == [0.2, 0.4, 0.6, 0.8, 1.0]
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 5
        assert film.info["loop"] == 0
        assert film.size == (270, 180)
        places = []
        for frame in range(5):
            film.seek(frame)
            colour = np.asarray(film.convert("RGB")).astype(int)
            near = np.abs(colour - [0x00, 0x9E, 0x73]).max(-1) < 12  # a rare colour survives the palette
            places.append(np.flatnonzero(near.any(0)).mean())
        assert film.info["duration"] == 1500
    assert np.all(np.diff(places) > 20)
    with Image.open(tmp_path / "film.png") as last:
        assert last.size == (270, 180)


def test_a_picture_only_when_asked_for(tmp_path):
    moving(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["film.gif"]


def test_a_film_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError):
        moving(tmp_path, still=0, fail=True)
    assert not list(tmp_path.iterdir())

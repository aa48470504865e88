"""Animations: frames of a figure become one small looping GIF, and one of them a picture."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from earnshaw.plots.style import COLOURS
from earnshaw.store import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

COLOURS_OF_A_MOVIE = 96
Progress = Callable[[float, str], None]  # (share of the frames drawn, nothing more to say)


def unseen(share: float, what: str) -> None:
    """Show no progress."""


def write_movie(
    figure: Figure,
    draw: Callable[[int], None],
    frames: int,
    path: Path,
    still: int | None = None,
    *,
    per_second: int = 16,
    hold: float = 1.5,
    dpi: int = 90,
    progress: Progress = unseen,
) -> None:
    """Write ``path.gif`` and, of the frame ``still`` (-1 is the last), ``path.png``, each whole or not at all.

    ``draw(i)`` changes the figure to its frame i. The last frame is held for some seconds, then all begins anew. All
    frames share one palette without dithering, so that what does not move costs nothing.
    """
    figure.set_dpi(dpi)
    images = []
    for frame in range(frames):
        draw(frame)
        images.append(_image(figure))
        progress((frame + 1) / frames, "")
    palette = _palette([images[i] for i in np.unique(np.linspace(0, frames - 1, 6).astype(int))])
    reduced = [image.quantize(palette=palette, dither=0) for image in images]
    durations = [1000 // per_second] * (frames - 1) + [round(1000 * hold)]
    buffer = io.BytesIO()
    reduced[0].save(
        buffer, "GIF", save_all=True, append_images=reduced[1:], duration=durations, loop=0, optimize=False, disposal=1
    )
    write_bytes(path.with_suffix(".gif"), buffer.getvalue())
    if still is not None:
        buffer = io.BytesIO()
        images[still].save(buffer, "PNG", optimize=True)
        write_bytes(path.with_suffix(".png"), buffer.getvalue())


def _image(figure: Figure) -> Image:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image as images

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return images.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])


def _palette(samples: list[Image]) -> Image:
    """Return a palette for all frames, from some of them and from the colours of lines and marks, which are few pixels."""
    from PIL import Image as images

    width, height = samples[0].size
    wide = images.new("RGB", (width, height * (len(samples) + 1)), "white")
    for index, sample in enumerate(samples):
        wide.paste(sample, (0, index * height))
    for index, colour in enumerate(COLOURS):
        wide.paste(colour, (index * width // 8, len(samples) * height, (index + 1) * width // 8, wide.height))
    return wide.quantize(COLOURS_OF_A_MOVIE)

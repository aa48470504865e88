"""The common style of all figures, and how they are written: as pictures, or frame by frame as one small looping GIF."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from earnshaw.store import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from PIL.Image import Image

# Okabe & Ito's colours, told apart by colour-blind readers; black is kept for the papers' values.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
PAPER_COLOUR = "black"
GLOBAL, SPURIOUS = COLOURS[0], COLOURS[5]  # what became of a run, in every figure
COLOURS_OF_A_MOVIE, FRAMES_A_SECOND, SECONDS_AT_THE_END, DOTS_AN_INCH = 96, 16, 1.5, 90
Progress = Callable[[float, str], None]  # (share of the frames drawn, nothing more to say)


def common_style() -> AbstractContextManager[None]:
    """Return the context in which figures and animations are drawn."""
    import matplotlib as mpl
    from matplotlib.rcsetup import cycler

    settings: Any = {
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "axes.axisbelow": True,
        "legend.frameon": False,
        "svg.hashsalt": "earnshaw",
        "axes.prop_cycle": cycler(color=COLOURS),
    }
    return mpl.rc_context(settings)


@contextmanager
def on(axes: Axes | None, width: float = 6.4, height: float = 4.0) -> Iterator[Axes]:
    """Yield the axes given, or those of a new figure of pyplot, which a notebook shows, to be drawn on in the common style."""
    new = None
    if axes is None:  # outside of the style: with the first figure pyplot turns a notebook interactive, which must last
        from matplotlib import pyplot

        new = pyplot.figure(figsize=(width, height), layout="constrained")
    with common_style():
        yield axes if new is None else new.add_subplot()  # type: ignore[misc]


_METADATA: dict[str, dict[str, None] | None] = {"png": None, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
KINDS = tuple(_METADATA)


@contextmanager
def canvas(
    path: Path, width: float = 8.0, height: float = 4.2, kinds: Sequence[str] = ("png", "svg")
) -> Iterator[Figure]:
    """Yield a figure without axes; on leaving, write ``path.png`` and ``path.svg``, each whole or not at all.

    A path that ends in .png or .svg already gives the same two files.
    """
    from matplotlib.figure import Figure as NewFigure

    with common_style():
        new = NewFigure(figsize=(width, height), layout="constrained")
        yield new
        stem = path.stem if path.suffix[1:] in KINDS else path.name
        for kind in kinds:
            buffer = io.BytesIO()
            new.savefig(buffer, format=kind, dpi=160, metadata=_METADATA[kind])
            write_bytes(path.with_name(f"{stem}.{kind}"), buffer.getvalue())


@contextmanager
def figure(path: Path, width: float = 8.0, height: float = 4.2) -> Iterator[tuple[Figure, Axes]]:
    """Yield a figure and its only axes; on leaving, write it as :func:`canvas` does."""
    with canvas(path, width, height) as new:
        yield new, new.add_subplot()


def unseen(share: float, what: str) -> None:
    """Show no progress."""


def write_movie(
    stage: Figure,
    draw: Callable[[int], None],
    frames: int,
    path: Path,
    still: int | None = None,
    progress: Progress = unseen,
    dots: int = DOTS_AN_INCH,
) -> None:
    """Write ``path.gif`` and, of the frame ``still`` (-1 is the last), ``path.png``, each whole or not at all.

    ``draw(i)`` changes the figure to its frame i. The last frame is held for some seconds, then all begins anew. All
    frames share one palette without dithering, so that what does not move costs nothing.
    """
    stage.set_dpi(dots)
    images = []
    for frame in range(frames):
        draw(frame)
        images.append(_image(stage))
        progress((frame + 1) / frames, "")
    palette = _palette([images[i] for i in np.unique(np.linspace(0, frames - 1, 6).astype(int))])
    reduced = [image.quantize(palette=palette, dither=0) for image in images]
    durations = [1000 // FRAMES_A_SECOND] * (frames - 1) + [round(1000 * SECONDS_AT_THE_END)]
    buffer = io.BytesIO()
    reduced[0].save(
        buffer, "GIF", save_all=True, append_images=reduced[1:], duration=durations, loop=0, optimize=False, disposal=1
    )
    write_bytes(path.with_name(f"{path.name}.gif"), buffer.getvalue())
    if still is not None:
        buffer = io.BytesIO()
        images[still].save(buffer, "PNG", optimize=True)
        write_bytes(path.with_name(f"{path.name}.png"), buffer.getvalue())


def _image(stage: Figure) -> Image:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image as images

    agg = FigureCanvasAgg(stage)
    agg.draw()
    return images.fromarray(np.asarray(agg.buffer_rgba())[..., :3])


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

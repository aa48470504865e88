"""The common style of all figures."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earnshaw.store import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe & Ito's colours, told apart by colour-blind readers; black is kept for the papers' values.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
PAPER_COLOUR = "black"
GLOBAL, SPURIOUS = COLOURS[0], COLOURS[5]  # what became of a run, in every figure


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
def canvas(path: Path, width: float = 7.0, height: float = 4.2) -> Iterator[Figure]:
    """Yield a figure without axes; on leaving, write ``path.png`` and ``path.svg``, each whole or not at all."""
    from matplotlib.figure import Figure as NewFigure

    with common_style():
        new = NewFigure(figsize=(width, height), layout="constrained")
        yield new
        for kind, metadata in (("png", None), ("svg", {"Date": None})):
            buffer = io.BytesIO()
            new.savefig(buffer, format=kind, dpi=160, metadata=metadata)
            write_bytes(path.with_suffix(f".{kind}"), buffer.getvalue())


@contextmanager
def figure(path: Path, width: float = 7.0, height: float = 4.2) -> Iterator[tuple[Figure, Axes]]:
    """Yield a figure and its only axes; on leaving, write it as :func:`canvas` does."""
    with canvas(path, width, height) as new:
        yield new, new.add_subplot()

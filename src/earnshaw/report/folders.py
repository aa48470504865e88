"""The page of a run folder, whatever kind of work it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from earnshaw.errors import InputError
from earnshaw.experiments.arena import RESULTS
from earnshaw.report.arenas import tell_arena
from earnshaw.report.fits import tell_fit
from earnshaw.report.motions import tell_motion
from earnshaw.report.page import Page
from earnshaw.report.sweeps import tell_sweep
from earnshaw.report.telling import Told, page_of
from earnshaw.store import read_manifest

Teller = Callable[[Path, Path, bool], Told]
TELLERS: Mapping[str, Teller] = {"sweep": tell_sweep, "fit": tell_fit, "trajectory": tell_motion}


def folder_page(folder: str | Path, out: str | Path, check: bool = False) -> Page:
    """Return the page of a folder of a sweep, an arena, a fit or charges in motion, for the file ``out``.

    Figures are drawn beside that file, and certificates linked from there. Certificates are checked, those that would take
    more than about ten seconds only when ``check`` asks for it.
    """
    folder, out = Path(folder), Path(out)
    kind, see = read_manifest(folder)["kind"], f"see it with earnshaw runs show {folder}"
    if kind not in TELLERS:
        raise InputError(f"{folder} holds work of the kind {kind!r}, which has no page; {see}")
    arena = kind == "sweep" and (folder / RESULTS).exists()
    return page_of((tell_arena if arena else TELLERS[kind])(folder, out, check), folder)

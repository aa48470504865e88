"""Work that takes no time, for tests of the engine and of what becomes of folders."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from earnshaw.experiments import Work
from earnshaw.experiments.work import KINDS, Finished, Piece
from earnshaw.store import read_manifest

SIZE = 4  # lanes of a piece
COMPUTED = []  # the pieces that were computed, in order
TROUBLE = {}  # by piece (setting, low): what to do instead of computing it


@dataclass(frozen=True)
class Squares(Work):
    """The squares of the lanes, plus a seed; three stages a piece."""

    kind: ClassVar[str] = "squares"

    sizes: tuple[int, ...]
    runs: int = 10
    seed: int = 0

    @property
    def common(self):
        return {"seed": self.seed}

    @property
    def parts(self):
        return {
            f"s{size}": {"identity": {"size": size}, "runs": self.runs, "plan": {"piece": SIZE}} for size in self.sizes
        }

    @classmethod
    def from_json(cls, common, parts, functions=False):
        sizes = tuple(part["identity"]["size"] for part in parts.values())
        return cls(sizes, next(iter(parts.values()))["runs"], common["seed"])

    def tool(self, name):
        return "by hand"

    def pieces(self, name):
        lows = range(0, self.parts[name]["runs"], SIZE)
        return [Piece(name, low, min(low + SIZE, self.runs), 1.0) for low in lows]

    def compute(self, piece, context):
        COMPUTED.append((piece.setting, piece.low, piece.high))
        stages = [context.keep(stage, lambda stage=stage: self._stage(piece, stage)) for stage in range(3)]
        TROUBLE.get((piece.setting, piece.low), lambda context: None)(context)
        context.progress(0.5, "half")
        return {"square": sum(stage["x"] for stage in stages)}

    def _stage(self, piece, stage):
        COMPUTED.append((piece.setting, piece.low, "stage", stage))
        lanes = np.arange(piece.low, piece.high)
        return {"x": (lanes**2 + self.seed) * (stage == 0) + 0 * lanes}

    def finish(self, name, pieces):
        square = np.concatenate([piece["square"] for piece in pieces])
        return Finished({"sum": int(square.sum())}, {"": {"square": square}})

    @classmethod
    def load(cls, folder, functions=False):
        from earnshaw.store import read_sealed

        return {name: read_sealed(folder / f"{name}.npz")[0]["square"] for name in read_manifest(folder)["settings"]}


del KINDS["squares"]  # it is known where a test asks for it


@pytest.fixture(autouse=True)
def squares(monkeypatch):
    """For tests that import it: the kind of work is known, and nothing is computed yet."""
    monkeypatch.setitem(KINDS, "squares", Squares)
    COMPUTED.clear()
    TROUBLE.clear()


def pieces_computed():
    return [entry for entry in COMPUTED if len(entry) == 3]


def stages_computed():
    return [entry for entry in COMPUTED if len(entry) == 4]


def results(path):
    names = ("manifest.json", "s*.npz", "s*.json")
    return {file.name: file.read_bytes() for name in names for file in sorted(path.glob(name))}


def interrupt(context):
    raise KeyboardInterrupt

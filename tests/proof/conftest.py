"""Points and certificates that the proof tests share; none of them needs a downloaded file."""

import copy
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from earnshaw.problems import TwoLayer
from earnshaw.proof import prove
from earnshaw.proof.trusted.reading import seal
from earnshaw.threads import one_blas_thread

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "safran-shamir"


def symmetric_point(k, a, b, c, d, e):
    """A point of type S_{k-1}: `a` on the diagonal, `b` off it, `c` odd column, `d` odd row, `e` the corner."""
    weights = np.full((k, k), b)
    np.fill_diagonal(weights, a)
    weights[:-1, -1], weights[-1, :-1], weights[-1, -1] = c, d, e
    return weights


@pytest.fixture(autouse=True, scope="session")
def _one_blas_thread():
    """The matrices are small, and BLAS threads on a busy machine make the tests many times slower."""
    with one_blas_thread():
        yield


@pytest.fixture(scope="session")
def minimum_point():
    """The published k = n = 6 minimum, to eight digits."""
    return symmetric_point(6, 0.98670382, -0.0504134, 0.30801099, 0.22451581, -0.60151192)


@pytest.fixture(scope="session")
def saddle_point():
    """A saddle at k = n = 6 (the second S_5 family), to four digits."""
    return symmetric_point(6, -0.5877, 0.3912, -0.0138, 0.0168, 1.0684)


@pytest.fixture(scope="session")
def minimum_proof(minimum_point):
    return prove(TwoLayer(np.eye(6)), minimum_point)


@pytest.fixture(scope="session")
def saddle_proof(saddle_point):
    return prove(TwoLayer(np.eye(6)), saddle_point)


@pytest.fixture(scope="session")
def small_saddle_proof():
    """A saddle at k = n = 3 whose only negative eigenvalue is simple and nearly the smallest in modulus.

    With more negative eigenvalues |A| would be so large that Newton-Kantorovich alone implies the curvature condition,
    and a checker without that condition could not be told apart.
    """
    weights = np.full((3, 3), 0.659453093038095)
    np.fill_diagonal(weights, -0.31818006961015377)
    return prove(TwoLayer(np.eye(3)), weights)


@pytest.fixture(scope="session")
def published():
    """All published points at hand, as (name, index, weights)."""
    files = sorted(DATA.glob("*.npz"))
    if not files:
        pytest.skip(f"the published points are not at {DATA}")
    points = []
    for file in files:
        with np.load(file) as arrays:
            points += [(file.stem, index, weights) for index, weights in enumerate(arrays["weights"])]
    return points


class Forger:
    """Edits certificates and seals them again, as an adversary would."""

    def __init__(self, documents):
        self.documents = documents

    def edited(self, kind, **edits):
        """Return the document of `kind` with `claims__F_ge=...` style edits; floats become hex floats."""
        document = copy.deepcopy(dict(self.documents[kind]))
        for path, value in edits.items():
            place, *rest = path.split("__")
            new = value.hex() if isinstance(value, float) else value
            if rest:
                document[place] = {**document[place], rest[0]: new}
            else:
                document[place] = new
        return document

    def number(self, kind, path):
        section = self.documents[kind]
        for part in path.split("__"):
            section = section[part]
        return float.fromhex(section)

    @staticmethod
    def sealed(document):
        document = {**document, "sha256": seal(document)}
        return json.dumps(document).encode()

    def forged(self, kind, **edits):
        return self.sealed(self.edited(kind, **edits))


@pytest.fixture(scope="session")
def forger(minimum_proof, small_saddle_proof):
    certificates = {**minimum_proof.certificates, **small_saddle_proof.certificates}
    return Forger({kind: certificate.document for kind, certificate in certificates.items()})


def _loaded(name):
    """A module of this folder; tests are not a package, so it is loaded by its path."""
    spec = importlib.util.spec_from_file_location(f"proof_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def adversaries():
    return _loaded("adversaries")


@pytest.fixture(scope="session")
def convexity_adversaries():
    return _loaded("adversaries_convexity")


@pytest.fixture(scope="session")
def verdicts(adversaries, forger, minimum_proof, small_saddle_proof):
    """(certificates that must be rejected, certificates that must be accepted), by name."""
    return adversaries.everything(forger, minimum_proof.point.weights, small_saddle_proof.point.weights)


@pytest.fixture(scope="session")
def convexity_verdicts(convexity_adversaries):
    """The same for data sets."""
    return convexity_adversaries.everything()


@pytest.fixture(scope="session")
def mutants():
    return _loaded("mutants").MUTANTS

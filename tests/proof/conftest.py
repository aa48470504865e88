"""Points and certificates that the proof tests share; none of them needs a downloaded file."""

import sys
from pathlib import Path

import numpy as np
import pytest

from earnshaw.problems import TwoLayer
from earnshaw.proof import prove
from earnshaw.threads import one_blas_thread

sys.path.insert(0, str(Path(__file__).parent))  # so that tests here can import the modules beside them
import adversaries
import adversaries_convexity
from adversaries import Forger
from adversaries_every_n import smallest

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "safran-shamir"


@pytest.fixture(autouse=True, scope="session")
def _one_blas_thread():
    """The matrices are small, and BLAS threads on a busy machine make the tests many times slower."""
    with one_blas_thread():
        yield


@pytest.fixture(scope="session")
def minimum_point():
    return adversaries.minimum_point()


@pytest.fixture(scope="session")
def saddle_point():
    """A saddle at k = n = 6 (the second S_5 family), to four digits."""
    return adversaries.symmetric_point(6, -0.5877, 0.3912, -0.0138, 0.0168, 1.0684)


@pytest.fixture(scope="session")
def minimum_proof(minimum_point):
    return prove(TwoLayer(np.eye(6)), minimum_point)


@pytest.fixture(scope="session")
def saddle_proof(saddle_point):
    return prove(TwoLayer(np.eye(6)), saddle_point)


@pytest.fixture(scope="session")
def small_saddle_proof():
    return adversaries.small_saddle()


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


@pytest.fixture(scope="session")
def forger(minimum_proof, small_saddle_proof):
    certificates = {**minimum_proof.certificates, **small_saddle_proof.certificates}
    certificates["every_n"] = smallest().certificates["every_n"]
    return Forger({kind: certificate.document for kind, certificate in certificates.items()})


@pytest.fixture(scope="session")
def verdicts(forger, minimum_proof, small_saddle_proof):
    """(certificates that must be rejected, certificates that must be accepted), by name."""
    return adversaries.everything(forger, minimum_proof.point.weights, small_saddle_proof.point.weights)


@pytest.fixture(scope="session")
def convexity_verdicts():
    """The same for data sets."""
    return adversaries_convexity.everything()

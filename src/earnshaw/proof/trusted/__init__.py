"""The checker of certificates: what must be read to trust a proof.

`reading.py` parses and `balls.py` is what all theorems use. `relu.py` is the calculus of the ReLU landscape, and
`relu_claims.py` states its theorems and checks every hypothesis, `every_n.py` one more; `parts.py`, `blocks.py` and
`blocks_claims.py` do so for points with many equal entries, of any size, and `models.py`, `scaled.py`, `singles.py` and `every_k.py` for
families of them, all k at once; `convnet.py` does all of that for the convolutional network, and `convexity.py` for the risk
of a data set, with the sums of `sums.py`. `absence.py` walks over all directions of few neurons, with the cells of `cells.py`
and the tests of `exclusion.py`. The folder imports the standard library, python-flint and NumPy (for guesses, and in
`sums.py`, `cells.py` and `exclusion.py` for IEEE arithmetic with written error bounds), and runs when copied
elsewhere: ``python -m <folder> FILE...``.
"""

import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

from . import absence, blocks_claims, convexity, convnet, every_k, every_n, relu_claims
from .reading import KINDS, LARGE_BYTES, Rejected, load

__all__ = ["Rejected", "check_bytes", "check_file", "check_lines", "verify"]

Result = tuple[bool, str | None, str]  # whether it is verified, its kind, and the statement or the reason
# For each kind of certificate the function that checks its bytes.
CHECKERS = {
    "absence": absence.verify,
    **dict.fromkeys(KINDS, relu_claims.verify),
    **dict.fromkeys(blocks_claims.BLOCK_KINDS, blocks_claims.verify),
    "every_n": every_n.verify,
    every_k.KIND: every_k.verify,
    "convnet": convnet.verify,
    "convexity": convexity.verify,
}


def verify(data: bytes, limit: float = 1.0) -> tuple[str, str]:
    """Check the bytes of a certificate by the theorem of its kind; return the kind and the statement, or raise Rejected.

    `limit` times what a check may cost by default is allowed.
    """
    kind = load(data)["kind"]
    if kind not in CHECKERS:
        raise Rejected(f"unknown kind; this checker knows {', '.join(CHECKERS)}")
    return CHECKERS[kind](data, limit)


def check_bytes(data: bytes, limit: float = 1.0) -> Result:
    """Check a certificate; return (True, kind, statement) or (False, None, reason). Never raises an Exception."""
    try:
        kind, statement = verify(data, limit)
    except Rejected as rejected:
        return False, None, str(rejected)
    except Exception as error:  # whatever goes wrong in an unforeseen way, nothing has been proved
        return False, None, f"the check stopped with {type(error).__name__}: {error}"
    return True, kind, statement


def check_file(path: str | os.PathLike[str], limit: float = 1.0) -> Result:
    """Check the certificate in a file; a file that cannot be read is not verified."""
    try:
        with _opened(path) as file:
            data = file.read(LARGE_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a path that no file can have
        return _unread(error)
    return check_bytes(data, limit)


def check_lines(path: str | os.PathLike[str], limit: float = 1.0) -> Iterator[Result]:
    """Check the certificates in a file, one a line, and yield what comes of each; a file without a line is not verified."""
    try:
        with _opened(path) as file:
            empty = True
            while line := file.readline(LARGE_BYTES + 1):
                empty = False
                yield check_bytes(line, limit)
        if empty:
            yield False, None, "the file is empty"
    except (OSError, ValueError) as error:
        yield _unread(error)


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    if not stat.S_ISREG(os.stat(path).st_mode):  # a device or a pipe may never end
        raise OSError("it is not a regular file")
    return open(path, "rb")


def _unread(error: OSError | ValueError) -> Result:
    return False, None, f"cannot read the file: {getattr(error, 'strerror', None) or error}"

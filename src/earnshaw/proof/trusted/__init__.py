"""The checker of certificates: what must be read to trust a proof.

`reading.py` parses, `relu.py` is the calculus in balls, `relu_claims.py` states the theorems and checks every
hypothesis. The folder imports the standard library, python-flint and NumPy (for guesses only), and runs when copied
elsewhere: ``python -m <folder> FILE...``.
"""

import os

from .reading import MAX_BYTES, Rejected
from .relu_claims import verify

__all__ = ["Rejected", "check_bytes", "check_file", "verify"]


def check_bytes(data: bytes) -> tuple[bool, str | None, str]:
    """Check a certificate; return (True, kind, statement) or (False, None, reason). Never raises an Exception."""
    try:
        kind, statement = verify(data)
    except Rejected as rejected:
        return False, None, str(rejected)
    except Exception as error:  # whatever goes wrong in an unforeseen way, nothing has been proved
        return False, None, f"the check stopped with {type(error).__name__}: {error}"
    return True, kind, statement


def check_file(path: str | os.PathLike[str]) -> tuple[bool, str | None, str]:
    """Check the certificate in a file; a file that cannot be read is not verified."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return False, None, f"cannot read the file: {error.strerror}"
    return check_bytes(data)

"""Files: written whole or not at all, named by a hash of what made them."""

from earnshaw.store.files import (
    canonical_json,
    digest,
    read_json,
    read_npy,
    read_npz,
    write_bytes,
    write_json,
    write_npz,
)
from earnshaw.store.folder import RunFolder

__all__ = [
    "RunFolder",
    "canonical_json",
    "digest",
    "read_json",
    "read_npy",
    "read_npz",
    "write_bytes",
    "write_json",
    "write_npz",
]

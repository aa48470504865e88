"""Files: written whole or not at all, sealed with what made them."""

from earnshaw.store.files import (
    canonical_json,
    digest,
    npz_bytes,
    read_json,
    read_npy,
    read_npz,
    read_sealed,
    regular,
    write_bytes,
    write_json,
    write_npz,
)
from earnshaw.store.folder import Arrays, RunFolder, read_manifest, sealed_certificates

__all__ = [
    "Arrays",
    "RunFolder",
    "canonical_json",
    "digest",
    "npz_bytes",
    "read_json",
    "read_manifest",
    "read_npy",
    "read_npz",
]
__all__ += ["read_sealed", "regular", "sealed_certificates", "write_bytes", "write_json", "write_npz"]

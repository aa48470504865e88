"""The native kernel: built where there is a C compiler, and done without where there is none; the rest is in pyproject.toml."""

import hashlib
from pathlib import Path

from setuptools import Extension, setup

FOLDER = Path("src/earnshaw/descent/native")
SOURCES = sorted(FOLDER.glob("*.[ch]"))
DIGEST = hashlib.sha256(b"".join(source.read_bytes() for source in SOURCES)).hexdigest()[:16]

setup(
    ext_modules=[
        Extension(
            "earnshaw.descent.native._kernel",
            [str(FOLDER / "kernel.c")],
            depends=[str(source) for source in SOURCES],
            define_macros=[("SOURCE", f'"{DIGEST}"')],
            # Contraction would make a lane's last bits depend on the compiler's choices.
            extra_compile_args=["-O3", "-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-Wno-psabi"],
            libraries=["m"],
            optional=True,
        )
    ]
)

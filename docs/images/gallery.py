"""Make the pictures of docs/gallery.md anew: ``python docs/images/gallery.py [NAME...]``, or ``make pictures`` for all.

The page is the table. A picture there is followed by its commands, by what is smaller in the test, and by the file that
they make. Here the commands run as they stand, in an empty folder, and the file becomes docs/images/NAME, in 256 colours.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "gallery.md"
ENTRY = re.compile(
    r"^## (?P<title>[^\n]+)\n\n!\[(?P<alt>[^]]+)\]\(images/(?P<name>[\w-]+)\.png\)\n\n```sh\n(?P<commands>.*?)```\n\n"
    r"<!-- small: (?P<small>.*?) -->\nMakes `(?P<made>[^`]+)`(?P<words>.*?)\[[^]]+\]\((?P<page>[\w-]+\.md)\)",
    flags=re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Picture:
    """One picture of the gallery: its name, the commands, the file that they make, and the page it leads to."""

    title: str
    name: str
    commands: tuple[str, ...]
    made: str
    page: str
    small: tuple[tuple[str, str], ...]

    def smaller(self) -> Picture:
        """Return the same in the size of the test."""

        def less(text: str) -> str:
            for old, new in self.small:
                text = text.replace(old, new)
            return text

        return Picture(self.title, self.name, tuple(map(less, self.commands)), less(self.made), self.page, ())


def pictures(text: str | None = None) -> list[Picture]:
    """Return the pictures of the page, in its order."""
    found = []
    for entry in ENTRY.finditer(PAGE.read_text() if text is None else text):
        rules = () if entry["small"] == "as it is" else entry["small"].split("; ")
        small = tuple((old, new) for old, _, new in (rule.partition(" becomes ") for rule in rules))
        lines = tuple(entry["commands"].strip().split("\n"))
        found.append(Picture(entry["title"], entry["name"], lines, entry["made"], entry["page"], small))
    return found


def make(picture: Picture, folder: Path) -> Path:
    """Run the commands in a folder, and return the file."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for line in picture.commands:
        subprocess.run(line, shell=True, cwd=folder, env=environment, check=True)
    return folder / picture.made


def main(names: list[str]) -> None:
    """Make the pictures of these names, or all."""
    all_of = pictures()
    if unknown := set(names) - {picture.name for picture in all_of}:
        sys.exit(f"there is no picture {', '.join(unknown)}; there are {', '.join(one.name for one in all_of)}")
    for picture in all_of:
        if not names or picture.name in names:
            begin = time.perf_counter()
            with tempfile.TemporaryDirectory() as folder, Image.open(make(picture, Path(folder))) as made:
                made.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
                    HERE / f"{picture.name}.png", optimize=True
                )
            print(f"{picture.name}.png: {time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

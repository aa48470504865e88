"""``python -m earnshaw`` is the command ``earnshaw``."""

from earnshaw.cli import main

main()

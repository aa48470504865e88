"""What goes wrong, in words: the one exception a user's mistake raises, and the warning about accuracy."""

from __future__ import annotations


class InputError(ValueError):
    """What was given, what is allowed, and what to do about it, in one sentence or two.

    The command line prints the message and exits with 2; it never shows a traceback for it.
    """


class AccuracyWarning(UserWarning):
    """A computed number may be less accurate than its digits suggest; the message says by how much and what to do."""

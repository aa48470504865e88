"""The one exception a user's mistake raises: its message is the whole explanation."""

from __future__ import annotations


class InputError(ValueError):
    """What was given, what is allowed, and what to do about it, in one sentence or two.

    The command line prints the message and exits with 2; it never shows a traceback for it.
    """

"""The explorer: a page on this computer that shows what the library computes. It computes nothing of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from earnshaw.errors import need

__all__ = ["explore"]

PORT = 8750


def explore(
    port: int = PORT, *, browser: bool = True, out: str | Path | None = None, say: Callable[[str], None] = print
) -> None:
    """Serve the explorer on this computer, and open it in the browser, until Ctrl-C.

    It listens on 127.0.0.1 alone, and refuses requests from pages of other origins. It needs the extra ``web``. In a
    script it belongs under ``if __name__ == "__main__":``, because proofs run in processes, which read the script again.

    Parameters
    ----------
    port
        Where it listens; 0 is a free one.
    browser
        Whether a browser is opened.
    out
        The folder for certificates and runs. None is a temporary one, which is removed in the end.
    say
        What is told the address.
    """
    for module in ("fastapi", "uvicorn"):
        need(module, extra="web", purpose="the explorer")
    from earnshaw.web.server import serving

    with serving(port, out) as (address, ended):
        say(f"{address}  (Ctrl-C stops it)")
        if browser:
            import webbrowser

            if not webbrowser.open(address):
                say("no browser could be opened; open the address in one")
        while not ended.wait(1.0):
            pass

"""The application: the page and its files at once; the questions, and JAX, as soon as they are loaded."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import threading
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from earnshaw import __version__
from earnshaw.errors import InputError, install_line
from earnshaw.threads import one_blas_thread
from earnshaw.web.guards import Guard, unserved
from earnshaw.web.limits import LIMITS

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

# The views in the order of their tabs: web/<name>.py has a router with the prefix /api/<name>, and the page a module
# static/views/<name>.js.
VIEWS: tuple[str, ...] = ("charges", "landscape", "sweep", "atlas", "network")
STATIC = Path(__file__).parent / "static"
REFRESHED = {"cache-control": "no-cache"}  # a browser keeps it, and asks whether it is still the same
_LOADING = threading.Lock()
PROVERS = 2  # processes for short proofs and checks
WARM_AFTER = 0.3  # seconds after the start: the page comes first


def create_app(folder: Path) -> Starlette:
    """Return the application; all that it writes goes into ``folder``."""
    plotly = _plotly()
    late = Late(folder)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        timer = threading.Timer(WARM_AFTER, late.warm)
        timer.daemon = True
        timer.start()
        yield
        timer.cancel()
        late.close()

    async def page(_: Request) -> Response:
        return FileResponse(STATIC / "index.html", headers=REFRESHED)

    async def script(_: Request) -> Response:
        return FileResponse(plotly, headers={"cache-control": "max-age=86400"})

    async def about(_: Request) -> Response:
        """Say what there is: the version, the views, the limits, and whether JAX is loaded."""
        ready = late.ready.is_set()
        return JSONResponse({"version": __version__, "views": VIEWS, "limits": asdict(LIMITS), "ready": ready})

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/api/about", about),
            Route("/static/plotly.min.js", script),
            Mount("/static", _Static(directory=STATIC)),
        ],
        middleware=[Middleware(Guard)],
        exception_handlers={HTTPException: unserved},
        lifespan=lifespan,
    )
    app.router.default = late
    return app


class Late:
    """The questions: FastAPI, the views and all that computes are loaded when the page has been served.

    A question that comes before waits: two threads that load parts of the library in different orders would meet modules
    that are not whole yet.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.ready = folder, threading.Event()
        self._api: Any = None
        self._held = contextlib.ExitStack()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a question."""
        if not self.ready.is_set():
            await asyncio.to_thread(self.warm)
        await self._api(scope, receive, send)

    def warm(self) -> None:
        """Load everything, in one thread at a time."""
        with _LOADING:
            if self.ready.is_set():
                return
            from earnshaw import experiments  # noqa: F401
            from earnshaw.numerics import remember_programs
            from earnshaw.proof.processes import processes
            from earnshaw.threads import cores
            from earnshaw.web.api import create_api

            remember_programs()
            self._held.enter_context(one_blas_thread())  # for all views at once: none changes it under another
            self._api = create_api(self.folder)
            self._held.enter_context(processes(min(PROVERS, cores())))
            self.ready.set()

    def close(self) -> None:
        """End the processes, and give BLAS its threads back."""
        self._held.close()


class _Static(StaticFiles):
    def file_response(self, *given: Any, **more: Any) -> Response:
        response = super().file_response(*given, **more)
        response.headers.update(REFRESHED)
        return response


def _plotly() -> Path:
    """Return the script of the installed Plotly, which is not imported for it."""
    found = importlib.util.find_spec("plotly")
    places = [] if found is None else found.submodule_search_locations or []
    for place in places:
        if (file := Path(place) / "package_data" / "plotly.min.js").is_file():
            return file
    raise InputError(f"the explorer needs plotly, which is not installed; run\n{install_line('web')}")

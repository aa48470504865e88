"""The questions that the page asks: one router for each view, and every mistake as one sentence."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.responses import Response

from earnshaw import __version__
from earnshaw.errors import InputError
from earnshaw.web.app import VIEWS
from earnshaw.web.guards import refusal, unserved


class Asked(BaseModel):
    """The model of a request: numbers are finite, and a name that it does not know is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


def create_api(folder: Path) -> FastAPI:
    """Return the routers of all views; what they write goes into ``request.app.state.folder``."""
    api = FastAPI(title="earnshaw explore", version=__version__, docs_url=None, redoc_url=None)
    api.state.folder = folder
    for kind, handler in HANDLERS.items():
        api.add_exception_handler(kind, handler)
    for name in VIEWS:
        api.include_router(importlib.import_module(f"earnshaw.web.{name}").router)
    return api


async def _mistake(request: Request, error: Exception) -> Response:
    return refusal(422, str(error))


async def _invalid(request: Request, error: Any) -> Response:
    return refusal(422, "; ".join(_said(one) for one in error.errors()[:3]))


async def _fault(request: Request, error: Exception) -> Response:
    return refusal(500, f"the server failed ({type(error).__name__}); the terminal says where")


HANDLERS: dict[type[Exception], Any] = {
    InputError: _mistake,
    RequestValidationError: _invalid,
    HTTPException: unserved,
    Exception: _fault,
}


def _said(error: Any) -> str:
    """Return what is wrong with one value of a request, from pydantic's record of it."""
    name = ".".join(str(part) for part in error["loc"][1:]) or "the request"
    if error["type"] == "missing":
        return f"{name} is missing"
    if error["type"] == "extra_forbidden":
        return f"{name[:40]} is none of the names that can be given"
    if error["type"] == "json_invalid":
        return "the request is no JSON"
    given = repr(error.get("input"))
    shown = given if len(given) <= 40 else f"{given[:40]}..."
    said = error["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    return f"{name} = {shown} was given; {said[:1].lower()}{said[1:]}"

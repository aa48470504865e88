"""Compilation by XLA with the options that this library's shapes like."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax


@functools.cache
def _options() -> dict[str, Any]:
    """Return compiler options that this version of XLA knows for the default device.

    On a CPU, jaxlib 0.10 hands elementwise work beside a matrix product to a library kernel that is half as fast in
    float64 as XLA's own loops, for batches of small matrices; the option switches that off.
    """
    options = {"xla_cpu_experimental_ynn_fusion_type": "", "xla_cpu_multi_thread_eigen": False}
    if jax.default_backend() != "cpu":
        return {}
    try:
        jax.jit(lambda x: x + 1, compiler_options=options).lower(1.0).compile()
    except Exception:  # XLA reports an unknown option by an error whose class depends on the version
        return {}
    return options


def compiled(function: Callable[..., Any], **settings: Any) -> Callable[..., Any]:
    """Return the function jitted with :func:`_options`; settings are those of :func:`jax.jit`."""

    @functools.cache
    def jitted() -> Callable[..., Any]:
        return jax.jit(function, compiler_options=_options(), **settings)

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return jitted()(*arguments)

    return call

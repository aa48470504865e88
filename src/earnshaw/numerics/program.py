"""Methods that are one compiled program when called, and part of the caller's program when traced."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import jax
from jax.core import Tracer

from earnshaw.numerics.compiling import compiled

Function = TypeVar("Function", bound=Callable[..., Any])


def program(function: Function) -> Function:
    """Return the function compiled by :func:`~earnshaw.numerics.compiling.compiled` where it is called with numbers.

    Inside another program it is simply traced. Plain :func:`jax.jit` must not be used for sums over many rows: with its
    default options jaxlib 0.10.2 on a CPU fuses an elementwise function with a matrix product beside it wrongly for some
    shapes (16,385 rows of 5 columns and more, for instance), and the result is off in its fourth digit without a word.
    The options of ``compiled`` switch that fusion off; options, in turn, may only be given to an outermost program.
    """
    outermost = compiled(function)

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(arguments)):
            return function(*arguments)
        return outermost(*arguments)

    return cast(Function, call)

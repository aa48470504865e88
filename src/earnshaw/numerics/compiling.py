"""Compilation by XLA: with the options that this library's shapes like, once per shape, and timed."""

from __future__ import annotations

import collections
import ctypes
import functools
import hashlib
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar, cast

import jax
from jax.core import Tracer

from earnshaw.errors import InputError

Function = TypeVar("Function", bound=Callable[..., Any])

_clock = threading.local()


class _Busy:
    """How many threads compile at this moment, or wait for one that does, and for how long at least one did."""

    def __init__(self) -> None:
        self.threads, self.before, self.since, self.lock = 0, 0.0, 0.0, threading.Lock()

    def change(self, by: int) -> None:
        with self.lock:
            now = time.perf_counter()
            if self.threads:
                self.before += now - self.since
            self.threads, self.since = self.threads + by, now

    def seconds(self) -> float:
        with self.lock:
            return self.before + (time.perf_counter() - self.since if self.threads else 0.0)


_busy = _Busy()


def compiling_now() -> bool:
    """Say whether some thread is compiling."""
    return _busy.threads > 0


def compiling_seconds() -> float:
    """Return for how long some thread of this process has compiled so far."""
    return _busy.seconds()


def compilations() -> list[tuple[float, float]]:
    """Return when this thread was compiling, or waiting for another thread that did: beginnings and ends, by perf_counter."""
    if not hasattr(_clock, "spans"):
        _clock.spans = []
    return _clock.spans


def remember_programs() -> None:
    """Keep compiled programs on disk for the next process, in the user's cache folder, apart for each kind of CPU.

    For the command line: a library must not write where it was not asked to. A folder that cannot be made is no error,
    and one that the user has chosen, by ``JAX_COMPILATION_CACHE_DIR``, stays the one.
    """
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cpu = hashlib.sha256(_cpu().encode()).hexdigest()[:12]
    folder = home / "earnshaw" / f"xla-{cpu}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    if os.access(folder, os.W_OK):
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)  # less is no more than to read it


@functools.cache
def _cpu() -> str:
    """Return what the system says that this CPU can do, or at least what it is."""
    try:
        return next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags"))
    except (OSError, StopIteration):
        return platform.processor()


@functools.cache
def _options(device: str, wide: bool = False) -> dict[str, Any]:
    """Return compiler options for a device: for a CPU, those that this version of XLA knows.

    There jaxlib 0.10 hands elementwise work beside a matrix product to a library kernel that is half as fast in
    float64 as XLA's own loops, and cuts products and loops of our sizes into tasks for several threads, at more cost than
    gain. All that is switched off; several threads each run a program of their own instead. XLA uses half of the width of
    AVX-512's vectors unless told otherwise; loops that leave a remainder of less than eight are faster so, ``wide`` ones not.
    """
    if device != "cpu":
        return {}
    options = {
        "xla_cpu_experimental_ynn_fusion_type": "",
        "xla_cpu_multi_thread_eigen": False,
        "xla_disable_hlo_passes": "cpu-parallel-task-assigner",
    }
    if wide and "avx512f" in _cpu().split():
        options["xla_cpu_prefer_vector_width"] = 512
    return {name: value for name, value in options.items() if _known(name, value)}


@functools.cache
def _known(name: str, value: Any) -> bool:
    """Whether this version of XLA knows an option for the CPU."""
    try:
        with on_host():
            jax.jit(lambda x: x + 1, compiler_options={name: value}).lower(1.0).compile()
    except Exception:  # XLA reports an unknown option by an error whose class depends on the version
        return False
    return True


def backend() -> str:
    """Return what JAX computes on unless told otherwise, ``cpu`` or ``gpu``; where it can use nothing raise :class:`InputError`."""
    try:
        return jax.default_backend()
    except (AssertionError, RuntimeError) as error:
        named, why = os.environ.get("JAX_PLATFORMS"), f" ({error})" if str(error) else ""
        raise InputError(
            f"JAX can use none of the devices that JAX_PLATFORMS={named} names{why}; unset that, or compute with --device cpu"
        ) from None


def compute_on(device: str) -> None:
    """Have this process compute on the ``cpu`` or the ``gpu``: to be asked before JAX has computed anything."""
    if device not in ("cpu", "gpu"):
        raise InputError(f"the device is {device!r}; choose cpu or gpu")
    if device == "cpu":
        jax.config.update("jax_platforms", "cpu")  # no effect once JAX has begun
    if device == "gpu" and backend() == "cpu":
        raise InputError("the device gpu was asked for, but JAX sees a CPU alone; install a JAX that knows your GPU")
    if device == "cpu" and backend() != "cpu":
        raise InputError("the device cpu was asked for, but JAX has begun on another; ask before anything is computed")


@contextmanager
def on_host() -> Iterator[None]:
    """Compute on the CPU what is asked for one point at a time, also where the default device is another, which would wait."""
    with nullcontext() if backend() == "cpu" else jax.default_device(jax.local_devices(backend="cpu")[0]):
        yield


def computing_on() -> str:
    """Return where this thread computes now: on the ``cpu``, as it does inside :func:`on_host`, or the ``gpu``."""
    chosen = jax.config.jax_default_device  # type: ignore[attr-defined]
    return backend() if chosen is None else chosen if isinstance(chosen, str) else chosen.platform


def compiled(function: Callable[..., Any], wide: bool = False, **settings: Any) -> Callable[..., Any]:
    """Return the function jitted with the options above; settings are those of :func:`jax.jit`.

    ``wide`` is for one whose loops fill vectors of any width. The first call for a shape holds a lock, so that two threads
    never compile the same program.
    """
    seen: set[Any] = set()
    locks: collections.defaultdict[Any, threading.Lock] = collections.defaultdict(threading.Lock)

    @functools.cache
    def jitted(device: str) -> Callable[..., Any]:
        return jax.jit(function, compiler_options=_options(device, wide), **settings)

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        leaves, tree = jax.tree.flatten(arguments)
        device = computing_on()
        key = (device, tree, tuple(getattr(leaf, "shape", leaf) for leaf in leaves))
        if key in seen:
            return jitted(device)(*arguments)
        begin = time.perf_counter()
        _busy.change(1)
        try:
            with locks[key]:
                result = jax.block_until_ready(jitted(device)(*arguments))
        finally:
            _busy.change(-1)
        seen.add(key)
        _trim()(0)
        compilations().append((begin, time.perf_counter()))
        return result

    return call


@functools.cache
def _trim() -> Callable[[int], int]:
    """Return what gives memory back to the system that compilation has freed: glibc would keep hundreds of megabytes."""
    try:
        return ctypes.CDLL("libc.so.6").malloc_trim
    except (OSError, AttributeError):  # another library, which keeps less
        return lambda _: 0


def program(function: Function) -> Function:
    """Return the function as one program of its own, by :func:`compiled`, where it is called with numbers.

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

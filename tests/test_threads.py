from threadpoolctl import threadpool_info, threadpool_limits

from earnshaw.threads import one_blas_thread


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_blas_has_one_thread_inside_and_what_it_had_outside():
    import numpy  # noqa: F401

    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_the_cores_are_those_that_this_process_may_use():
    import os

    from earnshaw.threads import cores

    assert 1 <= cores() <= (os.cpu_count() or 1)
    if not hasattr(os, "sched_setaffinity"):
        return
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)

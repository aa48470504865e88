"""The best of four signs for convolutional networks of any sizes, which share one block in five coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import numpy as np
from numpy.typing import NDArray

from earnshaw.descent import GradientDescent, Lanes, Stopping, run_lanes
from earnshaw.descent.judges.barrier import BarrierJudge, check_step
from earnshaw.landscapes.convnet import ConvNetLandscape
from earnshaw.landscapes.convnet_lanes import reduce_arrays
from earnshaw.problems import ConvNet
from earnshaw.starts import SphereAndBall, sign_flips
from earnshaw.threads import one_blas_thread


def best_of_four(problems: Sequence[ConvNet], seed: int = 0, step: float = 0.1) -> NDArray[np.int8]:
    """Return the outcome code of the best of the four signs of a random start, for each problem; p and k may differ."""
    reduced, points = [], []
    for problem, start in zip(problems, SphereAndBall().draw_many(problems, seed), strict=True):
        check_step(step, problem.patches, math.sqrt(problem.scale))
        teacher = problem.filter, problem.output_weights, np.ones(problem.patches)
        small, five, _ = reduce_arrays(*teacher, sign_flips(start[None], problem.filter_size)[:, 0])
        reduced.append(small)
        points.append(five)
    together = ConvNetLandscape(*jax.device_put([np.concatenate(leaves) for leaves in zip(*reduced, strict=True)]))
    descent, starts = GradientDescent(step=step), np.concatenate(points)
    judge, indices = BarrierJudge.of(together, descent, Stopping()), np.arange(len(starts))
    batch = problems[0].batch
    work = Lanes(landscape=together, descent=descent, judge=judge, starts=starts, indices=indices, batch=batch)
    with one_blas_thread():
        ledger, _ = run_lanes(work)
    best = np.argmin(np.where(np.isfinite(ledger.value), ledger.value, np.inf).reshape(-1, 4), axis=1)
    return ledger.outcome.reshape(-1, 4)[np.arange(len(problems)), best]

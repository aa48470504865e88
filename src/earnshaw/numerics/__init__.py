"""Numbers: float64 switched on, angles that are right at their edges, quadrature, tolerances and random keys."""

import jax

jax.config.update("jax_enable_x64", True)

from earnshaw.numerics.angles import arcsine, sine_and_supplement  # noqa: E402
from earnshaw.numerics.compiling import (  # noqa: E402
    backend,
    compilations,
    compiled,
    compute_on,
    computing_on,
    on_host,
    remember_programs,
)
from earnshaw.numerics.keys import lane_keys, lane_normals  # noqa: E402
from earnshaw.numerics.quadrature import bivariate_gaussian_mean  # noqa: E402
from earnshaw.numerics.statistics import (  # noqa: E402
    agreeing_proportions,
    percentage,
    proportion_interval,
    two_proportions,
)
from earnshaw.numerics.tolerances import TOLERANCES, Tolerances  # noqa: E402

__all__ = [
    "TOLERANCES",
    "Tolerances",
    "backend",
    "compilations",
    "compiled",
    "compute_on",
    "computing_on",
    "lane_keys",
    "lane_normals",
    "on_host",
]
__all__ += ["arcsine", "bivariate_gaussian_mean", "remember_programs", "sine_and_supplement"]
__all__ += ["agreeing_proportions", "percentage", "proportion_interval", "two_proportions"]

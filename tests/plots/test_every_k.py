"""The figure of a family along k: what it says, and that it is drawn."""

import numpy as np

from earnshaw.plots import course_figure
from earnshaw.proof import Course, EveryKClaim


def test_the_figure_names_families_and_ends_at_infinity(tmp_path):
    h = np.array([6**-0.5, 7**-0.5, 0.1, 0.01])
    claim = EveryKClaim(0.01, 0.05, 0.1, 0.3)
    courses = [Course(name, 6, 8, h, 0.1 - 0.2 * h, 0.3 - 0.4 * h, claim) for name in ("II", "A")]
    course_figure(courses, tmp_path / "course")
    text = (tmp_path / "course.svg").read_text()
    for label in (
        "Family II: loss, for every k from 6 on",
        "Family A: smallest eigenvalue",
        "∞",
        "all real k from 8 on",
    ):
        assert f"<!-- {label}" in text
    assert (tmp_path / "course.png").stat().st_size > 10_000

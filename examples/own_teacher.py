"""Learn a teacher of your own: three neurons in the plane, one of them longer and one with output weight -1."""

from __future__ import annotations

import numpy as np

import earnshaw as es

TEACHER = np.array([[2.0, 0.0], [0.5, 1.0], [-0.6, 0.8]])


def main() -> None:
    """Try two, three and four students; then a teacher with a negative output weight."""
    for students in (2, 3, 4):
        problem = es.TwoLayer(TEACHER, students=students)
        runs = es.sweep(problem, runs=20, seed=0, max_steps=5_000)
        least = runs.value.min()
        print(
            f"n = {students}: realisable {problem.is_realisable!s:<5}  outcomes {runs.outcomes}  smallest loss {least:.2e}"
        )

    signs = np.array([1.0, 1.0, -1.0])
    problem = es.TwoLayer(TEACHER, output_weights=signs, student_output_weights=signs)
    runs = es.sweep(problem, runs=20, seed=0, max_steps=5_000)
    print(f"output weights {signs.tolist()} on both sides: {runs.outcomes}")


if __name__ == "__main__":
    main()

"""Run gradient descent from 200 random starts with eight neurons, and list the distinct minima it ends at."""

from __future__ import annotations

import numpy as np

import earnshaw as es


def main() -> None:
    """Sweep, group, and print one line per family."""
    problem = es.TwoLayer(teacher=np.eye(8))
    runs = es.sweep(problem, runs=200, seed=0)
    print(f"{len(runs)} runs: {runs.outcomes}")
    for name in runs.outcomes:
        print(f"  {name}: {es.Outcome[name].value}")
    for index, family in enumerate(es.families(runs.spurious)):
        print(
            f"family {index}: {family.count} runs, F = {family.objective:.10f}, smallest eigenvalue {family.min_eigenvalue:.6f}"
        )
        print(np.array2string(family.weights, precision=4, suppress_small=True))


if __name__ == "__main__":
    main()

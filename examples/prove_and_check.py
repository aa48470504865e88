"""Prove that the printed minimum of Safran & Shamir (2018) with six neurons exists, and check the certificates."""

from __future__ import annotations

import tempfile

import numpy as np

import earnshaw as es


def printed_minimum() -> np.ndarray:
    """Return Example 1 of the paper: four digits are enough, because the point is polished before it is proved."""
    weights = np.full((6, 6), -0.0504)
    np.fill_diagonal(weights, 0.9867)
    weights[0, 1:], weights[1:, 0], weights[0, 0] = 0.2245, 0.3080, -0.6015
    return weights


def main() -> None:
    """Prove, save, check, explain; then ask for something that cannot be proved."""
    problem = es.TwoLayer(teacher=np.eye(6))
    proof = es.prove(problem, printed_minimum())
    print(f"{proof.verdict.name}: {proof.reason}")
    print(f"  {proof.words}")
    print(f"  the point moved by {proof.moved:.1e} before it was proved")

    with tempfile.TemporaryDirectory() as folder:
        paths = proof.save_all(folder, "k6")
        for kind, path in paths.items():
            result = es.check(path)
            print(f"{kind}: {'VERIFIED' if result.verified else 'REJECTED'} in {result.seconds:.2f} s")
        print(es.explain(paths["robust"]).words)

    nothing = es.prove(problem, np.eye(6))
    print(f"at the global minimum: {nothing.verdict.name}: {nothing.reason}")


if __name__ == "__main__":
    main()

"""Panigrahy, Rahimi, Sachdeva & Zhang (2018), Convergence results for neural networks via electrostatics."""

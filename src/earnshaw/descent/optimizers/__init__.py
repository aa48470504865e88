"""Algorithms that take steps: one file each, and how they are named."""

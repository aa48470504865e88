"""Deep tanh networks on fresh Gaussian inputs: weights, outputs, and the error of a student against a teacher."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from earnshaw.problems import DeepTanh

Weights = tuple[jax.Array, ...]  # one matrix a layer, neurons as rows


def random_weights(network: DeepTanh, key: jax.Array, balanced: bool = False) -> Weights:
    """Return weights from N(0, 1), or from N(0, 1/inputs) where ``balanced``."""
    numbers = jax.random.normal(key, (sum(rows * columns for rows, columns in network.layers),))
    weights, begin = [], 0
    for rows, columns in network.layers:
        matrix = numbers[begin : begin + rows * columns].reshape(rows, columns)
        weights.append((matrix / math.sqrt(columns) if balanced else matrix).astype(network.dtype))
        begin += rows * columns
    return tuple(weights)


def output(weights: Weights, inputs: jax.Array) -> jax.Array:
    """Return the network's outputs (samples,) at inputs (samples, d)."""
    signal = inputs
    for matrix in weights:
        signal = jnp.tanh(signal @ matrix.T)
    return signal[:, 0]


def error(weights: Weights, teacher: Weights, inputs: jax.Array) -> jax.Array:
    """Return the mean squared error of a student against a teacher on inputs."""
    return jnp.mean((output(weights, inputs) - output(teacher, inputs)) ** 2)

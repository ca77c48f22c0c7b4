"""A network with one hidden layer and square activations under BGV. It evaluates thousands of images at once.

Each pixel is one ciphertext with one image in each slot. Weights are small public integers, and the only product of
ciphertexts is the square. The client decrypts ten scores of each image and takes the largest.
"""

from typing import Any

import numpy as np

import solinas as sl

PARAMS = "wide128-8192-2"  # 8192 slots modulo a prime of 30 bits, 2 products in sequence
MODULUS = 1073479681
HIDDEN = 16
FIRST, SECOND = 15, 127  # the largest weights of the two layers
ROUNDS, BATCHES, RATE = 150, 20, 0.005
Residue = sl.mod(MODULUS)


def encode(images: np.ndarray) -> np.ndarray:
    """Return the pixels from 0 to 4. A pixel of the data is from 0 to 16."""
    return (images // 4).astype(np.int64)


def trained(pixels: np.ndarray, labels: np.ndarray) -> list[np.ndarray]:
    """Return weights and constants of both layers, by gradient descent with Adam's steps on the cross entropy."""
    draw = np.random.default_rng(0)
    layers = [draw.normal(0, 0.1, (64, HIDDEN)), np.zeros(HIDDEN), draw.normal(0, 0.1, (HIDDEN, 10)), np.zeros(10)]
    mean, variance = [[np.zeros_like(layer) for layer in layers] for _ in range(2)]
    target = np.eye(10)[labels]
    step = 0
    for _ in range(ROUNDS):
        for batch in np.array_split(draw.permutation(len(pixels)), BATCHES):
            x = pixels[batch]
            inner = x @ layers[0] + layers[1]
            outer = inner**2 @ layers[2] + layers[3]
            share = np.exp(outer - outer.max(axis=1, keepdims=True))
            error = (share / share.sum(axis=1, keepdims=True) - target[batch]) / len(batch)
            inner_error = error @ layers[2].T * 2 * inner
            slopes = [
                x.T @ inner_error + 1e-3 * layers[0],
                inner_error.sum(axis=0),
                (inner**2).T @ error + 1e-4 * layers[2],
                error.sum(axis=0),
            ]
            step += 1
            for i, slope in enumerate(slopes):
                mean[i] = 0.9 * mean[i] + 0.1 * slope
                variance[i] = 0.999 * variance[i] + 0.001 * slope**2
                rate = RATE / (1 - 0.9**step)
                layers[i] -= rate * mean[i] / (np.sqrt(variance[i] / (1 - 0.999**step)) + 1e-8)
    return layers


class Squares:
    """The trained network, with integers as weights."""

    def __init__(self, images: np.ndarray, labels: np.ndarray) -> None:
        first, first_base, second, second_base = trained(encode(images), labels)
        scale = FIRST / np.abs(first).max()
        out_scale = SECOND / np.abs(second).max()
        self.first, self.first_base = np.rint(scale * first).astype(int), np.rint(scale * first_base).astype(int)
        self.second = np.rint(out_scale * second).astype(int)
        self.second_base = np.rint(out_scale * scale**2 * second_base).astype(int)
        # The largest score of any image must not wrap modulo the prime.
        inner = 4 * np.abs(self.first).sum(axis=0) + np.abs(self.first_base)
        largest = int((inner**2 @ np.abs(self.second) + np.abs(self.second_base)).max())
        if largest > MODULUS // 2:
            raise ValueError(f"a score may be {largest}, which is above {MODULUS // 2}: lower FIRST or SECOND")

    def scores(self, pixels: np.ndarray) -> np.ndarray:
        """Return the scores of plain pixels. Shape: images, 10."""
        return (pixels @ self.first + self.first_base) ** 2 @ self.second + self.second_base

    def evaluate(self, pixels: list[Any]) -> list[Any]:
        """Record the scores of encrypted images. `pixels` has one encrypted column for each pixel."""
        inner = [dense(pixels, weights, base) for weights, base in zip(self.first.T, self.first_base, strict=True)]
        squares = [value * value for value in inner]
        return [dense(squares, weights, base) for weights, base in zip(self.second.T, self.second_base, strict=True)]


def dense(values: list[Any], weights: np.ndarray, base: int) -> Any:
    """Return the sum of the values times public weights, plus a public number."""
    terms = [value * int(weight) for value, weight in zip(values, weights, strict=True) if weight]
    return sum(terms[1:], terms[0]) + int(base)


def signed(residues: np.ndarray) -> np.ndarray:
    """Return the integers that residues stand for: those above half of the modulus are negative."""
    return np.where(residues > MODULUS // 2, residues.astype(np.int64) - MODULUS, residues)

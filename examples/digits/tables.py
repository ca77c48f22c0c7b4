"""A network of truth tables under TFHE: each neuron reads two pixels, and each class adds up one table of each neuron.

A pixel has two bits, so two neighbours in a row make an index of four bits. One bootstrap looks the index up in the
tables of all ten classes. The client decrypts ten scores and takes the largest.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import solinas as sl

TABLE_BITS = 3
LEFT = np.array([8 * row + column for row in range(8) for column in range(7)])
U2, U4 = sl.uint(2), sl.uint(4)


def encode(images: np.ndarray) -> np.ndarray:
    """Return the pixels in two bits. A pixel of the data is from 0 to 16."""
    return np.minimum(images // 4.25, 3).astype(np.uint8)


def indices(pixels: np.ndarray) -> np.ndarray:
    """Return the index of each pair of neighbours, from 0 to 15."""
    return 4 * pixels[:, LEFT] + pixels[:, LEFT + 1]


class Tables:
    """The trained network: `tables[k, g]` is the table of class k and pair g, `base[k]` the constant of class k."""

    def __init__(self, images: np.ndarray, labels: np.ndarray) -> None:
        chosen = np.eye(16, dtype=np.float32)[indices(encode(images))].reshape(len(images), -1)
        fitted = LogisticRegression(C=0.05, max_iter=300).fit(chosen, labels)
        weights = fitted.coef_.reshape(10, len(LEFT), 16)
        least = weights.min(axis=2, keepdims=True)
        step = (weights - least).max() / (2**TABLE_BITS - 1)
        self.tables = np.rint((weights - least) / step).astype(int)
        base = np.rint((fitted.intercept_ + least.sum(axis=(1, 2))) / step).astype(int)
        self.base = base - base.min()

    def scores(self, pixels: np.ndarray) -> np.ndarray:
        """Return the scores of plain pixels. Shape: images, 10."""
        found = indices(pixels)
        return self.base + np.array([[t[range(len(LEFT)), row].sum() for t in self.tables] for row in found])

    def program(self) -> sl.Program:
        """Return the program that computes the ten scores of one encrypted image."""
        largest = int((self.base + self.tables.max(axis=2).sum(axis=1)).max())
        score, entry = sl.uint(largest.bit_length()), sl.uint(TABLE_BITS)

        def evaluate(pixels: Any) -> Any:
            pairs = [pixels[int(i)].cast(U4) * 4 + pixels[int(i) + 1].cast(U4) for i in LEFT]
            classes = []
            for tables, base in zip(self.tables.tolist(), self.base.tolist(), strict=True):
                terms = [sl.lookup(table, pair, entry).cast(score) for table, pair in zip(tables, pairs, strict=True)]
                classes.append(sl.Array(terms).sum() + base)
            return tuple(classes)

        evaluate.__annotations__ = {"pixels": sl.Array[U2, 64], "return": tuple[(score,) * 10]}
        return sl.program(evaluate)

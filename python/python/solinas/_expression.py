"""Expressions: operations that are recorded. The core holds them, and makes programs of them."""

from __future__ import annotations

from collections.abc import Sequence

from solinas import _core
from solinas._core import Expr
from solinas._errors import ShapeError, TypeMismatchError
from solinas._shapes import Shape, broadcast_indices


def take(expr: Expr, indices: list[int], shape: Shape) -> Expr:
    """Return the elements of an array at these flat indices as an array of this shape, or a scalar for shape `()`."""
    taken = expr.take(indices, shape)
    if taken is None:
        raise TypeMismatchError(
            f"an array of {expr.type} has no separate elements, because they share ciphertexts. The whole array has "
            "x.sum(), x.dot(vector) and x.rotate(by): encrypt each row by itself for sums along an axis, as in "
            "[row.sum() for row in rows], and for products, as in [x.dot(row) for row in matrix], or use scheme tfhe"
        )
    return taken


def broadcast_to(expr: Expr, shape: Shape | None) -> Expr:
    """Broadcast an array to a shape. A scalar stays, since it goes with every element.

    Raises ShapeError if the elements of the array share ciphertexts.
    """
    own = expr.shape
    if shape is None or own is None or own == shape:
        return expr
    if expr.type.startswith("mod") and not expr.is_public:
        raise ShapeError(
            f"an array of {expr.type} of shape {own} cannot be broadcast to {shape}: its elements share "
            "ciphertexts; encrypt an array of that shape, or a single value"
        )
    return take(expr, broadcast_indices(own, shape), shape)


def record(roots: Sequence[Expr]) -> tuple[list[_core.Input], _core.Program]:
    """Return the inputs of the program that computes these expressions, and the program."""
    return Expr.freeze([], roots, [f"y{i + 1}" for i in range(len(roots))])

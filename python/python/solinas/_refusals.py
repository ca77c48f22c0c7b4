"""Errors of numpy's functions: what to use instead of a function that is not supported."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

from solinas._errors import SolinasError, TypeMismatchError

DIVISION = (
    ": it takes integers and a public divisor without zeros, as division by zero differs. Write x.floor_div(y) and "
    "x.floor_mod(y), which round down as numpy does, or x // y and x % y, which truncate toward zero"
)
REMEDIES = {
    "floor_divide": DIVISION,
    "remainder": DIVISION,
    "divmod": DIVISION,
    "fmod": DIVISION,
    "logical_and": ": use & of bools; compare integers first, as in x != 0",
    "logical_or": ": use | of bools; compare integers first, as in x != 0",
    "sqrt": ": values are integers; sl.isqrt rounds down, and sl.lookup takes any function of at most 8 bits",
}
# What to use instead of functions of numpy that are not supported.
INSTEAD = {
    "mean": "divide the sum by the number of elements after decryption",
    "average": "divide a sum of products, as in x.dot(weights), after decryption",
    "var": "decrypt the sums x.sum() and x.dot(x), and compute the variance from them",
    "std": "decrypt the sums x.sum() and x.dot(x), and compute the deviation from them",
    "cov": "decrypt sums of products, as in x @ y, and compute the covariance from them",
    "percentile": "take an element of sl.sort(x), or sl.median(x)",
    "quantile": "take an element of sl.sort(x), or sl.median(x)",
    "ptp": "subtract, as in x.max() - x.min()",
    "partition": "sl.sort(x) sorts all elements, and sl.top_k(x, k) the largest",
    "argpartition": "sl.argsort(x) sorts all elements",
    "round": "numpy.rint rounds fixed-point numbers",
    "around": "numpy.rint rounds fixed-point numbers",
    "fix": "numpy.trunc rounds fixed-point numbers",
    "einsum": "numpy.dot, numpy.matmul and numpy.outer do",
    "tensordot": "numpy.dot, numpy.matmul and numpy.outer do",
    "kron": "numpy.outer does",
    "cumprod": "numpy.cumsum does, and a loop multiplies",
    "isin": "compare with each value, as in (x == 1) | (x == 2)",
    "nonzero": "the places stay secret: compare, as in x != 0, and select by the bools",
    "argwhere": "the places stay secret: compare, as in x != 0, and select by the bools",
    "flatnonzero": "the places stay secret: compare, as in x != 0, and select by the bools",
    "unique": "the number of values stays secret: sort the array, and compare neighbours",
    "array_equal": "compare the elements, as in (x == y).all()",
    "allclose": "compare the elements, as in (x == y).all()",
    "sign": "compare, as in sl.select(x < 0, -1, (x > 0).cast(sl.I8))",
    "pad": "numpy.concatenate does, with arrays of one kind",
    "insert": "numpy.concatenate does, with arrays of one kind",
    "resize": "numpy.reshape and numpy.tile do",
}


def instead(name: str, known: Set[str]) -> str:
    """Return the end of a message, which names what to use instead of a function of numpy.

    `known` are the names of those that are supported.
    """
    other = name.removeprefix("nan")
    if other in known - {name}:
        remedy = f"numpy.{other} does, as encrypted values are never NaN"
    else:
        remedy = INSTEAD.get(other, "sum, dot, where and max do, and sl.lookup takes any function of at most 8 bits")
    return f": {remedy}. Use the methods of arrays, or decrypt first, as in client.decrypt(x)"


def answered(what: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function. An error of Python becomes one of this package."""
    try:
        return function(*args, **kwargs)
    except (SolinasError, NotImplementedError):
        raise
    except (TypeError, ValueError, IndexError) as error:
        raise TypeMismatchError(f"{what} does not take these arguments: {error}") from None

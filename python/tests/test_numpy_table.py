"""Every function of numpy that this package answers to: the result of numpy, or an error.

A call runs three times: on plain values, on the parameters of a program, and on recorded arrays, whose program is
evaluated in the clear here. numpy itself computes what is expected, with values and dtype. Where numpy raises an error,
so must this package. `pytest -s` prints the table.
"""

import collections
import itertools
import operator
import warnings

import numpy as np
import pytest

import solinas as sl
from solinas import _numpy
from solinas._core import Expr, stored
from solinas._data import decode
from solinas._expression import record

DTYPES = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
FEW = ["bool", "uint8", "int16"]
# Shapes of few elements, and the lengths around that from which a row is combined in levels.
SHAPES = [(), (1,), (5,), (2, 1, 3)]
LONG = [(255,), (256,), (257,), (1000,), (300, 2)]


def kind_of(values):
    return sl._types.type_named("bool" if values.dtype == bool else f"{values.dtype.kind}{8 * values.dtype.itemsize}")


def bits_of(values):
    kind = kind_of(values)
    return [kind.encode(int(value)) for value in values.ravel().tolist()]


class PlainWorld:
    """Plain values of this package."""

    def array(self, values):
        items = [kind_of(values)._make(bits) for bits in bits_of(values)]
        return items[0] if values.ndim == 0 else sl.Array(items).reshape(values.shape)

    def reveal(self, result):
        items = result._elements() if isinstance(result, sl.Array) else [result]
        shape = result.shape if isinstance(result, sl.Array) else ()
        return np.asarray(decode(type(items[0]), shape, [item._data for item in items]))


class ProgramWorld:
    """The parameters of a program."""

    def __init__(self):
        self.bits, self.inputs = [], []

    def array(self, values):
        kind = kind_of(values)
        self.bits += bits_of(values)
        exprs = [Expr.parameter(f"x{len(self.inputs) + i}", kind.name) for i in range(values.size)]
        self.inputs += exprs
        items = [kind._make(expr, "x") for expr in exprs]
        return items[0] if values.ndim == 0 else sl.Array(items).reshape(values.shape)

    def reveal(self, result):
        items = result._elements() if isinstance(result, sl.Array) else [result]
        shape = result.shape if isinstance(result, sl.Array) else ()
        outputs = [item._expr for item in items]
        _, program = Expr.freeze(self.inputs, outputs, [f"y{i}" for i in range(len(outputs))])
        outputs = [bits for _, (bits,) in program.evaluate([[bits] for bits in self.bits], [[] for _ in self.bits])]
        return np.asarray(decode(type(items[0]), shape, outputs))


class EncryptedWorld:
    """Recorded values and arrays, as results of encrypted ones are, whose program is evaluated in the clear."""

    def array(self, values):
        kind = kind_of(values)
        public = Expr.public(bits_of(values), kind.name, values.shape)
        return sl.Ciphertext._of_expr(Expr.operation("cast", [public], kind.name))

    def reveal(self, result):
        assert not getattr(result, "is_plain", False), f"{result!r} is plain"
        inputs, program = record([result._data])
        plain = [item.public for item in inputs]
        ((shape, bits),) = program.evaluate([bits for _, bits in plain], [shape for shape, _ in plain])
        kind = type(result) if isinstance(result, sl.Value) else result.type
        assert [("y1", stored(kind.name))] == program.outputs
        return np.asarray(decode(kind, tuple(shape), bits))


WORLDS = {"plain": PlainWorld, "program": ProgramWorld, "encrypted": EncryptedWorld}


# The calls. `x` and `y` are arrays of this package, and `p` is the public array with the values of `y`.


def ufunc(name, *more):
    """Calls of a ufunc of two operands, with every kind of operand on either side."""
    f = getattr(np, name)
    return {
        name: [
            lambda x, y, p: f(x, y),
            lambda x, y, p: f(x, p),
            lambda x, y, p: f(p, x),
            lambda x, y, p: f(x, 3),
            lambda x, y, p: f(3, x),
            lambda x, y, p: f(x, p.astype(np.uint16)),
            lambda x, y, p: f(p.astype(np.uint16), x),
            lambda x, y, p: f(x, p.astype(np.int64)),
            lambda x, y, p: f(p.astype(np.int64), x),
            lambda x, y, p: f(p.tolist(), x),
            lambda x, y, p: f(x, p.astype(np.float64)),
            lambda x, y, p: f(x, y[:1]),
            lambda x, y, p: f(p[..., :1], x),
            lambda x, y, p: f(x, p, dtype=np.uint16),
            lambda x, y, p: f(x, p, where=True),
            lambda x, y, p: f.outer(x, p),
            lambda x, y, p: f.outer(p, x),
            lambda x, y, p: f.reduce(x),
            lambda x, y, p: f.reduce(x, axis=None),
            lambda x, y, p: f.reduce(x, axis=-1, keepdims=True),
            lambda x, y, p: f.accumulate(x),
            *more,
        ]
    }


def f(name, *forms):
    """Calls of a function: each form takes the function and the operands."""
    function = getattr(np, name)
    return {name: [lambda x, y, p, form=form: form(function, x, y, p) for form in forms]}


AXES = [
    lambda f, x, y, p: f(x),
    lambda f, x, y, p: f(x, axis=None),
    lambda f, x, y, p: f(x, None),
    lambda f, x, y, p: f(x, axis=0),
    lambda f, x, y, p: f(x, axis=-1),
    lambda f, x, y, p: f(x, 1),
    lambda f, x, y, p: f(x, axis=np.int64(0)),
    lambda f, x, y, p: f(x, axis=7),
    lambda f, x, y, p: f(x, axis="a"),
    lambda f, x, y, p: f(x, axis=1.0),
    lambda f, x, y, p: f(x, axis=True),
    lambda f, x, y, p: f(x, axis=(0, 1)),
]
REDUCE = [
    *AXES,
    lambda f, x, y, p: f(x, axis=(0, 0)),
    lambda f, x, y, p: f(x, axis=()),
    lambda f, x, y, p: f(x, keepdims=True),
    lambda f, x, y, p: f(x, axis=0, keepdims=True),
    lambda f, x, y, p: f(x, axis=None, keepdims=False),
    lambda f, x, y, p: f(x, axis=None, out=None),
    lambda f, x, y, p: f(x, where=p > 3),
    lambda f, x, y, p: f(x, initial=3),
    lambda f, x, y, p: f(x, dtype=np.uint8),
    lambda f, x, y, p: f(x, dtype=None),
    lambda f, x, y, p: f(x > 3),
    lambda f, x, y, p: f(x > 3, axis=0),
]
ONE = [lambda f, x, y, p: f(x), lambda f, x, y, p: f(x, where=True), lambda f, x, y, p: f(x, dtype=np.uint8)]
PRODUCT = [
    lambda f, x, y, p: f(x, y),
    lambda f, x, y, p: f(x, p),
    lambda f, x, y, p: f(p, x),
    lambda f, x, y, p: f(x, y.T),
    lambda f, x, y, p: f(x.T, p),
    lambda f, x, y, p: f(p.T, x),
    lambda f, x, y, p: f(x[0], y[0]),
    lambda f, x, y, p: f(x, y[0]),
    lambda f, x, y, p: f(p[0], x.T),
    lambda f, x, y, p: f(x, 100),
    lambda f, x, y, p: f(100, x),
    lambda f, x, y, p: f(x, p.tolist()),
    lambda f, x, y, p: f(x, p.astype(np.int64)),
    lambda f, x, y, p: f(x, np.uint16(300)),
]
MOVES = {
    **f("reshape", lambda f, x, y, p: f(x, -1), lambda f, x, y, p: f(x, (3, 2), order="F"),
        lambda f, x, y, p: f(x.T, -1, order="A"), lambda f, x, y, p: f(x, (7, 7)), lambda f, x, y, p: f(x, (3, -1))),
    **f("ravel", lambda f, x, y, p: f(x), lambda f, x, y, p: f(x, order="F"), lambda f, x, y, p: f(x.T, order="K"),
        lambda f, x, y, p: f(x.T, "A"), lambda f, x, y, p: f(x.T, order=None)),
    **f("transpose", lambda f, x, y, p: f(x), lambda f, x, y, p: f(x, (1, 0)), lambda f, x, y, p: f(x, axes=None),
        lambda f, x, y, p: f(x, (0, 0))),
    **f("permute_dims", lambda f, x, y, p: f(x, (1, 0)), lambda f, x, y, p: f(x)),
    **f("matrix_transpose", lambda f, x, y, p: f(x)),
    **f("moveaxis", lambda f, x, y, p: f(x, 0, -1), lambda f, x, y, p: f(x, 5, 0)),
    **f("rollaxis", lambda f, x, y, p: f(x, 1), lambda f, x, y, p: f(x, 0, 2)),
    **f("swapaxes", lambda f, x, y, p: f(x, 0, -1), lambda f, x, y, p: f(x, 0, 4)),
    **f("squeeze", lambda f, x, y, p: f(x), lambda f, x, y, p: f(x, axis=None), lambda f, x, y, p: f(x, axis=0)),
    **f("expand_dims", lambda f, x, y, p: f(x, 0), lambda f, x, y, p: f(x, (0, -1)), lambda f, x, y, p: f(x, None)),
    **f("broadcast_to", lambda f, x, y, p: f(x, (4, 2, 3)), lambda f, x, y, p: f(x, (4,)),
        lambda f, x, y, p: f(x, (2, 3), subok=True)),
    **f("broadcast_arrays", lambda f, x, y, p: f(x, y[:1]), lambda f, x, y, p: f(x, p)),
    **f("repeat", lambda f, x, y, p: f(x, 2), lambda f, x, y, p: f(x, 2, axis=0), lambda f, x, y, p: f(x, 2, axis=None),
        lambda f, x, y, p: f(x, [1, 2], axis=0), lambda f, x, y, p: f(x, 0), lambda f, x, y, p: f(x, -1)),
    **f("tile", lambda f, x, y, p: f(x, 2), lambda f, x, y, p: f(x, (2, 1, 2))),
    **f("flip", lambda f, x, y, p: f(x), lambda f, x, y, p: f(x, axis=None), lambda f, x, y, p: f(x, 0),
        lambda f, x, y, p: f(x, (0, 1))),
    **f("fliplr", lambda f, x, y, p: f(x)), **f("flipud", lambda f, x, y, p: f(x)),
    **f("roll", lambda f, x, y, p: f(x, 1), lambda f, x, y, p: f(x, -2, axis=0), lambda f, x, y, p: f(x, 1, axis=None),
        lambda f, x, y, p: f(x, (1, 2), axis=(0, 1)), lambda f, x, y, p: f(x, 1, axis=9)),
    **f("rot90", lambda f, x, y, p: f(x), lambda f, x, y, p: f(x, 2), lambda f, x, y, p: f(x, k=3, axes=(1, 0))),
    **f("take", lambda f, x, y, p: f(x, [0, 0]), lambda f, x, y, p: f(x, [[0]], axis=0), lambda f, x, y, p: f(x, 0),
        lambda f, x, y, p: f(x, [-1], axis=None), lambda f, x, y, p: f(x, [9], mode="wrap"),
        lambda f, x, y, p: f(x, [900]), lambda f, x, y, p: f(x, y), lambda f, x, y, p: f(p, x),
        lambda f, x, y, p: f(x, [0], None, np.zeros(1, p.dtype))),
    **f("take_along_axis", lambda f, x, y, p: f(x, np.argsort(p, axis=-1), -1),
        lambda f, x, y, p: f(x, np.arange(x.size), axis=None), lambda f, x, y, p: f(x, y, 0)),
    **f("diagonal", lambda f, x, y, p: f(x), lambda f, x, y, p: f(x, 1), lambda f, x, y, p: f(x, 0, 1, 0)),
    **f("delete", lambda f, x, y, p: f(x, 0), lambda f, x, y, p: f(x, 0, axis=0), lambda f, x, y, p: f(x, [0], None),
        lambda f, x, y, p: f(x, slice(0, 1), axis=-1), lambda f, x, y, p: f(x, 99)),
    **f("array_split", lambda f, x, y, p: f(x, 2), lambda f, x, y, p: f(x, 2, axis=-1)),
    **f("split", lambda f, x, y, p: f(x, 2), lambda f, x, y, p: f(x, [1], axis=-1), lambda f, x, y, p: f(x, 9)),
    **f("hsplit", lambda f, x, y, p: f(x, [1])), **f("vsplit", lambda f, x, y, p: f(x, 2)),
    **f("dsplit", lambda f, x, y, p: f(x, 3)),
    **f("unstack", lambda f, x, y, p: f(x), lambda f, x, y, p: f(x, axis=-1)),
    **{name: calls for each in ("concatenate", "concat", "stack") for name, calls in f(each,
        lambda f, x, y, p: f((x, y)), lambda f, x, y, p: f([x, y, x], axis=-1), lambda f, x, y, p: f((x, p)),
        lambda f, x, y, p: f((x, y), axis=None), lambda f, x, y, p: f((x, y), axis=5),
        lambda f, x, y, p: f((x, y), dtype=np.int8, casting="unsafe"), lambda f, x, y, p: f((x, x > 3)),
        lambda f, x, y, p: f((x, y), 0, np.zeros(np.shape(f((p, p))), np.int64)), lambda f, x, y, p: f((x,))).items()},
    **{name: calls for each in ("vstack", "hstack", "dstack", "column_stack") for name, calls in f(each,
        lambda f, x, y, p: f((x, y)), lambda f, x, y, p: f([x, y, x]), lambda f, x, y, p: f((x, p)),
        lambda f, x, y, p: f((x > 3, y))).items()},
    **f("append", lambda f, x, y, p: f(x, y), lambda f, x, y, p: f(x, y, axis=0), lambda f, x, y, p: f(x, y, axis=None),
        lambda f, x, y, p: f(x, 5), lambda f, x, y, p: f(x, p)),
    **f("copy", lambda f, x, y, p: f(x), lambda f, x, y, p: f(x.T, order="K"), lambda f, x, y, p: f(x, subok=True)),
    **{name: calls for each in ("atleast_1d", "atleast_2d", "atleast_3d") for name, calls in f(each,
        lambda f, x, y, p: f(x), lambda f, x, y, p: f(x, y), lambda f, x, y, p: f(x, p)).items()},
}  # fmt: skip
TWO = [
    "add", "subtract", "multiply", "floor_divide", "remainder", "divmod", "fmod", "power", "divide", "bitwise_and",
    "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "logical_and", "logical_or", "logical_xor", "equal",
    "not_equal", "less", "less_equal", "greater", "greater_equal", "maximum", "minimum", "fmax", "fmin",
]  # fmt: skip
SINGLE = [
    "floor", "ceil", "trunc", "rint", "bitwise_count", "square", "negative", "positive", "absolute", "invert",
    "logical_not", "shape", "ndim", "size",
]  # fmt: skip
TABLE = {
    **{name: calls for each in TWO for name, calls in ufunc(each).items()},
    **{name: calls for each in SINGLE for name, calls in f(each, *ONE).items()},
    **{
        name: calls
        for each in ("sum", "prod", "max", "amax", "min", "amin", "any", "all", "argmax", "argmin")
        for name, calls in f(each, *REDUCE).items()
    },
    **f("count_nonzero", *AXES, lambda f, x, y, p: f(x, axis=0, keepdims=True), lambda f, x, y, p: f(x > 3, axis=0)),
    **f("cumsum", *AXES, lambda f, x, y, p: f(x, 0, None), lambda f, x, y, p: f(x > 3)),
    **f("sort", *AXES, lambda f, x, y, p: f(x, kind="stable"), lambda f, x, y, p: f(x, axis=None, kind=None),
        lambda f, x, y, p: f(x, kind="none"), lambda f, x, y, p: f(x, order="a"), lambda f, x, y, p: f(x, stable=True)),
    "argsort": [lambda x, y, p, form=form: form(lambda a, *at, **how: np.argsort(a, *at, kind="stable", **how), x, y, p)
                for form in AXES],
    **f("median", *AXES, lambda f, x, y, p: f(x, keepdims=True)),
    **{name: calls for each in ("dot", "inner", "vdot", "matmul", "outer")
       for name, calls in f(each, *PRODUCT).items()},
    **f("where", lambda f, x, y, p: f(p > 3, x, y), lambda f, x, y, p: f(x > y, x, y),
        lambda f, x, y, p: f(x > y, x, p),
        lambda f, x, y, p: f(x > 3, p, x), lambda f, x, y, p: f(x > 3, x, 7), lambda f, x, y, p: f(x > 3, -7, x),
        lambda f, x, y, p: f(x > y), lambda f, x, y, p: f(x, x, y), lambda f, x, y, p: f(x > y, x, p.astype(np.int64)),
        lambda f, x, y, p: f(x > y, x, x > y), lambda f, x, y, p: f(True, p, x), lambda f, x, y, p: f(x > y, p, p)),
    **f("clip", lambda f, x, y, p: f(x, 2, 9), lambda f, x, y, p: f(x, None, 9), lambda f, x, y, p: f(x, 2, None),
        lambda f, x, y, p: f(x, 9, 2), lambda f, x, y, p: f(x, p, 99), lambda f, x, y, p: f(x, min=2, max=9),
        lambda f, x, y, p: f(x, 2, 9, min=3), lambda f, x, y, p: f(x, -5, 300), lambda f, x, y, p: f(x, y, y),
        lambda f, x, y, p: f(x, p.astype(np.int64), None), lambda f, x, y, p: f(p, x, None),
        lambda f, x, y, p: f(x, 2, 9, dtype=np.uint16)),
    **f("diff", lambda f, x, y, p: f(x), lambda f, x, y, p: f(x, 2), lambda f, x, y, p: f(x, 0),
        lambda f, x, y, p: f(x, -1), lambda f, x, y, p: f(x, axis=0), lambda f, x, y, p: f(x, axis=None),
        lambda f, x, y, p: f(x, axis=5), lambda f, x, y, p: f(x, n=9), lambda f, x, y, p: f(x, prepend=3)),
    **f("trace", lambda f, x, y, p: f(x), lambda f, x, y, p: f(x, 1), lambda f, x, y, p: f(x, offset=0)),
    **f("searchsorted", *[
        lambda f, x, y, p, side=side, table=table: f(table, x, side)
        for side in ("left", "right", "no") for table in ([2, 7], [0, 0, 3, 100, 101, 102], [5, 1])
    ], lambda f, x, y, p: f([2, 7], x, sorter=None), lambda f, x, y, p: f(np.array([2, 7], np.uint16), v=x),
        lambda f, x, y, p: f(x, p), lambda f, x, y, p: f(list(range(300)), x), lambda f, x, y, p: f([1.5, 3.5], x)),
    **MOVES,
}  # fmt: skip
# Operators with public arrays and with shapes of numpy. The division of this package truncates, so it is not here.
OPERATORS = {
    f"x {symbol} y": [
        lambda x, y, p, op=op: op(x, y),
        lambda x, y, p, op=op: op(x, p),
        lambda x, y, p, op=op: op(p, x),
        lambda x, y, p, op=op: op(x, p.astype(np.uint16)),
        lambda x, y, p, op=op: op(p.astype(np.uint16), x),
        lambda x, y, p, op=op: op(x, p.astype(np.int64)),
        lambda x, y, p, op=op: op(p.astype(np.int64), x),
        lambda x, y, p, op=op: op(x, 2),
        lambda x, y, p, op=op: op(x, y[..., :1]),
    ]
    for symbol, op in {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_,
        "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift, "<": operator.lt, "<=": operator.le,
        ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "@": operator.matmul,
        "**": lambda x, y: x ** (y % 4 if isinstance(y, np.ndarray) else y),
    }.items()
}  # fmt: skip
OPERATORS["x[i]"] = [
    lambda x, y, p, key=key: x[key]
    for key in (0, -1, (0, 1), slice(None, None, -1), (..., 0), None, [0, -1], ([0], [1]), 9, "a", 1.5, np.int8(0))
]
OPERATORS["x[mask]"] = [lambda x, y, p: x[p > 3], lambda x, y, p: x[np.array([0, 0])]]
# The value of numpy in another type, as the documentation of the function says.
OTHER_TYPE = {"median"}

OURS = (sl.Array, sl.EncryptedArray, sl.Value)


def operands(dtype, shape):
    """Return two arrays of a type with small and extreme values, of which some are equal."""
    draw = np.random.default_rng([ord(letter) for letter in dtype] + list(shape))
    if dtype == "bool":
        return [draw.integers(0, 2, shape).astype(bool) for _ in range(2)]
    info = np.iinfo(dtype)
    return [
        np.where(
            draw.integers(0, 4, shape) == 0,
            draw.choice(np.array([info.min, info.max], dtype), shape),
            draw.integers(0, 12, shape).astype(dtype),
        )
        for _ in range(2)
    ]


def parts(result, reveal):
    """Return the arrays in a result, with those of this package revealed."""
    if isinstance(result, (list, tuple)) and not all(isinstance(part, int) for part in result):
        return [array for part in result for array in parts(part, reveal)]
    return [reveal(result) if isinstance(result, OURS) else np.asarray(result)]


def compared(name, call, make, values):
    """Return `equal` or `refused` for one call. A result other than that of numpy is an error of the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            want = parts(call(values[0].copy(), values[1].copy(), values[1].copy()), None)
        except Exception as error:
            want = error
        world = make()
        try:
            result = call(world.array(values[0]), world.array(values[1]), values[1].copy())
        except sl.SolinasError:
            return "refused"
        except Exception as error:
            # A single value has no axes and no items.
            if isinstance(want, Exception) or (values[0].ndim == 0 and isinstance(error, (TypeError, AttributeError))):
                return "refused"
            raise
        assert not isinstance(want, Exception), f"{result!r} in place of {type(want).__name__}: {want}"
        got = parts(result, world.reveal)
    assert [part.shape for part in got] == [part.shape for part in want]
    assert [part.tolist() for part in got] == [part.tolist() for part in want]
    if name not in OTHER_TYPE:
        assert [part.dtype for part in got] == [part.dtype for part in want]
    return "equal"


def sweep(table, dtypes, shapes, worlds):
    """Return how often each function was equal and refused, and the calls that differ."""
    counts, different = collections.Counter(), []
    for (name, calls), dtype, shape in itertools.product(table.items(), dtypes, shapes):
        values = operands(dtype, shape)
        for (number, call), world in itertools.product(enumerate(calls), worlds):
            try:
                counts[name, compared(name, call, WORLDS[world], values)] += 1
            except Exception as error:
                different.append(f"{name} call {number} {dtype}{shape} {world}: {type(error).__name__}: {error}"[:300])
    return counts, different


def check(table, counts, different, what):
    equal, refused = (sum(n for (_, how), n in counts.items() if how == each) for each in ("equal", "refused"))
    print(f"\n{what}: {len(table)} functions, {equal} calls equal, {refused} refused, {len(different)} different")
    assert not different, "\n".join(different[:40]) + f"\n{len(different)} in all"
    return counts


def test_the_table_has_every_function():
    assert TABLE.keys() == {*_numpy.REARRANGING, *_numpy.FUNCTIONS, *_numpy.OPERATORS}


def test_all_types_agree_with_numpy_or_are_refused():
    counts = check(TABLE, *sweep(TABLE, DTYPES, [(2, 3)], ["encrypted"]), f"{len(DTYPES)} dtypes, encrypted operands")
    # Rounding and quotients are for fixed-point numbers, which another test covers.
    never = {name for name in TABLE if not counts[name, "equal"]}
    assert never == {"floor", "ceil", "trunc", "rint", "divide", "dsplit"}


def test_all_shapes_agree_with_numpy_or_are_refused():
    check(TABLE, *sweep(TABLE, ["uint8"], SHAPES, ["program", "encrypted"]), f"{len(SHAPES)} shapes")


def test_all_kinds_of_operands_agree_with_numpy_or_are_refused():
    check(TABLE, *sweep(TABLE, FEW, [(2, 3)], ["plain", "program"]), "plain operands and parameters")


def test_operators_agree_with_numpy_or_are_refused():
    check(OPERATORS, *sweep(OPERATORS, DTYPES, [(2, 3)], ["encrypted"]), f"operators of {len(DTYPES)} dtypes")
    check(OPERATORS, *sweep(OPERATORS, FEW, SHAPES, ["program", "encrypted"]), f"operators of {len(SHAPES)} shapes")


def test_long_rows_agree_with_numpy_or_are_refused():
    names = ["max", "min", "sum", "prod", "all", "argmax", "argmin", "count_nonzero", "cumsum"]
    forms = [lambda f, x, y, p: f(x), lambda f, x, y, p: f(x, axis=0), lambda f, x, y, p: f(x, axis=None)]
    table = {name: calls for each in names for name, calls in f(each, *forms).items()}
    table["any"] = [lambda x, y, p: np.any(x > 10), lambda x, y, p: np.any(x > 11, axis=0)]
    table["searchsorted"] = TABLE["searchsorted"][:2]
    check(table, *sweep(table, ["uint8"], LONG, ["encrypted"]), f"{len(LONG)} long shapes")
    rest = {"max": table["max"], "argmin": table["argmin"], "sum": table["sum"]}
    rest["argsort"] = [lambda x, y, p: np.argsort(x, axis=0, kind="stable"), lambda x, y, p: np.sort(x, axis=None)]
    check(rest, *sweep(rest, ["int16"], [(257,)], ["plain", "encrypted"]), "long rows of other types")


@pytest.mark.parametrize("size", [255, 256, 257, 512, 1000, 4096])
def test_the_largest_of_many_elements_is_found_at_every_place(size):
    for place in (0, 17, 200, size - 1):
        values = np.zeros(size, np.uint8)
        values[place] = 9
        world = EncryptedWorld()
        assert world.reveal(np.argmax(world.array(values))) == place
        assert world.reveal(np.argmin(world.array(9 - values))) == place

"""Every public function of numpy agrees on arrays of this package and on plain values, or raises an error."""

import contextlib
import inspect
import warnings

import numpy as np
import pytest

import solinas as sl
from conftest import PlainServer
from solinas._core import Expr

# Four-bit values and a mask, as numpy arrays. Their sums, products and differences wrap and promote.
X = np.array([[3, 7, 1], [9, 0, 13]], dtype=np.uint8)
Y = np.array([[2, 7, 4], [1, 0, 15]], dtype=np.uint8)
MASK = np.array([[True, False, True], [False, False, True]])
# Patterns of arguments: `x` and `y` are arrays of this package, or of numpy for the expected result.
PATTERNS = {
    "x": lambda x, y: (x,),
    "x y": lambda x, y: (x, y),
    "x y.T": lambda x, y: (x, y.T),
    "x[0] y[0]": lambda x, y: (x[0], y[0]),
    "x plain": lambda x, y: (x, Y),
    "plain x": lambda x, y: (Y, x),
    "x list": lambda x, y: (x, [1, 2, 3]),
    "list x": lambda x, y: ([1, 2, 3], x),
    "x wide": lambda x, y: (x, Y.astype(np.int64)),
    "wide x": lambda x, y: (Y.astype(np.int64), x),
    "x scalar": lambda x, y: (x, np.int64(200)),
    "x row": lambda x, y: (x, Y[0]),
    "x 2": lambda x, y: (x, 2),
    "2 x": lambda x, y: (2, x),
    "x 0": lambda x, y: (x, 0),
    "x 1 0": lambda x, y: (x, 1, 0),
    "x 2 9": lambda x, y: (x, 2, 9),
    "x shape": lambda x, y: (x, (3, 2)),
    "(x y)": lambda x, y: ((x, y),),
    "[x y] 1": lambda x, y: ([x, y], 1),
    "(x plain)": lambda x, y: ((x, Y),),
    "mask x y": lambda x, y: (MASK, x, y),
    "bools": lambda x, y: (x > 4, y > 4),
    "bool": lambda x, y: (x > 4,),
    "bools 0": lambda x, y: (x > 4, 0),
    "x axes": lambda x, y: (x, (0, 1)),
    "x indices 1": lambda x, y: (x, [0, 1], 1),
    "negative": lambda x, y: (x, -1),
}
# Functions that are not tried: input and output, settings, and the layout in memory.
SKIPPED = {
    "test", "show_config", "show_runtime", "info", "get_include", "load", "loadtxt", "genfromtxt", "fromfile", "memmap",
    # Returns None for an unknown argument.
    "bmat",
    "save", "savez", "savez_compressed", "savetxt", "setbufsize", "seterr", "seterrcall", "set_printoptions", "geterr",
    "printoptions", "getbufsize", "geterrcall", "get_printoptions", "frompyfunc", "empty", "from_dlpack", "isfortran",
}  # fmt: skip


def functions():
    for module in (np, np.linalg, np.fft):
        for name in module.__all__:
            function = getattr(module, name)
            if callable(function) and not inspect.isclass(function) and name not in SKIPPED:
                yield f"{module.__name__}.{name}", function
                if isinstance(function, np.ufunc):
                    for method in ("reduce", "accumulate", "outer", "reduceat", "at"):
                        yield f"{module.__name__}.{name}.{method}", getattr(function, method)


FUNCTIONS = dict(functions())


class Traced:
    """Arrays in programs."""

    def __init__(self):
        self.bits, self.inputs = [], []

    def array(self, values):
        kind = sl.Bool if values.dtype == bool else sl.U8
        self.bits += values.ravel().tolist()
        exprs = [Expr.parameter(f"x{len(self.inputs) + i}", kind.name) for i in range(values.size)]
        self.inputs += exprs
        return sl.Array([kind._make(expr, "x") for expr in exprs]).reshape(values.shape)

    def reveal(self, leaf):
        items = leaf._elements() if isinstance(leaf, sl.Array) else [leaf]
        outputs = [item._expr for item in items]
        _, program = Expr.freeze(self.inputs, outputs, [f"y{i}" for i in range(len(outputs))])
        outputs = [bits for _, (bits,) in program.evaluate([[bits] for bits in self.bits], [[] for _ in self.bits])]
        values = [type(item).decode(bits) for item, bits in zip(items, outputs, strict=True)]
        return np.array(values, dtype=object).reshape(getattr(leaf, "shape", ())).tolist()


class Encrypted:
    """Encrypted arrays."""

    def __init__(self, keys):
        self.client, self.server = keys

    def array(self, values):
        return self.client.encrypt(values)

    def reveal(self, leaf):
        return np.asarray(self.client.decrypt(self.server.run(leaf))).tolist()


OURS = (sl.Array, sl.EncryptedArray, sl.Value)


def plain(world, result):
    """Return the plain values of a result."""
    if isinstance(result, OURS):
        return world.reveal(result)
    if isinstance(result, (list, tuple)):
        return [plain(world, part) for part in result]
    if isinstance(result, np.ndarray) and result.dtype == object:
        return plain(world, result.tolist())
    return result.tolist() if isinstance(result, (np.ndarray, np.generic)) else result


def attempt(function, arguments):
    """Return numpy's result, or None if numpy does not accept the arguments."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*arguments)
        except Exception:
            return None


def check(make, name, patterns):
    """Return the patterns of arguments that the function accepted. Their results must agree with numpy."""
    function, taken = FUNCTIONS[name], []
    for pattern in patterns:
        world = make()
        try:
            arguments = PATTERNS[pattern](world.array(X), world.array(Y))
        except sl.TypeMismatchError:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = function(*arguments)
            except (TypeError, sl.SolinasError):
                continue
            except Exception as error:
                # Correct if numpy does not accept the arguments either.
                if attempt(function, PATTERNS[pattern](X.copy(), Y.copy())) is not None:
                    raise AssertionError(f"{name} of {pattern}") from error
                continue
        want = attempt(function, PATTERNS[pattern](X.copy(), Y.copy()))
        got = plain(world, result)
        if want is None or callable(got) or inspect.isgenerator(got) or isinstance(got, np.nditer):
            continue
        assert got == plain(world, want), (name, pattern)
        taken.append(pattern)
    return taken


def test_functions_of_numpy_on_arrays_of_programs_are_right_or_refused():
    taken = {name: check(Traced, name, PATTERNS) for name in FUNCTIONS}
    for name in [
        "sum",
        "dot",
        "inner",
        "outer",
        "matmul",
        "cumsum",
        "where",
        "clip",
        "max",
        "argmax",
        "concatenate",
        "transpose",
        "roll",
        "add",
        "sort",
        "argsort",
        "searchsorted",
        "bitwise_count",
        "remainder",
    ]:
        assert taken[f"numpy.{name}"], name


def test_functions_of_numpy_on_encrypted_arrays_are_right_or_refused(integers, monkeypatch):
    monkeypatch.setattr(integers[1], "_inner", PlainServer(integers[0]))
    world = Encrypted(integers)
    arrays = [world.array(X), world.array(Y)]
    world.array = lambda values: arrays[values is Y]
    taken = {name: check(lambda: world, name, PATTERNS) for name in FUNCTIONS}
    for name in [
        "sum",
        "dot",
        "inner",
        "outer",
        "matmul",
        "where",
        "clip",
        "max",
        "argmax",
        "add",
        "floor_divide",
        "concatenate",
        "stack",
        "transpose",
        "roll",
        "reshape",
        "ravel",
        "less",
        "minimum",
        "bitwise_and",
        "left_shift",
        "sort",
        "argsort",
        "searchsorted",
        "bitwise_count",
        "remainder",
    ]:
        assert taken[f"numpy.{name}"], name


def test_functions_of_numpy_run_on_servers(integers):
    world = Encrypted(integers)
    for name, pattern in [
        ("dot", "x[0] y[0]"),
        ("sum", "x 0"),
        ("matmul", "x y.T"),
        ("where", "mask x y"),
        ("add", "x row"),
    ]:
        assert check(lambda: world, f"numpy.{name}", [pattern]) == [pattern]


def test_values_that_numpy_does_not_know_are_not_taken_for_objects(integers):
    encrypted = integers[0].encrypt(sl.u8(3))
    parameters = [kind._make(Expr.parameter("x", kind.name), "x") for kind in (sl.U8, sl.mod(257))]
    for value in (encrypted, encrypted + 1, *parameters):
        for function in (np.array, np.asarray, np.cumsum, np.sort, np.mean, lambda x: np.array([x, x]), np.atleast_1d):
            with contextlib.suppress(TypeError):
                assert not isinstance(function(value), np.ndarray)
    x = sl.u8(3)
    assert (np.uint8(2) + x, np.add(x, 2), np.asarray(x)) == (5, 5, 3)


def test_refused_functions_name_the_nearest_one(integers):
    x = integers[0].encrypt(X)
    for function, nearest in [
        (np.nansum, r"numpy\.sum does"),
        (np.unique, "sort the array, and compare neighbours"),
        (np.mean, "divide the sum by the number of elements"),
        (np.fft.fft, "sum, dot, where and max do"),
        (np.broadcast_shapes, None),
        (lambda x: np.sqrt(x), "sl.lookup"),
        (lambda x: np.add.accumulate(x), "numpy.add.accumulate does not take"),
        (np.asarray, "client.decrypt"),
    ]:
        with pytest.raises(TypeError if nearest is None else sl.TypeMismatchError, match=nearest):
            function(x)

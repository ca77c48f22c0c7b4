"""Arrays in programs and on servers have the shapes, axes, broadcasting and indexing of numpy."""

import operator

import numpy as np
import pytest

import solinas as sl
from conftest import pair

X = np.array([[3, 7, 1], [9, 0, 13]], dtype=np.uint8)
Y = np.array([[2, 7, 4], [1, 0, 15]], dtype=np.uint8)

AXES = {
    "sum": lambda x: (x.sum(), x.sum(axis=0), x.sum(axis=1, keepdims=True), x.sum((0, 1))),
    "max": lambda x: (x.max(), x.max(0), x.min(1)),
    "argmax": lambda x: (x.argmax(), x.argmax(axis=0), x.argmin(axis=1)),
    "compare": lambda x: ((x > 4).any(axis=0), (x > 2).all(axis=1), (x == 7).any()),
    "parts": lambda x: (
        x.T,
        x[:, None, 1],
        x[MASK],
        x[[1, 0, 1], [2, 2, 0]],
        x[..., ::-1],
        x.reshape(3, -1),
        x.ravel(),
    ),
    "broadcast": lambda x: (x + x[0], x * x[:, :1], x - np.array([[1], [2]], dtype=np.uint8), [1, 2, 3] + x, x > x[1]),
    "matmul": lambda x: (x @ x.T, x @ [1, 2, 3], [[1, 2], [3, 4]] @ x, x[0] @ x[1], x[0].dot(x[1])),
    "arithmetic": lambda x: (x**3, +x, divmod(x, 4)[1], x << 1, ~x, -x, x ^ 5, x.cumsum(axis=1)),
}
MASK = X > 2


@pytest.mark.parametrize("what", AXES)
def test_arrays_of_programs_are_those_of_numpy(what):
    @sl.program
    def traced(x: sl.Array[sl.U8, 2, 3]):
        return AXES[what](x)

    results = traced.simulate(X)
    for got, want in zip(results, AXES[what](X), strict=True):
        # numpy's sums have a wider type.
        assert np.asarray(got).tolist() == (np.asarray(want).astype(int) % 256).tolist()
    # A program runs over the additional dimensions element by element.
    stacked = traced.simulate(np.stack([X, Y]))
    for got, first, second in zip(stacked, results, traced.simulate(Y), strict=True):
        assert got.tolist() == [np.asarray(first).tolist(), np.asarray(second).tolist()]


def test_arrays_on_a_server_are_those_of_numpy(integers):
    client, server = integers
    x, y = client.encrypt(X % 16, sl.uint(4)), client.encrypt(Y, sl.uint(4))
    assert (x.shape, x.ndim, x.size, len(x), x.T.shape, x.dtype) == ((2, 3), 2, 6, 2, (3, 2), np.uint8)
    results = {
        "sum": (x.sum(axis=0), X.sum(axis=0)),
        "sum of all": (x.sum(), X.sum()),
        "dot": (x[0] @ y[1], X[0] @ Y[1]),
        "weights": (x @ [1, 0, 2], X @ [1, 0, 2]),
        "matmul": ([[1, 2], [0, 1]] @ x, [[1, 2], [0, 1]] @ X),
        "compare": ((x > y).any(axis=1), (X > Y).any(axis=1)),
        "argmax": (x.argmax(axis=1), X.argmax(axis=1)),
        "broadcast": (x + y[0], X + Y[0]),
        "plain": (x * Y, X * Y),
        "plain first": (Y[:1] - x, Y[:1] - X),
        "select": (sl.select(x > y, x, 0), np.where(X > Y, X, 0)),
        "maximum": (sl.maximum(x, y), np.maximum(X, Y)),
        "lookup": (sl.lookup(lambda i: i * i % 16, x), X * X),
        "mask": (x[MASK], X[MASK]),
        "fancy": (x[:, [2, 0]].T, X[:, [2, 0]].T),
        "shift": (x << [0, 1, 2], X << [0, 1, 2]),
        "power": (x**2, X**2),
        "divmod": (divmod(x, 3)[1], X % 3),
        "count": ((x > 4).sum(), (X > 4).sum()),
    }
    computed = server.run([got for got, _ in results.values()])
    for name, got, (_, want) in zip(results, computed, results.values(), strict=True):
        assert np.asarray(client.decrypt(got)).tolist() == (np.asarray(want).astype(int) % 16).tolist(), name
    with pytest.raises(sl.ShapeError, match="one shape"):
        x + y.T
    with pytest.raises(sl.TypeMismatchError, match=r"sl.select\(mask, x, 0\)"):
        x[x > 3]
    with pytest.raises(sl.TypeMismatchError, match="no truth value"):
        bool(x == y)
    with pytest.raises(sl.TypeMismatchError, match=r"\+ does not take .* u4.* u8|\(u4\) and an encrypted value \(u8\)"):
        x + client.encrypt(Y)


def test_programs_run_on_public_arrays(integers):
    client, server = integers

    @sl.program
    def weighted(x: sl.U8, w: sl.U8) -> sl.U8:
        return x * w - w

    @sl.program
    def score(xs: sl.Array[sl.U8, 3], ws: sl.Array[sl.U8, 3]) -> sl.U8:
        return xs @ ws

    x = client.encrypt(X)
    assert client.decrypt(server.run(weighted(x, Y))).tolist() == (X * Y - Y).tolist()
    assert client.decrypt(server.run(weighted(x[0], Y[:1]))).tolist() == (X[:1] * Y[:1] - Y[:1]).tolist()
    assert client.decrypt(server.run(weighted(client.encrypt(sl.u8(3)), Y[0]))).tolist() == (2 * Y[0]).tolist()
    for weights in (Y, Y[1]):
        want = (X * weights).sum(axis=1) % 256
        assert client.decrypt(server.run(score(x, weights))).tolist() == want.tolist()
        assert score.simulate(X, weights).tolist() == want.tolist()


@pytest.mark.parametrize("scheme", ["bgv", "ntru"])
def test_encrypted_vectors_take_plain_weights(scheme):
    params, p = {"bgv": ("slots-128-4", 65537), "ntru": ("slots-128-3", 257)}[scheme]
    residue = sl.mod(p)
    client, server = pair(scheme, params=params, rotations=True, research=True, insecure_seed=1)
    values, weights = np.arange(300) % p, np.arange(300)[::-1] % 50

    @sl.program
    def score(x: residue, w: residue) -> residue:
        return x.dot(w)

    @sl.program
    def each(x: residue, w: residue) -> residue:
        return x * w + w

    x = client.encrypt(values, residue)
    assert client.decrypt(server.run(score(x, weights))) == values @ weights % p
    assert client.decrypt(server.run(each(x, weights))).tolist() == ((values + 1) * weights % p).tolist()
    products = server.run(x @ weights, weights @ x, x.dot(weights), np.dot(x, weights), (x * weights).sum())
    assert client.decrypt(products) == (values @ weights % p,) * 5
    assert client.decrypt(server.run(x - weights)).tolist() == ((values - weights) % p).tolist()
    # A product with public numbers does not multiply ciphertexts.
    public, cube = server.run(x * weights * x, x * x * x)
    assert public.products_left >= cube.products_left
    with pytest.raises(sl.ShapeError, match="share ciphertexts"):
        x + np.ones((2, 300), dtype=int)
    for refused in (
        lambda: x[0],
        lambda: x.max(),
        lambda: x.reshape(3, 100).sum(axis=0),
        lambda: x < 3,
    ):
        with pytest.raises((TypeError, sl.ElementError)):
            refused()
    with pytest.raises(AttributeError, match="scheme bgv"):
        sl.u8(1).dot(2)
    assert client.decrypt(server.run(each(server.key.encrypt(values, residue), weights)))[3] == 4 * weights[3] % p


def test_arrays_have_the_index_and_the_shape_of_numpy_or_an_error(integers):
    client, _ = integers
    x = client.encrypt(X)
    for key in (MASK, [1, 0], ([0, 1], [2, 1]), None, (slice(None), None, 1), np.array([[0], [1]]), -1, (..., 2)):
        got = client.decrypt(x[key])
        assert np.asarray(got).tolist() == X[key].tolist(), key
    assert (
        client.decrypt(np.concatenate([x, x.T.reshape(2, 3)])).tolist()
        == np.concatenate([X, X.T.reshape(2, 3)]).tolist()
    )
    for key, error in [
        (5, sl.ElementError),
        ("a", TypeError),
        (1.5, TypeError),
        (MASK[0], sl.ElementError),
        ((0, 0, 0), IndexError),
    ]:
        with pytest.raises((error, sl.SolinasError)):
            x[key]
    with pytest.raises(sl.ShapeError, match="must be equal"):
        operator.matmul(x, x)


def test_axes_and_sizes_are_public_integers(integers):
    client, _ = integers
    x = client.encrypt(X)
    for call in (
        lambda: x.sum(axis=1.0),
        lambda: x.max(axis="x"),
        lambda: x.min(axis=(0, None)),
        lambda: x.cumsum(axis={}),
        lambda: x.argmax(axis=client.encrypt(sl.u8(1))),
        lambda: np.sum(x, axis=1.0),
        lambda: np.cumsum(x, axis="x"),
        lambda: sl.sort(x, axis="x"),
        lambda: sl.median(x, axis=0.5),
        lambda: x.reshape(6.0),
        lambda: x.reshape("x"),
        lambda: x.transpose("x", "y"),
    ):
        with pytest.raises(sl.TypeMismatchError, match="give a public integer"):
            call()
    assert x.sum(axis=np.int64(1)).shape == x.sum(axis=sl.u8(1)).shape == (2,)


def test_reduce_takes_a_function_of_two_values():
    x = sl.Array([sl.u8(1), sl.u8(2)])
    for function in (5, lambda p: p, lambda p, q, r: p, sl.isqrt):
        with pytest.raises(sl.TypeMismatchError, match="reduce takes a function of two values"):
            x.reduce(function)
    assert int(x.reduce(lambda *both: both[0] + both[1])) == int(x.reduce(operator.add)) == 3

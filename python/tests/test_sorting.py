"""Sorting networks: by the 0-1 principle, beside Python's `sorted`, and on a server."""

import itertools
import random

import numpy as np
import pytest

import solinas as sl
from solinas._expression import record
from solinas._sorting import needed_layers, network, selection


def applied(layers, row):
    """Return a row after the comparators."""
    row = list(row)
    for low, high in itertools.chain(*layers):
        row[low], row[high] = min(row[low], row[high]), max(row[low], row[high])
    return row


@pytest.mark.parametrize("size", range(1, 17))
def test_networks_sort_every_row_of_zeros_and_ones(size):
    """By the 0-1 principle (Knuth, TAOCP 3, theorem 5.3.4Z) they then sort every row."""
    layers = network(size)
    for row in itertools.product((0, 1), repeat=size):
        assert applied(layers, row) == sorted(row)
    for layer in layers:
        places = [place for comparator in layer for place in comparator]
        assert len(places) == len(set(places))
    depth = (size - 1).bit_length()
    assert len(layers) == depth * (depth + 1) // 2


def test_networks_have_batchers_numbers_of_comparators():
    counts = [sum(map(len, network(size))) for size in range(1, 17)]
    assert counts == [0, 1, 3, 5, 9, 12, 16, 19, 26, 31, 37, 41, 48, 53, 59, 63]


@pytest.mark.parametrize("size", [2, 5, 8, 11])
def test_comparators_without_effect_on_the_wanted_places_are_left_out(size):
    for wanted in itertools.chain([{place} for place in range(size)], [{0, size - 1}, set(range(size))]):
        layers = [layer for layer, _ in needed_layers(network(size), wanted)]
        for row in itertools.product((0, 1), repeat=size):
            result, want = applied(layers, row), sorted(row)
            assert all(result[place] == want[place] for place in wanted)


@pytest.mark.parametrize("size", range(1, 14))
def test_selections_put_the_largest_first(size):
    for k in range(1, size + 1):
        layers = [layer for layer, _ in needed_layers(selection(size, k), range(k))]
        for row in itertools.product((0, 1), repeat=size):
            assert applied(layers, row)[:k] == sorted(row, reverse=True)[:k]


def test_selections_take_fewer_comparators_than_sorting():
    def count(size, k):
        return sum(len(layer) for layer, _ in needed_layers(selection(size, k), range(k)))

    assert [count(size, 1) for size in (1, 2, 7, 100)] == [0, 1, 6, 99]
    assert [count(64, k) for k in (2, 4, 8)] == [125, 200, 292]
    assert sum(map(len, network(64))) == 543


def rows(kind, shape, seed):
    """Return random values of a type with its least and largest, and some that are equal."""
    choose = random.Random(seed)
    values = [choose.choice([kind.MIN, kind.MAX, choose.randint(kind.MIN, kind.MAX), 1]) for _ in range(np.prod(shape))]
    return np.array(values, dtype=object).reshape(shape)


@pytest.mark.parametrize("kind", [sl.U8, sl.I8, sl.uint(5), sl.I64])
@pytest.mark.parametrize(("shape", "axis"), [((1,), -1), ((7,), 0), ((3, 5), 0), ((2, 3, 4), 1), ((2, 5), None)])
def test_programs_sort_as_numpy(kind, shape, axis):
    x = rows(kind, shape, seed=len(shape))

    @sl.program
    def traced(x: sl.Array[kind, *shape]):
        return sl.sort(x, axis=axis), x.argsort(axis), np.sort(x, axis)

    values, indices, again = traced.simulate(x)
    assert values.tolist() == again.tolist() == np.sort(x, axis).tolist()
    assert indices.tolist() == np.argsort(x, axis, stable=True).tolist()


def test_values_follow_their_keys(quick):
    client, server = quick
    choose = random.Random(5)
    keys = np.array([[choose.randrange(9) for _ in range(6)] for _ in range(4)], dtype=np.uint8)
    first, second = keys.astype(np.int32) * 1000 - 7, keys > 4
    encrypted = [client.encrypt(part) for part in (keys, first, second)]
    for axis in (0, 1, None):
        for values in (encrypted[1:], [first, encrypted[2]]):
            results = client.decrypt(server.run(sl.sort(encrypted[0], *values, axis=axis)))
            # The values are functions of the keys, so that equal keys have equal values.
            wanted = [np.sort(part, axis) for part in (keys, first, second)]
            assert [part.tolist() for part in results] == [part.tolist() for part in wanted]
            best = client.decrypt(server.run(sl.top_k(encrypted[0], 3, *values, axis=axis)))
            for part, want in zip(best, wanted, strict=True):
                assert part.tolist() == np.flip(want, axis).take(range(3), -1 if axis is None else axis).tolist()


@pytest.mark.parametrize("size", [1, 2, 9, 16, 40])
def test_encrypted_arrays_are_sorted_in_layers(quick, size):
    client, server = quick
    x = rows(sl.I16, (size,), seed=size).astype(np.int16)
    array = client.encrypt(x)
    results = server.run(array.sort(), np.argsort(array), sl.top_k(array, (size + 1) // 2), sl.median(array))
    ordered, indices, best, middle = client.decrypt(results)
    assert ordered.tolist() == sorted(x)
    assert indices.tolist() == np.argsort(x, stable=True).tolist()
    assert best.tolist() == sorted(x, reverse=True)[: (size + 1) // 2]
    assert middle == sorted(x)[(size - 1) // 2]


def test_a_sort_has_one_comparison_for_each_layer(quick):
    client, _ = quick
    for size in (8, 64):
        inputs, program = record([client.encrypt([1] * size, sl.U8).sort()._data])
        names = [name for name, *_ in program.nodes]
        assert (len(inputs), names.count("lt"), names.count("select")) == (
            1,
            len(network(size)),
            2 * len(network(size)),
        )


def test_median_is_the_lower_one_along_axes(quick):
    client, server = quick
    x = rows(sl.U8, (3, 4), seed=3).astype(np.uint8)
    array = client.encrypt(x)
    results = client.decrypt(server.run(sl.median(array), sl.median(array, axis=0), sl.median(array, axis=1)))
    assert results[0] == np.sort(x, None)[5]
    assert results[1].tolist() == np.sort(x, 0)[1].tolist() == client.decrypt(server.run(np.median(array, 0))).tolist()
    assert results[2].tolist() == np.sort(x, 1)[:, 1].tolist()
    with pytest.raises(sl.TypeMismatchError, match=r"sl\.median"):
        np.median(array)


def test_plain_arrays_are_sorted_at_once():
    x = sl.Array([sl.i8(v) for v in (3, -5, 3, 127, -128)])
    assert repr(x.sort()) == repr(sl.Array([sl.i8(v) for v in (-128, -5, 3, 3, 127)]))
    assert repr(sl.top_k(x, 2)) == repr(sl.Array([sl.i8(127), sl.i8(3)]))
    assert [int(i) for i in sl.argsort(x)] == [4, 1, 0, 2, 3]
    for single in (sl.u8(5), sl.i8(-1), sl.u8(4)):
        assert [int(i) for i in sl.argsort(sl.Array([single]))] == [0]
    assert int(sl.median(x)) == 3


def test_what_cannot_be_sorted_is_refused():
    x = sl.Array([sl.u8(1), sl.u8(2)])
    with pytest.raises(sl.TypeMismatchError, match="takes integers, got an array of bool"):
        sl.sort(x > 1)
    with pytest.raises(sl.TypeMismatchError, match="sort takes an array"):
        sl.sort(sl.u8(3))
    with pytest.raises(sl.ShapeError, match="one shape"):
        sl.sort(x, sl.Array([sl.u8(1)]))
    with pytest.raises(sl.ShapeError, match="no axis 1"):
        x.sort(axis=1)
    for k in (0, 3):
        with pytest.raises(sl.RangeError, match="from 1 to 2"):
            sl.top_k(x, k)
    for k in (1.5, "1", None):
        with pytest.raises(sl.TypeMismatchError, match="give a public integer"):
            sl.top_k(x, k)
    assert [int(best) for best in sl.top_k(x, sl.u8(1))] == [2]
    with pytest.raises(sl.RangeError, match="too wide"):
        sl.Array([sl.uint(sl._types.MAX_WIDTH)(1)] * 2).argsort()


def test_sorts_on_a_server(keys):
    client, server = keys
    x = client.encrypt([5, 0, 3], sl.uint(3))
    ordered, best, middle = client.decrypt(server.run(np.sort(x), sl.top_k(x, 2), sl.median(x)))
    assert (ordered.tolist(), best.tolist(), middle) == ([0, 3, 5], [5, 3], 3)


def test_a_sorted_pair_costs_one_comparison_and_two_selections():
    @sl.program
    def ordered(x: sl.Array[sl.U16, 2]):
        return sl.sort(x)

    @sl.program
    def less(a: sl.U16, b: sl.U16):
        return a < b

    @sl.program
    def chosen(c: sl.Bool, a: sl.U16, b: sl.U16):
        return sl.select(c, a, b)

    for params in ("integers-128", "gates-128"):
        costs = [program.cost(params).bootstraps for program in (ordered, less, chosen)]
        assert costs[0] <= costs[1] + 2 * costs[2]

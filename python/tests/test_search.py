"""Searches of encrypted values in public tables, beside numpy."""

import random

import numpy as np
import pytest

import solinas as sl

SIZES = [0, 1, 3, 4, 5, 8, 16, 31, 32, 100, 300]


def table(kind, size, seed):
    """Return an ascending table with the least and largest values of a type, and with equal entries."""
    choose = random.Random(seed)
    return sorted(choose.choice([kind.MIN, kind.MAX, choose.randint(kind.MIN, kind.MAX), 7]) for _ in range(size))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("kind", [sl.U8, sl.I8, sl.uint(3), sl.U16, sl.I16, sl.I64])
@pytest.mark.parametrize("size", SIZES)
def test_programs_search_as_numpy(kind, size, side):
    entries = table(kind, size, seed=size)

    @sl.program
    def search(x: kind):
        return sl.searchsorted(entries, x, side)

    choose = random.Random(1)
    near = [x for entry in entries for x in (entry - 1, entry, entry + 1) if kind.MIN <= x <= kind.MAX]
    values = [kind.MIN, kind.MAX, 0, *near, *(choose.randint(kind.MIN, kind.MAX) for _ in range(50))]
    want = np.searchsorted(np.array(entries, dtype=object), np.array(values, dtype=object), side)
    assert search.simulate(values).tolist() == want.tolist()
    assert [int(sl.searchsorted(entries, kind(x), side)) for x in values[:9]] == want[:9].tolist()
    assert search.result.name == ("u8" if size < 256 else "u16")


def test_entries_that_the_type_does_not_hold_are_counted():
    entries = [-(10**30), -1, 0.5, 3, 65535, 65536, 10**30]
    for side in ("left", "right"):
        got = [int(sl.searchsorted(entries, sl.u16(x), side)) for x in (0, 1, 3, 65535)]
        assert got == np.searchsorted(np.array(entries, dtype=object), [0, 1, 3, 65535], side).tolist()


def test_arrays_are_searched_element_by_element(quick):
    client, server = quick
    x = np.array([[3, 900, 17], [40, 0, 65535]], dtype=np.uint16)
    entries = np.array([3, 17, 40, 41, 900, 901], dtype=np.uint16)
    array = client.encrypt(x)
    got = client.decrypt(server.run(sl.searchsorted(entries, array), np.searchsorted(entries, array, "right")))
    assert got[0].tolist() == np.searchsorted(entries, x).tolist()
    assert got[1].tolist() == np.searchsorted(entries, x, "right").tolist()


def test_long_tables_take_fewer_bootstraps_than_one_comparison_for_each_entry():
    def bootstraps(size):
        entries = sorted(random.Random(size).sample(range(1 << 16), size))

        @sl.program
        def search(x: sl.U16):
            return sl.searchsorted(entries, x)

        @sl.program
        def counted(x: sl.U16):
            return sl.Array([x > entry for entry in entries]).sum()

        return search.cost().bootstraps, counted.cost().bootstraps

    for size in (4, 31, 255):
        searched, compared = bootstraps(size)
        assert searched <= compared
        assert searched < 255

    @sl.program
    def narrow(x: sl.U8):
        return sl.searchsorted(range(200), x)

    assert narrow.cost().bootstraps < 20


def test_what_cannot_be_searched_is_refused(integers):
    client, _ = integers
    x = client.encrypt(sl.u16(3))
    for call, error, message in (
        (lambda: sl.searchsorted([2, 1], x), sl.RangeError, "ascending"),
        (lambda: sl.searchsorted([1, 2], 3), sl.TypeMismatchError, "got 3"),
        (lambda: sl.searchsorted([1, 2], x == 1), sl.TypeMismatchError, "cast it"),
        (lambda: sl.searchsorted([x, x], x), sl.TypeMismatchError, "public list"),
        (lambda: sl.searchsorted(["a"], x), sl.TypeMismatchError, "public list"),
        (lambda: sl.searchsorted(None, x), sl.TypeMismatchError, "public list"),
        (lambda: sl.searchsorted({1, 2}, x), sl.TypeMismatchError, "public list"),
        (lambda: sl.searchsorted(np.array(1), x), sl.TypeMismatchError, "public list"),
        (lambda: sl.searchsorted([1], x, "middle"), sl.RangeError, "'left' or 'right'"),
    ):
        with pytest.raises(error, match=message):
            call()


def test_searches_run_on_a_server(keys):
    client, server = keys
    wide = sl.uint(9)
    x = client.encrypt([0, 99, 100, 511], wide)
    entries = [5, 99, 200, 300, 400, 500]
    one = client.encrypt(sl.uint(4)(9))
    searches = (sl.searchsorted(entries, x), sl.searchsorted([3, 9], one, "right"), sl.searchsorted([600], x, "left"))
    results = client.decrypt(server.run(*searches))
    assert (results[0].tolist(), results[1], results[2].tolist()) == ([0, 1, 2, 6], 2, [0] * 4)

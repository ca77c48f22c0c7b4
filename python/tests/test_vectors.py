"""Rotations, sums and dot products of the elements of arrays, plain and encrypted."""

import numpy as np
import pytest

import solinas as sl
from conftest import pair

SETS = {"ntru": ("slots-128-3", 257), "bgv": ("slots-128-4", 65537)}


@pytest.fixture(scope="module", params=SETS)
def world(request):
    params, p = SETS[request.param]
    keys = pair(request.param, params=params, rotations=True, research=True, insecure_seed=1)
    return *keys, p


def programs(p):
    residue = sl.mod(p)

    @sl.program
    def mixed(a: residue, b: residue, c: residue) -> tuple[residue, residue, residue]:
        """Return an array and two single values. One of the values depends on no array."""
        return (a - a.sum()) * b.rotate(-2) + 1, c * a.dot(b), c + 1

    def reference(a, b, c):
        return (a - a.sum()) * np.roll(b, 2) + 1, c * (a @ b), c + 1

    return mixed, reference


@pytest.mark.parametrize("count", [1, 3, 64, 128, 300])
def test_programs_are_those_of_numpy(world, count):
    client, server, p = world
    mixed, reference = programs(p)
    draw = np.random.default_rng(count)
    a, b, c = draw.integers(0, p, count), draw.integers(0, p, count), 200
    want = [np.asarray(part) % p for part in reference(a, b, c)]
    simulated = mixed.simulate(a, b, c)
    encrypted = server.run(mixed(*(client.encrypt(x, sl.mod(p)) for x in (a, b, c))))
    for results in (simulated, client.decrypt(encrypted)):
        assert results[0].tolist() == want[0].tolist()
        assert results[1:] == (int(want[1]), int(want[2]))
    assert isinstance(encrypted[0], sl.EncryptedArray)
    assert isinstance(encrypted[1], sl.mod(p))
    # A public single value also applies to every element.
    public = server.run(mixed(client.encrypt(a, sl.mod(p)), client.encrypt(b, sl.mod(p)), 200))
    assert client.decrypt(public[1]) == want[1]


def test_arrays_of_more_dimensions_go_row_by_row(world):
    client, server, p = world
    x = np.arange(12).reshape(3, 4)

    @sl.program
    def turn(x: sl.mod(p)) -> sl.mod(p):
        return x.rotate(5)

    rolled = np.roll(x, -5)
    assert turn.simulate(x).tolist() == rolled.tolist()
    assert client.decrypt(server.run(turn(client.encrypt(x, sl.mod(p))))).tolist() == rolled.tolist()


def test_encrypted_arrays_have_the_operations(world):
    client, server, p = world
    values = [5, 0, p - 1, 7]
    x = client.encrypt(values, sl.mod(p))
    total = x.sum()
    assert isinstance(total, sl.mod(p))
    rotated = server.run(x.rotate(1), x.rotate(-1), x.rotate(4))
    assert [row.tolist() for row in client.decrypt(rotated)] == [[0, p - 1, 7, 5], [7, 5, 0, p - 1], values]
    sums = server.run(total, x.dot(x), x.dot(2), (x - total + 1).sum(), total.sum())
    assert client.decrypt(sums) == (11, 25 + 1 + 49, 22, (11 - 4 * 11 + 4) % p, 11)


def test_an_array_of_a_result_holds_elements_or_sums(world):
    client, _, p = world

    @sl.program
    def both(x: sl.mod(p)) -> sl.Array[sl.mod(p), 2]:
        return sl.Array([x.sum(), x.sum() + 1])

    @sl.program
    def mixed(x: sl.mod(p)) -> sl.Array[sl.mod(p), 2]:
        return sl.Array([x.sum(), x])

    x = client.encrypt([1, 2], sl.mod(p))
    with pytest.raises(sl.ShapeError, match="return them as a tuple"):
        mixed(x)
    with pytest.raises(sl.TypeMismatchError, match="share ciphertexts"):
        (x + 1)[0]
    assert both.simulate([1, 2]).tolist() == [3, 4]


def test_single_values_are_their_own_sum(world):
    *_, p = world
    x = sl.mod(p)(200)
    assert int(x.sum()) == int(x.rotate(3)) == 200
    assert int(x.dot(2)) == 400 % p
    rows = sl.Array([x, x])
    assert int(rows.sum()) == 400 % p


def test_programs_are_kept_drawn_and_priced(world, tmp_path):
    _, server, p = world
    mixed, _ = programs(p)
    mixed.save(tmp_path / "mixed.json")
    again = sl.Program.load(tmp_path / "mixed.json")
    assert again.simulate([1, 2], [3, 4], 5) is not None
    picture = mixed.draw()
    assert "Σ" in picture
    assert "rotate -2" in picture
    # Two sums of seven automorphisms each, and one rotation.
    estimate = server.estimate(mixed)
    assert estimate.rotations > 14
    assert estimate.products == 3
    assert "rotations" in repr(estimate)


def test_what_is_no_vector_is_refused(world):
    client, _, p = world
    with pytest.raises(sl.TypeMismatchError, match="the number of positions is"):
        sl.mod(p)(1).rotate("left")
    with pytest.raises(sl.RangeError, match="out of range"):
        sl.mod(p)(1).rotate(1 << 70)
    with pytest.raises(AttributeError):
        sl.u8(1).sum()
    client, server = pair("ntru", params="slots-128-1", research=True, insecure_seed=1)
    x = client.encrypt([1, 2], sl.mod(257))
    with pytest.raises(sl.ParameterError, match="rotations=True"):
        server.run(x.sum())
    with pytest.raises(sl.ParameterError, match="no slots to rotate"):
        sl.keygen("tfhe", params="gates-40", rotations=True, insecure_seed=1)

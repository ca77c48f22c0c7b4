"""Scheme NTRU end to end: bits with levels, and vectors in slots."""

import pytest

import solinas as sl
from conftest import pair

Residue = sl.mod(257)


@sl.program
def mix(a: sl.U8, b: sl.U8) -> sl.U8:
    return sl.select(a > b, a ^ b, a + b)


@sl.program
def polynomial(a: Residue, b: Residue) -> Residue:
    return (a - b) * (a * b + 5) - 3 * a


@pytest.fixture(scope="module")
def keys():
    return pair("ntru", params="tight-64-9", research=True, insecure_seed=1)


@pytest.fixture(scope="module")
def slots():
    return pair("ntru", params="slots-128-3", research=True, insecure_seed=1)


def test_programs_run_until_the_levels_are_used_up(keys):
    client, server = keys
    a, b = client.encrypt([200, 7, 31], sl.U8), client.encrypt(sl.u8(9))
    assert (a.products_left, a.form) == (9, "bits")
    result = server.run(mix(a, b))
    assert client.decrypt(result).tolist() == [200 ^ 9, 16, 31 ^ 9]
    assert result.products_left < 9
    assert result.margin > 0
    estimate = server.estimate(mix, elements=3)
    assert (estimate.bootstraps, estimate.recrypts) == (0, 0)
    assert estimate.products > 0
    with pytest.raises(sl.NoiseError, match="products in a row"):
        server.run(sl.program(divide)(a, b))


def divide(a: sl.U8, b: sl.U8) -> sl.U8:
    return a // b


def test_vectors_of_slots_run_programs_and_operators(slots):
    client, server = slots
    values = [i * i % 257 for i in range(300)]
    a, b = client.encrypt(values, Residue), client.encrypt(Residue(256))
    assert (a.form, a.type, a.shape) == ("slots", Residue, (300,))
    want = [(x - 256) * (x * 256 + 5) - 3 * x for x in values]
    assert client.decrypt(server.run(polynomial(a, b))).tolist() == [x % 257 for x in want]
    assert polynomial.simulate(3, 256) == ((3 - 256) * (3 * 256 + 5) - 9) % 257
    assert client.decrypt(server.run(5 - a * 2)).tolist() == [(5 - 2 * x) % 257 for x in values]
    assert client.decrypt(server.run(-a)).tolist() == [-x % 257 for x in values]
    with pytest.raises(sl.SolinasError, match="128 values share a ciphertext"):
        a[0]
    with pytest.raises(sl.TypeMismatchError):
        server.run(a == a)
    with pytest.raises(sl.RangeError, match="modulus"):
        sl.mod(1)
    with pytest.raises(sl.RangeError):
        client.encrypt([257], Residue)
    with pytest.raises(sl.SolinasError, match="holds mod257, not u8"):
        client.encrypt(sl.u8(1))


def test_files_and_parameters(slots, tmp_path):
    client, server = slots
    client.save(tmp_path / "client.key")
    server.key.save(tmp_path / "server.key")
    x = client.encrypt([1, 2, 256], Residue)
    x.save(tmp_path / "x.ct")
    again = sl.Server(sl.ServerKey.load(tmp_path / "server.key", research=True), threads=1)
    product = again.run(sl.EncryptedArray.load(tmp_path / "x.ct") * 2)
    assert sl.ClientKey.load(tmp_path / "client.key").decrypt(product).tolist() == [2, 4, 255]
    assert (client.params.depth, client.params.plaintext_modulus, client.params.bootstraps) == (3, 257, False)
    with pytest.raises(sl.ParameterError, match="research"):
        sl.keygen("ntru", params="tight-64-9")
    with pytest.raises(sl.ParameterError, match="scheme ntru"):
        sl.keygen(params="tight-64-9", research=True)


def test_a_key_that_bootstraps_runs_deep_circuits():
    client, server = pair("ntru", params="boot-64", research=True, insecure_seed=1)
    a, b = client.encrypt(sl.u8(200)), client.encrypt(sl.u8(13))
    deep = sl.program(divide)
    assert server.estimate(deep).bootstraps > 0
    assert client.decrypt(server.run(deep(a, b))) == 15

"""Scheme LWE end to end: bits with levels, and sums without levels."""

import pytest

import solinas as sl
from conftest import pair


@sl.program
def mix(a: sl.U8, b: sl.U8) -> sl.U8:
    return sl.select(a > b, a ^ b, a + b)


def divide(a: sl.U8, b: sl.U8) -> sl.U8:
    return a // b


@pytest.fixture(scope="module")
def keys():
    return pair("lwe", params="leveled-8-9", research=True, insecure_seed=1)


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


def test_files_and_parameters(keys, tmp_path):
    client, server = keys
    client.save(tmp_path / "client.key")
    server.key.save(tmp_path / "server.key")
    x = client.encrypt([1, 2, 255], sl.U8)
    x.save(tmp_path / "x.ct")
    again = sl.Server(sl.ServerKey.load(tmp_path / "server.key", research=True), threads=1)
    flipped = again.run(sl.EncryptedArray.load(tmp_path / "x.ct") ^ 3)
    assert sl.ClientKey.load(tmp_path / "client.key").decrypt(flipped).tolist() == [2, 1, 252]
    assert (client.params.depth, client.params.plaintext_modulus, client.params.bootstraps) == (9, 2, False)
    with pytest.raises(sl.ParameterError, match="research"):
        sl.keygen("lwe", params="leveled-8-9")
    with pytest.raises(sl.ParameterError, match="scheme lwe"):
        sl.keygen(params="leveled-8-9", research=True)
    with pytest.raises(sl.ParameterError, match="no LWE parameter set"):
        sl.keygen("lwe", params="leveled-8")


def test_secure_sets_without_products_add_bits():
    client, server = pair("lwe", params="secure-31")
    a, b = client.encrypt(sl.u8(12)), client.encrypt(sl.u8(10))
    result = server.run(a ^ b)
    assert client.decrypt(result) == 6
    assert (a.products_left, client.params.recommended) == (0, True)
    with pytest.raises(sl.NoiseError, match="leveled-secure-1"):
        server.run(a & b)

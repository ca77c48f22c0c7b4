"""`find_params`: the smallest parameters for a task."""

import pytest

import solinas as sl


def test_what_is_found_is_the_smallest_secure_set():
    found = sl.find_params(2)
    assert (found.name, found.dimension, found.depth) == ("secure-16384-2", 16384, 2)
    assert found.classical_bits >= 128
    assert len(found.primes) == 3
    small = sl.find_params(2, 257, security=40, keys="ternary", terms=4)
    assert small.name.startswith("n")
    assert small.name.endswith("-d2-p257-k2-t4-e128-ternary")
    assert small.classical_bits >= 40


def test_what_cannot_be_found_names_the_nearest():
    with pytest.raises(sl.ParameterError, match="take depth"):
        sl.find_params(30)
    with pytest.raises(sl.ParameterError, match="plaintext modulus 1 "):
        sl.find_params(1, 1)
    with pytest.raises(sl.RangeError):
        sl.find_params(-1)


def test_sets_of_bgv_are_found_by_modulus_depth_and_security():
    found = sl.find_params(8, 65537, scheme="bgv", slots=True)
    assert (found.name, found.ring_dimension, found.classical_bits) == ("slots128-16384-8", 16384, 128)
    assert sl.find_params(3, scheme="bgv", security=150.5).name == "bits192-8192-3"
    with pytest.raises(sl.ParameterError, match="take depth 20"):
        sl.find_params(30, 65537, scheme="bgv")
    with pytest.raises(sl.ParameterError, match="modulus of 2, 65537, 1073479681"):
        sl.find_params(1, 257, scheme="bgv")
    with pytest.raises(sl.ParameterError, match="does not take terms, keys or ring_reduction"):
        sl.find_params(1, scheme="bgv", terms=2)
    with pytest.raises(sl.ParameterError, match="schemes 'ntru' and 'bgv', not 'lwe'"):
        sl.find_params(1, scheme="lwe")

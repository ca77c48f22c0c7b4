"""Plain big integers are Python's own: every operation against `int`, over signs, lengths and kinds of operands."""

import math
import operator
import pickle
import random
import sys

import pytest

import solinas as sl
from conftest import left_out
from solinas.bigint import Integer, Modulus

SIZES = [0, 1, 2, 63, 64, 65, 127, 500, 4000, 20_000]


def numbers(count=30):
    draw = random.Random(1)
    fixed = [0, 1, -1, 2, -2, 2**63, -(2**64), 2**64 - 1, 2**4096 - 1, -(2**4096)]
    return fixed + [draw.choice([1, -1]) * draw.getrandbits(draw.choice(SIZES)) for _ in range(count)]


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


BINARY = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, divmod]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("op", BINARY)
def test_operators_are_those_of_int(op):
    draw = random.Random(2)
    for a in numbers():
        b = draw.choice(numbers())
        for x, y in [(Integer(a), Integer(b)), (Integer(a), b), (a, Integer(b)), (Integer(a), Index(b))]:
            if b == 0 and op in {operator.floordiv, operator.mod, divmod}:
                with pytest.raises(ZeroDivisionError):
                    op(x, y)
                continue
            got = op(x, y)
            assert got == op(a, b)
            parts = got if isinstance(got, tuple) else (got,)
            assert all(isinstance(part, Integer) for part in parts)


def test_comparisons_and_hashes_are_those_of_int():
    values = numbers(12)
    for a in values:
        assert hash(Integer(a)) == hash(a)
        for b in values:
            for op in COMPARISONS:
                assert op(Integer(a), Integer(b)) == op(Integer(a), b) == op(a, Integer(b)) == op(a, b)
    assert Integer(1) != "1"
    with pytest.raises(TypeError):
        Integer(1) < "1"
    with pytest.raises(TypeError):
        Integer(1) + 1.5


def test_single_operands_are_those_of_int():
    for a in numbers():
        x = Integer(a)
        assert (int(x), str(x), bool(x), x.bit_length()) == (a, decimal(a), bool(a), a.bit_length())
        assert [-x, +x, abs(x), x.square()] == [-a, +a, abs(a), a * a]
        assert pickle.loads(pickle.dumps(x)) == x
        for count in [0, 1, 63, 64, 65, 5000]:
            assert (x << count, x >> count) == (a << count, a >> count)
        for exponent in [0, 1, 2, 3, 7]:
            assert x**exponent == a**exponent
            assert pow(x, exponent, 1009) == pow(a, exponent, 1009)
        if a >= 0:
            assert sl.bigint.isqrt(x) == math.isqrt(a)
    assert 3 ** Integer(5) == 243
    assert list(range(5))[Integer(2)] == 2


def decimal(a):
    sys.set_int_max_str_digits(0)
    return str(a)


def test_texts_in_every_base_round_trip():
    for base in range(2, 37):
        for a in [0, 1, -base, base**50 - 1, -(7**300)]:
            text = Integer(a).digits(base)
            assert int(text, base) == a
            assert Integer(text, base) == Integer(text.upper(), base) == a
    assert [Integer(text) for text in ["0xff", "-0b11", "0o17", " 12 "]] == [255, -3, 15, 12]


def test_bytes_are_those_of_int():
    for a in map(abs, numbers()):
        for order in ["little", "big"]:
            least = (a.bit_length() + 7) // 8
            for length in [least, least + 1, least + 9]:
                data = a.to_bytes(length, order)
                assert Integer(a).to_bytes(length, order) == data
                assert Integer.from_bytes(data, order) == Integer.from_bytes(bytearray(data), order) == a
        assert Integer(a).to_bytes() == a.to_bytes(least, "big")


def test_a_modulus_computes_as_int_does():
    draw = random.Random(3)
    for bits in [2, 64, 65, 1000, 9000]:
        secret = bits <= 1000  # a secret exponent takes as long as one of the modulus's length
        for m in [draw.getrandbits(bits) | 1 << (bits - 1) | 1, 2**bits]:
            ring = Modulus(m)
            assert (ring.value, pickle.loads(pickle.dumps(ring)).value) == (m, m)
            for a in [0, -1, m, draw.getrandbits(2 * bits), -draw.getrandbits(3 * bits)]:
                b, e = draw.getrandbits(bits), draw.getrandbits(40)
                assert ring.reduce(a) == a % m
                assert (ring.add(a, b), ring.sub(a, b)) == ((a + b) % m, (a - b) % m)
                assert (ring.mul(a, b), ring.square(a)) == (a * b % m, a * a % m)
                assert ring.pow(a, e) == ring.pow(a, e, secret=secret) == sl.bigint.powmod(a, e, m) == pow(a, e, m)
                if math.gcd(a, m) == 1:
                    assert ring.inverse(a) == ring.pow(a, -1) == ring.pow(a, -1, secret=secret) == pow(a, -1, m)
                else:
                    with pytest.raises(sl.RangeError, match="inverse"):
                        ring.inverse(a)


def test_divisors_and_their_cofactors():
    draw = random.Random(4)
    for a in numbers():
        b, c = draw.choice(numbers()), draw.getrandbits(300)
        for x, y in [(a, b), (a * c, b * c), (a, a)]:
            g, s, t = sl.bigint.gcdext(x, y)
            assert g == sl.bigint.gcd(x, y) == math.gcd(x, y)
            assert s * x + t * y == g


def test_probable_primes():
    sieve = [all(n % d for d in range(2, math.isqrt(n) + 1)) for n in range(2, 1000)]
    assert [sl.bigint.is_probable_prime(n) for n in range(2, 1000)] == sieve
    for exponent in [89, 107, 521, 607]:
        assert sl.bigint.is_probable_prime(2**exponent - 1)
        assert not sl.bigint.is_probable_prime((2**exponent - 1) * (2**89 - 1))
    assert not any(map(sl.bigint.is_probable_prime, [-7, 0, 1]))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Integer("12x"), sl.FormatError, "'x' at position 2 is not a decimal digit"),
        (lambda: Integer(""), sl.FormatError, "at least one decimal digit"),
        (lambda: Integer("0", 37), sl.RangeError, "base 37"),
        (lambda: Integer(5).digits(1), sl.RangeError, "base 1"),
        (lambda: Integer(1.5), sl.TypeMismatchError, "float is no integer"),
        (lambda: sl.bigint.mul("3", 4), sl.TypeMismatchError, "str is no integer"),
        (lambda: Integer(-1).to_bytes(), sl.RangeError, "negative"),
        (lambda: Integer(256).to_bytes(1), sl.RangeError, "takes 2 bytes, not 1"),
        (lambda: Integer(2).to_bytes(1, "middle"), sl.RangeError, "byte order"),
        (lambda: sl.bigint.isqrt(-4), sl.RangeError, "negative"),
        (lambda: Integer(2) ** -1, sl.RangeError, "at least 0"),
        (lambda: Integer(2) ** (1 << 40), sl.RangeError, "longer than 1 GiB"),
        (lambda: Integer(1) << (1 << 40), sl.RangeError, "longer than 1 GiB"),
        (lambda: Integer(1) >> -1, sl.RangeError, "at least 0"),
        (lambda: Modulus(1), sl.RangeError, "at least 2"),
        (lambda: Modulus(-5), sl.RangeError, "at least 2"),
        (lambda: sl.bigint.powmod(2, -1, 4), sl.RangeError, "inverse"),
    ],
)
def test_mistakes_are_explained(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_long_products_are_those_of_gmp():
    try:
        import gmpy2
    except ImportError:
        left_out("gmpy2", "the package is not installed")
    draw = random.Random(5)
    for bits in [(200_000, 200_000), (3_000_000, 2000), (785_006, 785_006)]:
        a, b = (draw.getrandbits(n) for n in bits)
        assert int(sl.bigint.mul(a, b)) == int(gmpy2.mpz(a) * gmpy2.mpz(b))
        assert int(sl.bigint.square(a)) == int(gmpy2.mpz(a) ** 2)

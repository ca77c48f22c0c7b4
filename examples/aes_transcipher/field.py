"""The S-box of AES over small fields: the tables by which the encrypted rounds compute.

A byte x is an element of the field of 256 elements. It is written with four *digits* from the subfield GF(4), as
x = h1 a1 + h0 a0 + l1 b1 + l0 b0. The S-box is an inverse and a linear map. The inverse of x is x^16 d^-1, where
d = x^17 is in the subfield GF(16). So an inverse takes four steps:

1. d is the exclusive or of four functions, each of one digit h and one digit l.
2. The inverse e of d is one function of the four bits of d. It has two digits.
3. x^16 e is the sum of eight products of two digits in GF(4).
4. A bit of the S-box, and any exclusive or of such bits, is the exclusive or of one bit of each product.

Every function above has an argument of four bits, so it is one table with 16 entries.
"""

from itertools import product

REDUCTION = 0x11B  # the polynomial of AES, FIPS 197 section 4.2
CONSTANT = 0x63  # the constant of the S-box, which the client adds to the round keys

# The vectors a1, a0, b1, b0 of the digits, and those of the two digits of e. Of 136,000 choices, 6012 keep the sums of
# step 4 within the 15 bits that one bootstrap adds. This one has the fewest terms.
DIGITS = (26, 184, 52, 107)
INVERSE_DIGITS = (13, 92)


def times(a: int, b: int) -> int:
    """Return the product in the field of 256 elements."""
    result = 0
    while b:
        result ^= a * (b & 1)
        a, b = a << 1, b >> 1
        a ^= REDUCTION * (a >> 8)
    return result


def power(a: int, exponent: int) -> int:
    """Return a power in the field."""
    result = 1
    for _ in range(exponent):
        result = times(result, a)
    return result


def trace(a: int) -> int:
    """Return the trace of an element, which is 0 or 1."""
    result = 0
    for _ in range(8):
        result, a = result ^ a, times(a, a)
    return result


def linear(v: int) -> int:
    """Return the linear part of the S-box (FIPS 197, section 5.1.1) of the inverse v."""
    turned = [(v << k | v >> (8 - k)) & 255 for k in range(5)]
    return turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ turned[4]


def sbox(x: int) -> int:
    """Return the S-box of a byte."""
    return linear(power(x, 254)) ^ CONSTANT


GF4 = [x for x in range(256) if power(x, 4) == x]
SQUARES4 = [power(x, 4) for x in range(256)]
CONJUGATES = [power(x, 16) for x in range(256)]
NORMS = [power(x, 17) for x in range(256)]
TRACES = [trace(x) for x in range(256)]
GF16 = [x for x in range(256) if power(x, 16) == x]


def to_digit(x: int) -> int:
    """Return the trace of an element in the subfield GF(4)."""
    return x ^ SQUARES4[x] ^ CONJUGATES[x] ^ SQUARES4[CONJUGATES[x]]


def functional(bit: list[int]) -> int:
    """Return the w for which trace(w v) is `bit[i]` for each v = 2^i."""
    return next(w for w in range(256) if all(TRACES[times(w, 1 << i)] == bit[i] for i in range(8)))


def of_inverse(z: int, factor: int) -> int:
    """Return the w for which trace(w v) is trace(z factor linear(v)) for all v."""
    return functional([TRACES[times(z, times(factor, linear(1 << i)))] for i in range(8)])


PRODUCTS = [times(CONJUGATES[x], y) for x, y in product(DIGITS, INVERSE_DIGITS)]


def readings(z: int, factor: int) -> list[int]:
    """Return, for each of the eight products p of step 3, the c of GF(4) so that the bit is the sum of trace4(c p)."""
    w = of_inverse(z, factor)
    return [to_digit(times(w, vector)) for vector in PRODUCTS]


def trace4(x: int) -> int:
    """Return the trace of an element of GF(4), which is 0 or 1."""
    return x ^ times(x, x)


def _state_bits() -> list[int]:
    """Return the z of the eight bits trace(z x) of the state: for each digit, the two with the fewest products."""
    found = []
    for i in range(4):
        dual = next(z for z in range(256) if all(to_digit(times(z, v)) == (k == i) for k, v in enumerate(DIGITS)))
        choices = sorted(
            (times(scale, dual) for scale in GF4[1:]),
            key=lambda z: sum(count * (c != 0) for f, count in ((1, 2), (2, 1), (3, 1)) for c in readings(z, f)),
        )
        found += choices[:2]
    return found


BITS = _state_bits()
"""The z of each bit trace(z x) of a state byte x."""


def encode(x: int) -> list[int]:
    """Return the bits of a byte in the form of the state."""
    return [TRACES[times(z, x)] for z in BITS]


_BYTES = {tuple(encode(x)): x for x in range(256)}


def decode(bits: list[int]) -> int:
    """Return the byte of bits in the form of the state."""
    return _BYTES[tuple(bits)]


def _digit(place: int, bits: int) -> int:
    """Return the part of x that the two bits of one digit stand for."""
    return decode([bits >> k - 2 * place & 1 if k // 2 == place else 0 for k in range(8)])


def norm_table(first: int, second: int) -> list[int]:
    """Return the part of d that the digits at place `first`, 0 or 1, and `second`, 2 or 3, give.

    The place in the table is the second digit plus four times the first one.
    """
    table = []
    for high, low in product(range(4), repeat=2):
        x, y = _digit(first, high), _digit(second, low)
        both = NORMS[x ^ y] ^ NORMS[x] ^ NORMS[y]
        # The part of one digit alone belongs to one of its two tables.
        table.append(_apart(GF16.index(both ^ (NORMS[x] ^ NORMS[y] if second == first + 2 else 0)), 4))
    return table


def inverse_table() -> list[int]:
    """Return the digits of the inverse of d, two bits each, at the bits of d."""
    table = []
    for d in GF16:
        e = power(d, 14)
        table.append(
            next(
                i
                for i, (high, low) in enumerate(product(GF4, repeat=2))
                if times(high, INVERSE_DIGITS[1]) ^ times(low, INVERSE_DIGITS[0]) == e
            )
        )
    return table


def product_table(place: int) -> list[int]:
    """Return the three bits trace4(GF4[i] p), i from 1 to 3, where p is the product of a digit of x^16 and one of e.

    The place in the table is the digit of e plus four times the digit of x at `place`.
    """
    table = []
    for high, low in product(range(4), repeat=2):
        vector = CONJUGATES[DIGITS[place]]
        digit = times(CONJUGATES[_digit(place, high)], power(vector, 254))
        p = times(digit, GF4[low])
        table.append(_apart(sum(trace4(times(GF4[c], p)) << c - 1 for c in (1, 2, 3)), 3))
    return table


def _apart(bits: int, count: int) -> int:
    """Move bit b to place 2 b. A server keeps two bits of an integer together, and these have to be separate."""
    return sum((bits >> b & 1) << 2 * b for b in range(count))

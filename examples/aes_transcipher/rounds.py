"""The rounds of AES-128 as programs of Solinas.

The state is an array of 16 bytes with eight bits each, in the form of `field.BITS`. A bit is an integer of the type U1,
whose sum is the exclusive or. A server adds up to 15 encrypted bits and reads the last bit of the sum in one bootstrap.
"""

import field

import solinas as sl

U1, U2, U4, U6 = sl.uint(1), sl.uint(2), sl.uint(4), sl.uint(6)
State = sl.Array[U1, 16, 8]

NORMS = {(i, j): field.norm_table(i, j) for i in (0, 1) for j in (2, 3)}
INVERSES = field.inverse_table()
PRODUCTS = [field.product_table(place) for place in range(4)]


def pair(low: sl.UInt, high: sl.UInt) -> sl.UInt:
    """Return two bits, or two digits of two bits, as one integer. This takes no bootstrap."""
    width = low.width
    wide = sl.uint(2 * width)
    return low.cast(wide) + (sl.select(high == 1, wide(2), 0) if width == 1 else high.cast(wide) << width)


def split(value: sl.UInt, count: int) -> list[sl.UInt]:
    """Return the bits at places 0, 2, 4, ... This takes no bootstrap."""
    return [(value >> 2 * b).cast(U1) for b in range(count)]


def exclusive_or(bits: list[sl.UInt]) -> sl.UInt:
    """Return the exclusive or of up to 15 bits, by one bootstrap."""
    return sl.Array(bits).sum()


def products(byte: sl.Array) -> list[list[sl.UInt]]:
    """Return the eight products of a byte (`field`, step 3), each as its three traces. This takes 17 bootstraps."""
    digits = [pair(byte[2 * i], byte[2 * i + 1]) for i in range(4)]
    parts = [split(sl.lookup(table, pair(digits[j], digits[i]), sl.U8), 4) for (i, j), table in NORMS.items()]
    d = [exclusive_or([part[b] for part in parts]) for b in range(4)]
    e = sl.lookup(INVERSES, pair(pair(d[0], d[1]), pair(d[2], d[3])), U4)
    return [
        split(sl.lookup(PRODUCTS[place], pair(half.cast(U2), digits[place]), U6), 3)
        for place in range(4)
        for half in (e, e >> 2)
    ]


def terms(of: list[list[sl.UInt]], z: int, factor: int) -> list[sl.UInt]:
    """Return bits whose exclusive or is trace(z factor S), where S is the linear part of the S-box of a byte."""
    return [bits[field.GF4.index(c) - 1] for bits, c in zip(of, field.readings(z, factor), strict=True) if c != 0]


@sl.program
def middle_round(state: State, key: State) -> State:
    """SubBytes, ShiftRows, MixColumns and AddRoundKey."""
    of = [products(state[i]) for i in range(16)]
    mixed: list[list[sl.UInt]] = [[] for _ in range(16)]
    for column in range(4):
        rows = [of[4 * ((column + r) % 4) + r] for r in range(4)]
        for k, z in enumerate(field.BITS):
            once = [terms(row, z, 1) for row in rows]
            above, below = exclusive_or(once[0] + once[1]), exclusive_or(once[2] + once[3])
            for r in range(4):
                # MixColumns gives 2 a + 3 b + c + d for the bytes a, b, c, d from row r on. In odd rows this is
                # 3 a + 2 b + (a + b + c + d).
                odd = r % 2
                own = terms(rows[r], z, 2 + odd) + terms(rows[(r + 1) % 4], z, 3 - odd)
                rest = [above, below] if odd else [below, above][r // 2 : r // 2 + 1]
                mixed[4 * column + r].append(exclusive_or([*own, *rest, key[4 * column + r, k]]))
    return sl.Array(mixed)


@sl.program
def last_round(state: State, key: State) -> sl.Array[sl.U8, 16]:
    """SubBytes, ShiftRows and AddRoundKey. The key and the result are in the bits of AES."""
    of = [products(state[i]) for i in range(16)]
    result = []
    for i in range(16):
        source = of[4 * ((i // 4 + i) % 4) + i % 4]
        bits = [
            exclusive_or([*terms(source, field.functional([int(b == k) for b in range(8)]), 1), key[i, k]])
            for k in range(8)
        ]
        fours = [pair(pair(*bits[k : k + 2]), pair(*bits[k + 2 : k + 4])) for k in (0, 4)]
        result.append(pair(*fours))
    return sl.Array(result)

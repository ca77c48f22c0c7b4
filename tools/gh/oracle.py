#!/usr/bin/env python3
"""Write the golden data of the Gentry-Halevi scheme.

The data are the random choices of a key pair and of a few ciphertexts, and the values that follow from them. The
program evaluates the definitions literally, on Python integers, with slow methods. It finds the inverse of v by
linear algebra on halves of polynomials, each candidate by one modular product, and symmetric polynomials one factor at
a time. Needs no package.

    python3 tools/gh/oracle.py > crates/schemes/src/gh/tests/oracle.txt

A line is a name and its values. Values are signed hexadecimal numbers, and indices are decimal. A noise polynomial is a
list of signed exponents, counted from 1: "-3" stands for -r^2.
"""

import math
import random

SETS = [  # name, n, t, s, S, whether to write the indicators
    ("ci-3", 64, 60, 3, 16, True),
    ("ci-7", 64, 160, 7, 64, False),
]


def negacyclic(a, b):
    n = len(a)
    out = [0] * n
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if i + j < n:
                out[i + j] += x * y
            else:
                out[i + j - n] -= x * y
    return out


def norm_and_cofactor(v):
    """Return d and g with v g = d modulo x^n + 1.

    The recursion finds the cofactor of v(x) v(-x) first, which is a polynomial in x^2.
    """
    if len(v) == 1:
        return v[0], [1]
    mirrored = [-x if i % 2 else x for i, x in enumerate(v)]
    d, g = norm_and_cofactor(negacyclic(v, mirrored)[::2])
    spread = [0] * len(v)
    spread[::2] = g
    return d, negacyclic(spread, mirrored)


def centred(x, d):
    x %= d
    return x - d if 2 * x > d else x


def symmetric(bits, degree, d):
    e = [1] + [0] * degree
    for bit in bits:
        for k in range(degree, 0, -1):
            e[k] = (e[k] + e[k - 1] * bit) % d
    return e


def main():
    rng = random.Random("gentry-halevi golden data")
    for name, n, t, s, candidates, write_indicators in SETS:
        p = (s + 1).bit_length() - 1
        rho = -(-n * t // (s * (candidates - 1)))
        m = math.ceil(2 * math.sqrt(candidates))
        nz = max(s, math.ceil(144 / (math.log2(n) - 2)))

        def show(what, *values):
            print(what, *(format(x, "x") for x in values))

        def noise():
            return [rng.choice((-1, 1)) * (i + 1) for i in range(n) if rng.random() < nz / n]

        print("params", name)
        while True:
            v = [rng.randrange(-(1 << (t - 1)), 1 << (t - 1)) for _ in range(n)]
            if sum(v) % 2 == 0:
                v[0] += 1
            d, w = norm_and_cofactor(v)
            assert d % 2 == 1 and negacyclic(v, w) == [d] + [0] * (n - 1)
            if d < 0:
                d, w = -d, [-x for x in w]
            if math.gcd(w[0], d) == 1 and math.gcd(w[1], d) == 1:
                break
        r = w[0] * pow(w[1], -1, d) % d
        assert pow(r, n, d) == d - 1 and all((w[i + 1] * r - w[i]) % d == 0 for i in range(n - 1))
        secret = next(x for x in (centred(x, d) for x in w) if x % 2) % d
        show("v", *v)
        show("d", d)
        show("r", r)
        show("w", secret)

        x = [rng.randrange(d) for _ in range(s - 1)]
        indices = [rng.randrange(candidates) for _ in range(s)]
        show("x", *x)
        print("indices", *indices)
        rest = (secret - sum(x[k] * pow(2, rho * indices[k], d) for k in range(s - 1))) % d
        x.append(rest * pow(pow(2, rho * indices[-1], d), -1, d) % d)
        show("last", x[-1])

        powers = [pow(r, i, d) for i in range(n)]

        def encrypt(bit, terms):
            return (bit + 2 * sum(powers[abs(i) - 1] * (1 if i > 0 else -1) for i in terms)) % d

        pairs = [(a, b) for a in range(m) for b in range(a + 1, m)][:candidates]
        eta = []
        for k in range(s):
            for a in range(m):
                terms = noise()
                print("noise", *terms)
                eta.append(encrypt(int(a in pairs[indices[k]]), terms))
                if write_indicators:
                    show("indicator", eta[-1])

        for bit in (0, 1):
            terms = noise()
            c = encrypt(bit, terms)
            print("encrypt", bit, *terms)
            show("ciphertext", c)
            assert centred(c * secret, d) % 2 == bit
            columns = [[] for _ in range(p + 1)]
            for k in range(s):
                block = []
                for i in range(candidates):
                    y = c * x[k] * pow(2, rho * i, d) % d
                    rounded = ((y << (p + 1)) // d + 1) >> 1
                    block.append(rounded ^ (y & 1) << p)
                print("candidates", *block)
                for j in range(p + 1):
                    total = sum(
                        eta[k * m + a] * eta[k * m + b] for (a, b), z in zip(pairs, block) if z >> (p - j) & 1
                    )
                    columns[j].append(total % d)
                show("columns", *(column[-1] for column in columns))
            half = 0
            for j in range(p, 0, -1):
                powers_of_two = min(j, len(columns[j]).bit_length() - 1)
                e = symmetric(columns[j], 1 << powers_of_two, d)
                for power in range(1, powers_of_two + 1):
                    columns[j - power].append(e[1 << power])
                half = e[1]
            recrypted = (sum(columns[0]) + half) % d
            assert centred(recrypted * secret, d) % 2 == bit
            show("recrypted", recrypted)


if __name__ == "__main__":
    main()

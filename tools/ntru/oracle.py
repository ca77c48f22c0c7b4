#!/usr/bin/env python3
"""Write the golden data of the NTRU scheme.

The data are the random choices of a key pair and of ciphertexts, and the values that follow from them. The program
evaluates the definitions literally, on Python integers modulo the product of all primes. It uses schoolbook
products and finds inverses by linear algebra, without a residue number system or a transform. Needs no package.

    python3 tools/ntru/oracle.py > crates/schemes/src/ntru/tests/oracle.txt

A line is a name and its values, which are signed decimal numbers. A polynomial is the list of its coefficients, lowest
first. Coefficients modulo Q_j are in 0..Q_j, in hexadecimal.
"""

import random

SETS = [  # name, n, p, primes from level 1, ring dimensions from level 1
    ("bits", 16, 2, [3, 3, 3], [16, 16, 16]),
    ("numbers", 16, 17, [3, 3], [16, 16]),
    ("rings", 64, 2, [3, 3, 3], [16, 32, 64]),
]
BITS = 40
SIGMA = 2.39


def is_prime(n):
    if n < 2 or any(n % b == 0 and n != b for b in (2, 3, 5, 7, 11, 13)):
        return False
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        x = pow(base, odd, n)
        if x not in (1, n - 1) and all((x := x * x % n) != n - 1 for _ in range(twos - 1)):
            return False
    return True


def largest_primes(bits, count, step):
    found, candidate = [], ((1 << bits) - 1) // step * step + 1
    while len(found) < count:
        if candidate < 1 << bits and is_prime(candidate):
            found.append(candidate)
        candidate -= step
    return found


def multiply(a, b, modulus):
    n = len(a)
    out = [0] * n
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if i + j < n:
                out[i + j] += x * y
            else:
                out[i + j - n] -= x * y
    return [x % modulus for x in out]


def inverse_modulo_prime(f, q):
    """Return g with f g = 1 modulo q, or None if f is a zero divisor, by elimination on the matrix of f."""
    n = len(f)
    rows = []
    for i in range(n):
        row = [f[i - j] if i >= j else -f[i - j + n] for j in range(n)]
        rows.append([x % q for x in row] + [1 if i == 0 else 0])
    for column in range(n):
        pivot = next((i for i in range(column, n) if rows[i][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        scale = pow(rows[column][column], -1, q)
        rows[column] = [x * scale % q for x in rows[column]]
        for i in range(n):
            if i != column and rows[i][column]:
                factor = rows[i][column]
                rows[i] = [(x - factor * y) % q for x, y in zip(rows[i], rows[column])]
    return [row[n] for row in rows]


def inverse(f, primes):
    modulus, out = 1, [0] * len(f)
    for q in primes:
        part = inverse_modulo_prime(f, q)
        if part is None:
            return None
        lift = pow(modulus, -1, q)
        out = [x + modulus * ((y - x) * lift % q) for x, y in zip(out, part)]
        modulus *= q
    return out


def centred(x, modulus):
    x %= modulus
    return x - modulus if 2 * x > modulus else x


def mod_reduce(c, q, modulus, p):
    """Return (c + Delta) / q, where Delta is the least number in magnitude that is -c modulo q and 0 modulo p."""
    v, out = pow(q, -1, p), []
    for x in c:
        d = centred(x, q)
        delta = (v * q - 1) * d % (p * q)
        if 2 * delta > p * q:
            delta -= p * q
        # If p = 2, delta and delta - 2q are both candidates. Their magnitudes differ, because q is odd.
        assert (x + delta) % q == 0 and delta % p == 0
        out.append((x + delta) // q % (modulus // q))
    return out


def main():
    rng = random.Random("ntru golden data")

    def gauss(n):
        return [round(rng.gauss(0, SIGMA)) for _ in range(n)]

    def show(what, values):
        print(what, *values)

    def show_residues(what, values):
        print(what, *(format(x, "x") for x in values))

    for name, n, p, levels, dimensions in SETS:
        top = len(levels)
        step = 2 * n if (2 * n) % p == 0 else 2 * n * p
        primes = largest_primes(BITS, top, step)
        moduli = [1]
        for q in primes:
            moduli.append(moduli[-1] * q)
        show("params " + name, [n, p, top])
        show("dimensions", dimensions)
        show("primes", primes)

        def key(dimension, count):
            """Return f', f = p f' + 1, and 1/f modulo the first `count` primes."""
            while True:
                short = gauss(dimension)
                f = [p * x for x in short]
                f[0] += 1
                inverted = inverse(f, primes[:count])
                if inverted is not None:
                    return short, f, inverted

        def one(dimension):
            e = gauss(dimension)
            m = [p * x for x in e]
            m[0] += 1
            return e, m

        # Every level has a key. If the ring of the level above is larger, the level has a second key in that ring.
        keys, wide = {}, {}
        for level in range(1, top + 1):
            dimension, above = dimensions[level - 1], dimensions[min(level, top - 1)]
            keys[level] = key(dimension, min(level + 1, top))
            show("key", keys[level][0])
            if above != dimension:
                wide[level] = key(above, level + 1)
                show("wide", wide[level][0])
        g = gauss(n)
        show("g", g)
        h = multiply(g, keys[top][2], moduli[top])
        show_residues("h", h)

        square, linear, ring = {}, {}, {}
        for level in range(2, top + 1):
            modulus, dimension = moduli[level], dimensions[level - 1]
            below = wide.get(level - 1, keys[level - 1])
            divisor = inverse(below[1], primes[:level])
            f = keys[level][1]
            e, m = one(dimension)
            show("mask", e)
            square[level] = multiply(multiply(multiply(m, f, modulus), f, modulus), divisor, modulus)
            show_residues("square", square[level])
            e, m = one(dimension)
            show("mask", e)
            linear[level] = multiply(multiply(m, f, modulus), divisor, modulus)
            show_residues("linear", linear[level])
            e, m = one(dimension)
            show("mask", e)
            if level - 1 in wide:
                factor = dimension // dimensions[level - 2]
                spread = [0] * dimension
                spread[::factor] = keys[level - 1][1]
                modulus = moduli[level - 1]
                divisor = inverse(spread, primes[: level - 1])
                ring[level - 1] = multiply(multiply(m, wide[level - 1][1], modulus), divisor, modulus)
                show_residues("ring", ring[level - 1])

        def encrypt():
            mu, r, e = [rng.randrange(p) for _ in range(n)], gauss(n), gauss(n)
            show("message", mu)
            show("r", r)
            show("m", e)
            c = multiply(r, h, moduli[top])
            small = [p * x + (centred(y, p) if p > 2 else y) for x, y in zip(e, mu)]
            c = [(p * x + y) % moduli[top] for x, y in zip(c, small)]
            show_residues("ciphertext", c)
            return mu, [c]

        def parts_product(a, b, modulus):
            """Return the product in Z[Y] over the small ring, whose variable is Y^w."""
            width, small = len(a), len(a[0])
            out = [[0] * small for _ in range(width)]
            for i, x in enumerate(a):
                for j, y in enumerate(b):
                    z = multiply(x, y, modulus)
                    if i + j >= width:
                        z = [-z[-1]] + z[:-1]
                    out[(i + j) % width] = [(u + v) % modulus for u, v in zip(out[(i + j) % width], z)]
            return out

        def down(parts, hint, level):
            """Switch the key and divide. If the ring of the level below is smaller, also reduce the ring."""
            parts = [multiply(part, hint, moduli[level]) for part in parts]
            for part in parts:
                show_residues("switched", part)
            parts = [mod_reduce(part, primes[level - 1], moduli[level], p) for part in parts]
            for part in parts:
                show_residues("reduced", part)
            if level - 1 in ring:
                factor, width = dimensions[level - 1] // dimensions[level - 2], len(parts)
                out = [None] * (factor * width)
                for i, part in enumerate(parts):
                    part = multiply(part, ring[level - 1], moduli[level - 1])
                    for k in range(factor):
                        out[i + width * k] = part[k::factor]
                parts = out
                for part in parts:
                    show_residues("small", part)
            return parts

        def decrypt(parts, level):
            out, width = [0] * n, len(parts)
            for i, part in enumerate(parts):
                b = multiply(part, keys[level][1], moduli[level])
                out[i::width] = [centred(x, moduli[level]) % p for x in b]
            return out

        (a, x), (b, y) = encrypt(), encrypt()
        lowered = down(x, linear[top], top)
        assert decrypt(lowered, top - 1) == a
        level = top
        while level > 1:
            product = parts_product(x, y, moduli[level])
            for part in product:
                show_residues("product", part)
            product = down(product, square[level], level)
            level -= 1
            a, b = [v % p for v in multiply(a, b, p)], [v % p for v in multiply(a, b, p)]
            x = y = product
            assert decrypt(x, level) == a, (name, level)
            show("message", a)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Write the golden data of NTRU's bootstrapping.

The data are the random choices of the keys, and digests of the values that follow from them. Like `oracle.py`, the
program evaluates the definitions literally, on Python integers, without residues or transforms. Needs no package.

    python3 tools/ntru/bootstrap_oracle.py > crates/schemes/src/ntru/tests/bootstrap.txt

A line is a name and its values. A polynomial is given by the SHA-256 of its residues, prime by prime. In each prime the
lowest coefficient comes first, and each residue is 8 bytes, least significant first.
"""

import hashlib
import random

from oracle import centred, inverse, largest_primes, mod_reduce, multiply

N, PRECISION, WEIGHT, LEVELS, GROUPS = 64, 5, 16, 7, 2
BITS = 40
SIGMA = 2.39


def product(numbers):
    out = 1
    for x in numbers:
        out *= x
    return out


def automorphism(f, exponent):
    out = [0] * N
    for i, x in enumerate(f):
        place = i * exponent % (2 * N)
        if place < N:
            out[place] += x
        else:
            out[place - N] -= x
    return out


def fast_lift(f, primes):
    """Return sum_i (f (Q/q_i)^-1 mod q_i) Q/q_i for each coefficient: integers that equal f modulo Q, the product."""
    whole = product(primes)
    parts = [(q, whole // q, pow(whole // q, -1, q)) for q in primes]
    return [sum(x * lift % q * cofactor for q, cofactor, lift in parts) for x in f]


def main():
    rng = random.Random("ntru bootstrapping")
    primes = largest_primes(BITS, LEVELS, 2 * N)
    size = -(-LEVELS // GROUPS)
    special = largest_primes(BITS + 2, size, 2 * N)
    moduli = [product(primes[:j]) for j in range(LEVELS + 1)]
    top, extra = moduli[LEVELS], product(special)
    low, steps = 1 << PRECISION, N.bit_length() - 1

    def show(name, values):
        print(name, *values)

    def digest(name, f, over):
        state = hashlib.sha256()
        for q in over:
            for x in f:
                state.update((x % q).to_bytes(8, "little"))
        print(name, state.hexdigest())

    def gauss():
        return [round(rng.gauss(0, SIGMA)) for _ in range(N)]

    def one_plus(factor, e):
        return [factor * x + (1 if i == 0 else 0) for i, x in enumerate(e)]

    show("primes", primes)
    show("special", special)
    keys, inverses = {}, {}
    for level in range(1, LEVELS + 1):
        over = primes + special if level == LEVELS else primes[: level + 1]
        while True:
            short = [rng.choice((-1, 0, 1)) for _ in range(N)]
            keys[level] = one_plus(2, short)
            inverses[level] = inverse(keys[level], over)
            if inverses[level]:
                break
        show("key", short)
    g = gauss()
    show("g", g)
    square, linear = {}, {}
    for level in range(2, LEVELS + 1):
        modulus, f = moduli[level], keys[level]
        below = [x % modulus for x in inverses[level - 1]]
        for name, hints, power in (("square", square, 2), ("linear", linear, 1)):
            e = gauss()
            show("mask", e)
            hint = multiply(one_plus(low, e), below, modulus)
            for _ in range(power):
                hint = multiply(hint, f, modulus)
            hints[level] = hint
            digest(name, hint, primes[:level])

    # The bootstrapping key.
    while True:
        sparse = [0] * N
        for place in rng.sample(range(N), WEIGHT):
            sparse[place] = rng.choice((-1, 1))
        sparse_inverse = inverse(sparse, primes[:1])
        if sparse_inverse:
            break
    show("sparse", sparse)

    def mask():
        e = gauss()
        show("mask", e)
        return e

    to_sparse = multiply(multiply(one_plus(2, mask()), keys[1], moduli[1]), sparse_inverse, moduli[1])
    digest("key", to_sparse, primes[:1])
    top_inverse = [x % top for x in inverses[LEVELS]]
    scale = pow(N, -1, top)
    embed = multiply([low * x + f for x, f in zip(mask(), sparse)], top_inverse, top)
    embed = [x * scale % top for x in embed]
    digest("key", embed, primes)
    shift = multiply(one_plus(low, mask()), top_inverse, top)
    shift = [x * scale * (low // 4) % top for x in shift]
    digest("key", shift, primes)
    groups = [primes[i : i + size] for i in range(0, LEVELS, size)]
    rounds = []
    for first in range(0, steps, 2):
        exponents = [1]
        for step in range(first, min(first + 2, steps)):
            exponents += [x * ((N >> step) + 1) % (2 * N) for x in exponents]
        rounds.append(exponents[1:])
    trace = {}
    for exponent in (x for exponents in rounds for x in exponents):
        for i, group in enumerate(groups):
            # `unit` is 1 modulo the primes of the group and 0 modulo the others.
            rest = top // product(group)
            unit = rest * pow(rest, -1, product(group))
            whole = top * extra
            # `weighted` is P E_g F modulo Q P. It is 0 modulo P.
            weighted = [extra * (unit * x % top) for x in keys[LEVELS]]
            numerator = [low * e + w for e, w in zip(mask(), weighted)]
            back = pow(exponent, -1, 2 * N)
            trace[exponent, i] = multiply(numerator, automorphism(inverses[LEVELS], back), whole)
            digest("key", trace[exponent, i], primes + special)

    def mod_down(c):
        half = (extra - 1) // 2
        out = []
        for x, lifted in zip(c, fast_lift([x + half for x in c], special)):
            d = lifted - half
            d += extra * centred(-d * pow(extra, -1, low), low)
            assert (x - d) % extra == 0 and d % low == 0
            out.append((x - d) // extra % top)
        return out

    def divided(c, level, modulus):
        return mod_reduce(c, primes[level - 1], moduli[level], modulus)

    def bootstrap(bit, amplitude):
        noise = [rng.randrange(-amplitude, amplitude + 1) for _ in range(N)]
        message = one_plus(2, noise) if bit else [2 * x for x in noise]
        q = primes[0]
        c = multiply(message, [x % q for x in inverses[1]], q)
        show("ciphertext", c)
        c = [x * (q + 1) // 2 % q for x in multiply(c, to_sparse, q)]
        c = [(2 * low * x + q) // (2 * q) % low for x in c]
        c = [x - low if x >= low // 2 else x for x in c]
        show("rounded", c)
        phase = multiply(sparse, c, low)
        c = [(x + y) % top for x, y in zip(multiply(c, embed, top), shift)]
        digest("embedded", c, primes)
        for exponents in rounds:
            total = [0] * N
            for exponent in exponents:
                parts = [0] * N
                for i, group in enumerate(groups):
                    term = multiply(fast_lift(c, group), trace[exponent, i], top * extra)
                    parts = [x + y for x, y in zip(parts, term)]
                total = [x + y for x, y in zip(total, automorphism(parts, exponent))]
            c = [(x + y) % top for x, y in zip(c, mod_down([x % (top * extra) for x in total]))]
        digest("traced", c, primes)
        b = [centred(x, top) % low for x in multiply(c, keys[LEVELS], top)]
        assert b == [(phase[0] + low // 4) % low] + [0] * (N - 1)

        level = LEVELS
        rest = divided(multiply(c, linear[level], moduli[level]), level, low)
        digits, level = [rest], level - 1
        while True:
            for digit in digits:
                digest("digit", digit, primes[:level])
            modulus, found = moduli[level], len(digits)
            lowered = multiply(rest, linear[level], modulus)
            squares = [multiply(multiply(x, x, modulus), square[level], modulus) for x in digits]
            if found + 1 == PRECISION:
                factor = pow(2, -found, modulus)
                last = [
                    (x - sum(y << i for i, y in enumerate(ys))) * factor % modulus
                    for x, *ys in zip(lowered, *squares)
                ]
                out = divided(last, level, 2)
                digest("bootstrapped", out, primes[: level - 1])
                b = [centred(x, moduli[level - 1]) % 2 for x in multiply(out, keys[level - 1], moduli[level - 1])]
                assert b == [bit] + [0] * (N - 1)
                return
            rest = divided(lowered, level, low)
            digits = [divided(x, level, low >> i) for i, x in enumerate(squares)]
            level -= 1
            factor = pow(2, -found, moduli[level])
            digits.append(
                [
                    (x - sum(y << i for i, y in enumerate(ys))) * factor % moduli[level]
                    for x, *ys in zip(rest, *digits)
                ]
            )

    for bit, amplitude in ((0, 1 << 10), (1, 1 << 10), (1, 1 << 24)):
        show("bit", [bit])
        bootstrap(bit, amplitude)


if __name__ == "__main__":
    main()

"""Check the noise formulas of search_tfhe.py by Monte Carlo, at real sizes.

For each step, the program prints the measured variance divided by the formula, which should be 1 within a few per cent.
It also prints the constant c of the error of a double-precision transform, measured against extended precision. It
needs numpy 2 or later, whose FFT computes in the precision of its input.

    python check_formulas.py
"""

import numpy as np

from search_tfhe import GATES, UNIT_ROUNDOFF, Glwe, Keyswitch, Set

rng = np.random.default_rng(2018)
Q = 2**32


def uniform(*shape):
    return rng.integers(0, Q, shape, dtype=np.uint64).astype(np.uint32)


def gaussian(sigma, *shape):
    return np.rint(rng.normal(0.0, sigma * Q, shape)).astype(np.int64).astype(np.uint32)


def centred(torus):
    """Return torus elements (uint32) as reals in [-1/2, 1/2)."""
    return torus.astype(np.int32) / Q


def decompose(torus, log_base, levels):
    """Round to log_base * levels bits and return the balanced digits, most significant first."""
    kept = log_base * levels
    base = 1 << log_base
    value = ((torus.astype(np.uint64) + (1 << (31 - kept))) >> (32 - kept)).astype(np.int64)
    digits = []
    for _ in range(levels):
        digit = ((value + base // 2) % base) - base // 2
        value = (value - digit) >> log_base
        digits.append(digit)
    return digits[::-1]


def negacyclic(a, b, real=np.float64):
    """Return the product in R[x]/(x^N + 1) over the last axis, by complex FFTs of N/2 points."""
    n = a.shape[-1]
    half = n // 2
    complex_type = np.result_type(real, np.complex64)
    angle = np.arange(half, dtype=np.longdouble) * (4 * np.arctan(np.longdouble(1)) / n)
    twist = (np.cos(angle) + 1j * np.sin(angle)).astype(complex_type)

    def forward(v):
        folded = (v[..., :half].astype(real) + 1j * v[..., half:].astype(real)).astype(complex_type)
        return np.fft.fft(folded * twist)

    product = np.fft.ifft(forward(a) * forward(b)) * twist.conj()
    assert product.dtype == complex_type
    return np.concatenate([product.real, product.imag], axis=-1)


def check_modulus_switch(n=700, ring=512, trials=20000):
    step = Q // (2 * ring)
    s = rng.integers(0, 2, n)
    a = uniform(trials, n).astype(np.int64)
    rounded = (a + step // 2) // step
    r = a - rounded * step
    # The phase b - <a, s> is 0. The mean of <r, s> is sum(r)/2, which is known and is added to b.
    b = a @ s - r.sum(axis=1) // 2
    phase = ((b + step // 2) // step - rounded @ s) / (2 * ring)
    phase -= np.rint(phase)
    return phase.var() / Set(GATES, n, 0.0, Glwe(ring, 1, 1, 1, 0.0), Keyswitch(1, 1)).variances()["modulus switch"]


def check_keyswitch(dimension=1536, log_base=4, levels=3, x=15.3, keys=12, trials=400):
    formula = Keyswitch(log_base, levels).variance(dimension, x)
    total = 0.0
    for _ in range(keys):
        s = rng.integers(0, 2, dimension)
        e = rng.normal(0.0, 2.0**-x, (dimension, levels))
        a = uniform(trials, dimension)
        noise = np.zeros(trials)
        recomposed = np.zeros(a.shape)
        for j, digit in enumerate(decompose(a, log_base, levels)):
            noise += digit @ e[:, j]
            recomposed += digit / 2.0 ** (log_base * (j + 1))
        r = a / Q - recomposed
        r -= np.rint(r)
        noise += r @ (s - 0.5)  # centred, because sum(r)/2 is added to the body
        total += np.mean(noise**2)
    return total / keys / formula


def check_external_product(glwe, trials=100):
    """Check a product by an encryption of 1, without the error of its transforms."""
    term = glwe.step()
    formula = term["key"] + 2 * term["rounding"]  # the key bit is 1 here
    total = 0.0
    for _ in range(trials):
        noise = np.zeros(glwe.ring)
        for column in range(glwe.k + 1):
            c = uniform(glwe.ring)
            digits = decompose(c, glwe.log_base, glwe.levels)
            for digit in digits:
                noise += negacyclic(digit, rng.normal(0.0, 2.0**-glwe.x, glwe.ring))
            r = c / Q - sum(d / 2.0 ** (glwe.log_base * (j + 1)) for j, d in enumerate(digits))
            r -= np.rint(r)
            noise += r if column == glwe.k else negacyclic(r, rng.integers(0, 2, glwe.ring))
        total += np.mean(noise**2)
    return total / trials / formula


def transform_constant(glwe, trials=100):
    """Return c: the error variance is c u^2 times the mean square of the product. The key is rounded to doubles."""
    half_base = 2 ** (glwe.log_base - 1)
    digits = rng.integers(-half_base, half_base, (trials, glwe.rows, glwe.ring))
    key = rng.integers(-(2**62), 2**62, (trials, glwe.rows, glwe.ring)).astype(np.longdouble) / 2.0**63
    exact = negacyclic(digits, key, np.longdouble).sum(axis=1)
    double = negacyclic(digits, key.astype(np.float64)).sum(axis=1)
    return float(np.mean((double - exact) ** 2) / np.mean(exact**2)) / UNIT_ROUNDOFF**2


if __name__ == "__main__":
    print(f"modulus switch               {check_modulus_switch():.3f}")
    print(f"keyswitch                    {check_keyswitch():.3f}")
    sets = {"gates": Glwe(512, 3, 18, 1, 36.7), "integers": Glwe(2048, 1, 23, 1, 49.9)}
    for name, glwe in sets.items():
        print(f"external product, {name:10s} {check_external_product(glwe):.3f}")
        print(f"transform constant, {name:8s} {transform_constant(glwe):.2f}")

"""Monte-Carlo check of the noise formulas of search_tfhe.py, at real sizes.

Prints measured / formula for each step (all should be 1 within a few per cent), and
the constant c of the FFT error for single precision. numpy >= 2 is needed: its FFT
computes in single precision for single-precision input.

    python check_formulas.py
"""

import numpy as np

from search_tfhe import UNIT_ROUNDOFF, Glwe, Keyswitch, modulus_switch_variance

rng = np.random.default_rng(2018)
Q = 2**32


def uniform(*shape):
    return rng.integers(0, Q, shape, dtype=np.uint64).astype(np.uint32)


def gaussian(sigma, *shape):
    return np.rint(rng.normal(0.0, sigma * Q, shape)).astype(np.int64).astype(np.uint32)


def centred(torus):
    """uint32 torus elements as reals in [-1/2, 1/2)."""
    return torus.astype(np.int32) / Q


def decompose(torus, log_base, levels):
    """Balanced digits, most significant first, of the value rounded to log_base*levels bits."""
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
    """Product in R[x]/(x^N+1), over the last axis, by one complex FFT of N/2 points."""
    n = a.shape[-1]
    half = n // 2
    complex_type = np.complex64 if real is np.float32 else np.complex128
    twist = np.exp(1j * np.pi * np.arange(half) / n).astype(complex_type)

    def forward(v):
        folded = (v[..., :half].astype(real) + 1j * v[..., half:].astype(real)).astype(complex_type)
        return np.fft.fft(folded * twist)

    product = np.fft.ifft(forward(a) * forward(b)) * twist.conj()
    assert product.dtype == complex_type
    return np.concatenate([product.real, product.imag], axis=-1)


def check_modulus_switch(n=696, ring=512, trials=20000):
    step = Q // (2 * ring)
    s = rng.integers(0, 2, n)
    a = uniform(trials, n).astype(np.int64)
    rounded = (a + step // 2) // step
    r = a - rounded * step
    # The phase b - <a, s> is 0; the mean part of <r, s>, sum(r)/2, is known and goes into b.
    b = a @ s - r.sum(axis=1) // 2
    phase = ((b + step // 2) // step - rounded @ s) / (2 * ring)
    phase -= np.rint(phase)
    return phase.var() / modulus_switch_variance(n, ring)


def check_keyswitch(dimension=1024, log_base=4, levels=3, log_sigma=-15.24, keys=12, trials=400):
    formula = sum(Keyswitch(log_base, levels).variance(dimension, log_sigma).values())
    total = 0.0
    for _ in range(keys):
        s = rng.integers(0, 2, dimension)
        e = rng.normal(0.0, 2.0**log_sigma, (dimension, levels))
        a = uniform(trials, dimension)
        noise = np.zeros(trials)
        recomposed = np.zeros(a.shape)
        for j, digit in enumerate(decompose(a, log_base, levels)):
            noise += digit @ e[:, j]
            recomposed += digit / 2.0 ** (log_base * (j + 1))
        r = a / Q - recomposed
        r -= np.rint(r)
        noise += r @ (s - 0.5)  # centred: sum(r)/2 is added to the body
        total += np.mean(noise**2)
    return total / keys / formula


def check_external_product(glwe, trials=60):
    """One product by an encryption of 1, with exact arithmetic (so no FFT term)."""
    term = glwe.step_variance()
    formula = term["key"] + 2 * term["rounding"]  # the key bit is 1 here
    total = 0.0
    for _ in range(trials):
        noise = np.zeros(glwe.ring)
        for column in range(glwe.k + 1):
            body = column == glwe.k
            levels = glwe.body_levels if body else glwe.levels
            c = uniform(glwe.ring)
            digits = decompose(c, glwe.log_base, levels)
            for digit in digits:
                noise += negacyclic(digit, rng.normal(0.0, 2.0**glwe.log_sigma, glwe.ring))
            r = c / Q - sum(d / 2.0 ** (glwe.log_base * (j + 1)) for j, d in enumerate(digits))
            r -= np.rint(r)
            noise += r if body else negacyclic(r, rng.integers(0, 2, glwe.ring))
        total += np.mean(noise**2)
    return total / trials / formula


def fft_constant(glwe, trials=200):
    """c in: error variance = c u^2 (RMS of the output)^2, for f32 sums of all rows."""
    half_base = 2 ** (glwe.log_base - 1)
    digits = rng.integers(-half_base, half_base, (trials, glwe.rows, glwe.ring))
    key = centred(uniform(trials, glwe.rows, glwe.ring))
    exact = negacyclic(digits, key).sum(axis=1)
    single = negacyclic(digits, key.astype(np.float32), np.float32).sum(axis=1, dtype=np.float32)
    return np.mean((single - exact) ** 2) / np.mean(exact**2) / UNIT_ROUNDOFF["f32"] ** 2


if __name__ == "__main__":
    even = Glwe(512, 2, 6, 3, 3, -23.6, "f32")
    uneven = Glwe(512, 2, 6, 3, 2, -23.6, "f32")
    wide = Glwe(1024, 1, 6, 3, 3, -23.6, "f32")
    print(f"modulus switch            {check_modulus_switch():.3f}")
    print(f"keyswitch                 {check_keyswitch():.3f}")
    for name, glwe in {"3 levels": even, "3/2 levels": uneven, "N=1024": wide}.items():
        print(f"external product {name:10s} {check_external_product(glwe):.3f}")
        print(f"f32 FFT constant {name:10s} {fft_constant(glwe):.3f}")

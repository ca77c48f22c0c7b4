#!/usr/bin/env python3
"""Compute the block sizes that break NTRU keys, independently of Rust: the golden values of schemes::ntru::estimate.

The estimate of the dense sublattice follows Ducas and van Woerden 2021 (ePrint 2021/999). The unique shortest vector
has the usual estimate. Needs no package.

    python3 tools/ntru/estimate.py                 the values of the Rust test, and the bounds of 128 bits up to
                                                   n = 8192 (one to two minutes)
    python3 tools/ntru/estimate.py 4096 49 11.46   n, log2 q, variance of the key's coefficients
"""

import math
import sys

EULER = 0.5772156649015329
GAUSS = 36 / (2 * math.pi)
SMALL = [(2, 0.04473), (10, 0.04144), (20, 0.03222), (30, 0.02827), (40, 0.02671), (50, 0.02493), (60, 0.02332)]


def digamma(x):
    shift = 0.0
    while x < 12:
        shift, x = shift + 1 / x, x + 1
    y = 1 / (x * x)
    return math.log(x) - 0.5 / x - y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132)))) - shift


def chi_square(x, degrees):
    """Return Pr(X <= x) for the chi-square distribution, by the series of the incomplete gamma function."""
    a, x = degrees / 2, x / 2
    if x < 1e-200 or a * (x / a - 1 - math.log(x / a)) > 45:
        return 0.0 if x < a else 1.0
    term = total = 1 / a
    k = a
    while term > 1e-16 * total:
        k += 1
        term *= x / k
        total += term
    return min(1.0, total * math.exp(a * math.log(x) - x - math.lgamma(a)))


def zeta_slope(d):
    """Return zeta'(d) / zeta(d), or 0 outside of 2 <= d < 60."""
    if not 2 <= d < 60:
        return 0.0
    cut = 1000
    zeta = sum(k**-d for k in range(1, cut)) + cut ** (1 - d) / (d - 1) + cut**-d / 2
    slope = sum(math.log(k) * k**-d for k in range(2, cut))
    slope += cut ** (1 - d) * (math.log(cut) / (d - 1) + 1 / (d - 1) ** 2) + math.log(cut) * cut**-d / 2
    return -slope / zeta


def heuristic(d, volume):
    return (volume - d / 2 * math.log(math.pi) + math.lgamma(d / 2 + 1)) / d


def root(b):
    return heuristic(b, 0.0) / (b - 1)


def slope(b):
    if b >= 70:
        return 2 * root(b)
    if b > 60:
        return (70 - b) / 10 * SMALL[-1][1] + (b - 60) / 10 * 2 * root(70)
    for (x0, y0), (x1, y1) in zip(SMALL, SMALL[1:]):
        if b <= x1:
            return y0 + (y1 - y0) * (b - x0) / (x1 - x0)


def bisect(low, high, works):
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def shortest_vector(n, log_q, variance):
    samples = {int(n // 8 + (n - n // 8) * k / 59) for k in range(60)}

    def works(b):
        delta = root(b) if b >= 60 else slope(b) / 2
        return any(
            math.log(b * variance) / 2 <= delta * (2 * b - (n + m) - 1) + m / (n + m) * log_q for m in samples
        )

    return 40 if works(40) else bisect(40, 2 * n, works)


def dense_sublattice(n, log_q, variance):
    scale = math.log(n) + math.log(variance) - EULER
    volumes = [(math.log(2) + scale) / 2 + (n - 1) * (1 + scale) / 2]
    for s in range(2 * n - 1, n, -1):
        loss = (digamma((s + 1 - n) / 2) - digamma((s + 1) / 2)) / 2
        volumes.append(volumes[-1] + loss + zeta_slope_of[min(s + 1 - n, 60)])

    def works(b):
        step, half, below, failure = slope(b), log_q / 2, 0.0, 0.0

        def profile(i):
            rise = step * ((n - 1 - i if i < n else i - n) + 0.5)
            rise = min(rise, half) if rise <= half else half
            return half + rise if i < n else half - rise

        for j, volume in enumerate(volumes):
            s = 2 * n - j
            below += profile(s) if j else 0.0
            if s < b:
                break
            length = heuristic(n - j, volume - below)
            p = chi_square(math.exp(min(50, 2 * profile(s - b) - 2 * length + math.log(s))), b)
            failure += math.log1p(-min(p, 1 - 1e-15))
        success = -math.expm1(failure)
        return success > 1e-8 and 1 - (1 - success) ** (n * n // (b * b) + 3) > 0.5

    if works(40):
        return 40
    return bisect(40, n, works) if works(n - 1) else None


zeta_slope_of = [zeta_slope(d) for d in range(61)]


def blocks(n, log2_q, variance, dense=None):
    """Return the block sizes that find the shortest vector and the dense sublattice. The second may be None.

    The shortest vector is (f', g), with coefficients of the variance `variance`. The sublattice is that of (f, g), with
    the variance `dense`, which defaults to `variance`.
    """
    log_q = log2_q * math.log(2)
    return shortest_vector(n, log_q, variance), dense_sublattice(n, log_q, dense or variance)


def main():
    if len(sys.argv) == 4:
        n, log2_q, variance = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
        key, dense = blocks(n, log2_q, variance)
        least = min(b for b in (key, dense) if b)
        print(f"unique shortest vector {key}, dense sublattice {dense}: {0.292 * least:.1f} bits")
        return
    for n, log2_q, variance in [
        (512, 20, 2 / 3), (512, 14, 2 / 3), (1024, 20, 2 / 3), (1024, 17, 2 / 3), (1024, 18, 2 / 3), (2048, 34, GAUSS),
        (2048, 94, GAUSS), (4096, 49, GAUSS), (8192, 72, GAUSS), (8192, 100, GAUSS), (8192, 72, 2 * GAUSS),
        (16384, 102, GAUSS), (32768, 155, 2 * GAUSS),
    ]:  # fmt: skip
        print(n, log2_q, round(variance, 3), *blocks(n, log2_q, variance), flush=True)
    for n, ternary, gaussian in [(1024, 18, 22), (2048, 27, 33), (4096, 41, 49), (8192, 62, 72)]:
        for bound, variance, dense in [(ternary, 2 / 3, 2 / 3), (gaussian, GAUSS, 2 * GAUSS)]:
            bits = [0.292 * min(b for b in blocks(n, q, variance, dense) if b) for q in (bound, bound + 1)]
            print(n, bound, [round(b, 1) for b in bits], flush=True)


if __name__ == "__main__":
    main()

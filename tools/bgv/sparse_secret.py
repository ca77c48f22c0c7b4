#!/usr/bin/env python3
"""Estimate a lower bound on the cost of hybrid attacks on the sparse secret of BGV bootstrapping. Needs no package.

An attacker guesses k coordinates of the secret, at most w of them not 0, and finds the other n - k coordinates by
lattice reduction. The estimate is the larger of two costs, divided by the probability that the guess can be right:

- the reduction: the core-SVP figure 2^(0.292 beta), with beta from the primal estimate (Albrecht and others 2017) and
  the secret scaled to the errors;
- the guesses: the square root of their number, by a meet in the middle (Howgrave-Graham 2007), each at no cost.

Memory and all other costs of the attacks are left out, so the hybrid attacks of the literature cost more. The case of
no guess is the primal attack. The case w = 0 guesses coordinates that are 0.

The last figure of a line is the fourth root of the number of all secrets. Merging lists by representations (May 2021)
comes near it; the other costs of that attack are left out.

    python3 tools/bgv/sparse_secret.py               the sets boot128-16384-8 and boot128-32768-20, and the bound that
                                                     is claimed
    python3 tools/bgv/sparse_secret.py 16384 48 33   n, weight, log2 of the modulus with the special prime
"""

import math
import sys
from functools import cache

SIGMA = 3.2


def log2_binomial(n, k):
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2)


@cache
def log2_delta(beta):
    return math.log2((math.pi * beta) ** (1 / beta) * beta / (2 * math.pi * math.e)) / (2 * (beta - 1))


def breaks(n, deviation, bits, beta):
    """Whether blocks of size beta find the secret, with the best number of samples.

    They do if log2(sigma sqrt(beta)) is at most the value of the root-Hermite profile.
    """
    scale = math.log2(SIGMA / deviation)
    goal = math.log2(SIGMA) + 0.5 * math.log2(beta)
    # The dimension is d = m + n + 1. (2 beta - d - 1) log2 delta + (m bits + n scale) / d is largest near this d.
    best = math.sqrt(max(n * (bits - scale) / log2_delta(beta), 1))
    dimensions = [min(max(best * f, n + 2), 3 * n + 1) for f in (0.9, 0.95, 1, 1.05, 1.1)]
    volume = lambda d: ((d - n - 1) * bits + n * scale) / d
    return any(d >= beta and goal <= (2 * beta - d - 1) * log2_delta(beta) + volume(d) for d in dimensions)


def reduction(n, deviation, bits):
    low, high = 59, 4 * n + 60
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if breaks(n, deviation, bits, middle) else (middle, high)
    return 0.292 * high


def hybrid(n, weight, bits):
    best = (math.inf,)
    secrets = log2_binomial(n, weight)
    for left in sorted({int(n * 2 ** (-i / 8)) for i in range(65)}, reverse=True):
        guessed, reached, guesses = n - left, 0.0, 0.0
        for w in range(min(weight, guessed) + 1):
            if weight - w <= left:
                reached += 2 ** (log2_binomial(guessed, w) + log2_binomial(left, weight - w) - secrets)
            guesses += 2 ** (log2_binomial(guessed, w) + w) if log2_binomial(guessed, w) + w < 1000 else math.inf
            half = 0.5 * math.log2(guesses)
            if reached == 0 or half - math.log2(reached) >= best[0]:
                continue
            deviation = math.sqrt(max(weight - w, 1) / left)
            cost = max(reduction(left, deviation, bits), half) - math.log2(reached)
            best = min(best, (cost, guessed, w))
    return best


def main():
    cases = [tuple(map(float, sys.argv[1:4]))] if len(sys.argv) > 3 else [(16384, 48, 33.3), (32768, 48, 35.6), (16384, 48, 48)]
    for n, weight, bits in cases:
        cost, guessed, w = hybrid(int(n), int(weight), bits)
        quarter = (log2_binomial(n, weight) + weight) / 4
        print(f"n = {n:.0f}, weight {weight:.0f}, {bits:.1f} bits: 2^{cost:.0f} (of {guessed} guessed coordinates {w} not 0), 2^{quarter:.0f} by lists")


if __name__ == "__main__":
    main()

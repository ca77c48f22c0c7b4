"""Security of the sets of BGV, NTRU and LWE, by malb/lattice-estimator.

    bounds     for each dimension and 128, 192, 256 bits, the largest whole log2 of the modulus of an LWE problem with a
               uniform ternary secret and errors of standard deviation 3.2 (BGV), against every attack of `attacks.py`

It adds to rings.json (see README.md for the commands).
"""

import argparse
import json
import math
import pathlib
import sys

import sage.all  # noqa: F401  (must be imported before the estimator)
from estimator import LWE, ND, RC

from attacks import ATTACKS, HERE, load, log2, optimum, quantum, report, save, versions

#: Standard deviation of BGV's errors.
SIGMA = 3.2
#: Attacks that find a bound; slower ones then check it.
FAST = ("usvp", "dual", "dual_hybrid_exact")
SLOW = ("bdd",)
#: Largest log2 q of table 1 of the Homomorphic Encryption Standard (2018), where the search begins.
STANDARD = {1024: (27, 19, 14), 2048: (54, 37, 29), 4096: (109, 75, 58), 8192: (218, 152, 118), 16384: (438, 305, 237), 32768: (881, 611, 476)}  # fmt: skip
TARGETS = (128, 192, 256)


def ternary(n, log_q):
    """Ring LWE of BGV, treated as LWE of the ring's dimension."""
    return LWE.Parameters(n=n, q=2**log_q, Xs=ND.Ternary, Xe=ND.DiscreteGaussian(SIGMA), m=sage.all.oo)


def withstands(instance, bits, names):
    """Whether each attack costs at least so many bits."""
    return all(log2(ATTACKS[name](instance, red_cost_model=RC.MATZOV)) >= bits for name in names)


def largest(n, bits, start):
    """The largest log2 q that withstands every attack."""
    log_q = start
    while withstands(ternary(n, log_q + 1), bits, FAST):
        log_q += 1
    while not withstands(ternary(n, log_q), bits, FAST):
        log_q -= 1
    while not withstands(ternary(n, log_q), bits, SLOW):
        log_q -= 1
    return log_q


def job_bounds(args, data):
    for n in args.n:
        for bits, start in zip(TARGETS, STANDARD[n]):
            if bits not in args.targets:
                continue
            log_q = largest(n, bits, start)
            entry = {"n": n, "bits": bits, "log_q": log_q} | report(
                ternary(n, log_q), FAST + SLOW + ("dual_hybrid",) * args.all, ("usvp", "dual_hybrid_exact")
            )
            data.setdefault("bounds", {})[f"n={n},bits={bits}"] = entry
            save(args.out, data)
            print(json.dumps(entry), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "rings.json")
    jobs = parser.add_subparsers(required=True)
    bounds = jobs.add_parser("bounds")
    bounds.add_argument("n", type=int, nargs="+")
    bounds.add_argument("--targets", type=int, nargs="+", default=TARGETS)
    bounds.add_argument("--all", action="store_true", help="the estimator's own dual_hybrid as well")
    bounds.set_defaults(job=job_bounds)
    args = parser.parse_args()
    print(json.dumps(versions(), indent=1))
    args.job(args, load(args.out))


if __name__ == "__main__":
    main()

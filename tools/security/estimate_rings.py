"""Compute the security bounds of the sets of BGV with malb/lattice-estimator.

The job `bounds` finds the largest integer log2 of the modulus for each dimension and for 128, 192 and 256 bits of
security. The problem is LWE with a uniform ternary secret and errors of standard deviation 3.2. The result withstands
the attacks `FAST` and `SLOW` of `attacks.py`, and is added to rings.json (README.md has the commands).
"""

import argparse
import json
import math
import pathlib
import sys

import sage.all  # noqa: F401  (must be imported before the estimator)
from estimator import LWE, ND, RC

from attacks import ATTACKS, HERE, listed, load, log2, report, save, versions

#: The standard deviation of BGV's errors.
SIGMA = 3.2
#: `FAST` attacks find a bound. `SLOW` attacks then check it.
FAST = ("usvp", "dual_hybrid_exact", "dual_hybrid_codes")
SLOW = ("dual", "bdd")
#: The largest log2 q in table 1 of the Homomorphic Encryption Standard (2018). The search begins there.
STANDARD = {1024: (27, 19, 14), 2048: (54, 37, 29), 4096: (109, 75, 58), 8192: (218, 152, 118), 16384: (438, 305, 237), 32768: (881, 611, 476)}  # fmt: skip
TARGETS = (128, 192, 256)


def ternary(n, log_q):
    """Return the ring-LWE problem of BGV, treated as LWE of the same dimension."""
    return LWE.Parameters(n=n, q=2**log_q, Xs=ND.Ternary, Xe=ND.DiscreteGaussian(SIGMA), m=sage.all.oo)


def withstands(instance, bits, names):
    """Whether each of the named attacks costs at least `bits` bits."""
    return all(log2(ATTACKS[name](instance, red_cost_model=RC.MATZOV)) >= bits for name in names)


def largest(n, bits, start):
    """Return the largest log2 q that withstands the attacks. The search begins at `start`."""
    log_q = start
    while withstands(ternary(n, log_q + 1), bits, FAST):
        log_q += 1
    while not withstands(ternary(n, log_q), bits, FAST):
        log_q -= 1
    while not withstands(ternary(n, log_q), bits, SLOW):
        log_q -= 1
    return log_q


def job_set(args, data):
    """Add the costs for a modulus of a set."""
    entry = {"n": args.n, "log_q": args.log_q} | report(ternary(args.n, args.log_q), FAST + ("bdd",))
    data.setdefault("sets", {})[args.name] = entry
    save(args.out, data)
    print(json.dumps(entry), flush=True)


def job_bounds(args, data):
    for n in args.n:
        for bits, start in zip(TARGETS, STANDARD[n]):
            if bits not in args.targets:
                continue
            log_q = largest(n, bits, start)
            entry = {"n": n, "bits": bits, "log_q": log_q} | report(
                ternary(n, log_q), FAST + SLOW + ("dual_hybrid",) * args.all
            )
            data.setdefault("bounds", {})[f"n={n},bits={bits}"] = entry
            save(args.out, data)
            print(json.dumps(entry), flush=True)


def parse(arguments=None):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "rings.json")
    jobs = parser.add_subparsers(required=True)
    bounds = jobs.add_parser("bounds")
    bounds.add_argument("n", type=int, nargs="+")
    bounds.add_argument("--targets", type=listed(int), default=TARGETS, metavar="BITS,..")
    bounds.add_argument("--all", action="store_true", help="also run the estimator's own dual_hybrid")
    bounds.set_defaults(job=job_bounds)
    one = jobs.add_parser("set")
    one.add_argument("name")
    one.add_argument("n", type=int)
    one.add_argument("log_q", type=int)
    one.set_defaults(job=job_set)
    return parser.parse_args(arguments)


def main():
    args = parse()
    print(json.dumps(versions(), indent=1))
    args.job(args, load(args.out))


if __name__ == "__main__":
    main()

"""Compute the security of LWE with uniform binary and block-binary secrets with malb/lattice-estimator.

The first three jobs add to one JSON file (README.md has the commands):

    line     finds, for each (n, q) and target, the smallest relative noise sigma = 2^-x whose dual hybrid attack with the
             best code costs at least the target in bits (this attack is the cheapest here)
    confirm  runs every attack on given points, and computes quantum figures
    fit      finds the straight lines x(n) on the safe side of all points
    table    prints the tables of docs/derivations/security/lwe-binary.md and lwe-block-binary.md

A cost is log2 of the estimator's `rop`. A point is (n, log2 q, x), with sigma = 2^-x relative to the torus. That is a
standard deviation of 2^(log2 q - x) in Z_q. The number of samples is unlimited. A point of a block-binary secret has
the length of the blocks too. Blocks of length 1 are uniform bits.
"""

import argparse
import json
import math
import pathlib
import time

import numpy as np
import sage.all  # noqa: F401  (must be imported before the estimator)
from estimator import LWE, ND

from attacks import ATTACKS, HERE, BlockBinary, attack, listed, load, optimum_code, report, save

#: The search begins on the curve that tfhe-rs publishes.
START_SLOPE, START_OFFSET = 0.02569667, -2.6759
#: The change of the security in bits when x grows by 1, at n = START_N. It is about proportional to 1 / n.
BITS_PER_X, START_N = -7.0, 720

#: The bits that every attack on a set must cost: 128 and a reserve.
TARGET = 128.5

#: A point may be below the target by this many bits, because the parameters of the attack are searched in steps. The
#: noise is raised to make up for them.
RESERVE_BITS = 0.1


def params(n, log_q, x, block=1):
    """Return the LWE instance of a point."""
    secret = BlockBinary(block) if block > 1 else ND.Binary
    return LWE.Parameters(n=n, q=2**log_q, Xs=secret, Xe=ND.DiscreteGaussian(2.0 ** (log_q - x)), m=sage.all.oo)


def of_block(block):
    """Return the end of the key of a point or line, and its fields: nothing for blocks of length 1."""
    return (f",l={block}", {"block": block}) if block > 1 else ("", {})


def largest_x(n, log_q, block, targets, seen):
    """Return, for each target, the largest x (in steps of 0.01) whose security is at least the target."""

    def at(x):
        x = round(x, 2)
        if x not in seen:
            seen[x] = round(optimum_code(params(n, log_q, x, block))[0], 3)
            print(f"  n={n} q=2^{log_q} x={x:.2f} {seen[x]}", flush=True)
        return seen[x]

    found = {}
    guess = START_SLOPE * n + START_OFFSET
    for target in targets:
        # Secant steps bracket the target. Bisection follows.
        x = guess
        while True:
            bad = [y for y in seen if seen[y] < target]
            good = [y for y in seen if y < min(bad, default=math.inf) and y not in bad]
            if good and bad and min(bad) - max(good) < 0.3:
                break
            slope = BITS_PER_X * START_N / n
            step = (target - at(x)) / slope
            x = round(x + step + math.copysign(0.05, step), 2)
            at(x)
        low, high = max(good), min(bad)
        while high - low > 0.0101:
            middle = round((low + high) / 2, 2)
            if at(middle) >= target:
                low = middle
            else:
                high = middle
        found[f"{target:g}"] = low
        guess = low
    return found


def job_line(args, data):
    for n in args.n:
        end, fields = of_block(args.block)
        key = f"n={n},q=2^{args.log_q}{end},codes"
        entry = {"n": n, "log_q": args.log_q, "attack": "dual_hybrid_codes", "seen": {}} | fields
        entry = data.setdefault("lines", {}).setdefault(key, entry)
        seen = {float(x): costs for x, costs in entry["seen"].items()}
        start = time.time()
        found = largest_x(n, args.log_q, args.block, args.targets, seen)
        entry["x"] = found
        entry["seen"] = {f"{x:.2f}": seen[x] for x in sorted(seen)}
        save(args.out, data)
        print(f"{key}: {found} ({time.time() - start:.0f} s)", flush=True)


def job_confirm(args, data):
    for text in args.point:
        n, log_q, x, *block = text.split(",")
        point = (int(n), int(log_q), float(x), *map(int, block))
        end, fields = of_block(*point[3:] or (1,))
        key = f"n={n},q=2^{log_q},x={float(x):g}{end}"
        points = data.setdefault("points", {})
        figures = report(params(*point), args.attacks, known=points.get(key))
        points[key] = entry = {"n": point[0], "log_q": point[1], "x": point[2]} | fields | figures
        save(args.out, data)
        print(key, json.dumps(entry), flush=True)


def safe_x(n, x):
    """Return x lowered by the reserve and rounded down to 0.01."""
    return math.floor((x - RESERVE_BITS * n / (-BITS_PER_X * START_N)) * 100) / 100


def job_fit(args, data):
    data["fit"], data["safe"] = {}, []
    for target in args.targets:
        rows = {}
        for e in data["lines"].values():
            if (x := e.get("x", {}).get(f"{target:g}")) is None:
                continue
            x = safe_x(e["n"], x)
            end, fields = of_block(e.get("block", 1))
            data["safe"].append({"n": e["n"], "log_q": e["log_q"], "bits": target, "x": x} | fields)
            if e["log_q"] == 32:
                rows.setdefault(f"{target:g}{end}", []).append((e["n"], x))
        for name, points in rows.items():
            n, x = (np.array(column, dtype=float) for column in zip(*sorted(points)))
            slope, offset = np.polyfit(n, x, 1)
            offset -= max(np.max(slope * n + offset - x), 0.0)
            fit = {"slope": round(float(slope), 6), "offset": math.floor(offset * 1000) / 1000}
            gap = x - (fit["slope"] * n + fit["offset"])
            fit |= {"n": n.astype(int).tolist(), "gap": [round(float(g), 3) for g in gap]}
            data["fit"][name] = fit
            print(f"{name} bits: x(n) = {fit['slope']} n + {fit['offset']}, gaps {fit['gap']}")
    save(args.out, data)


def markdown(columns, rows):
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    print("".join("| " + " | ".join(row) + " |\n" for row in rows))


#: The columns of the table of points: head and name of the attack, for uniform bits and for blocks.
COLUMNS = {
    "usvp": "usvp",
    "bdd": "bdd",
    "dual hybrid of the estimator": "dual_hybrid_dense",
    "exact count, n samples": "dual_hybrid_exact_n_samples",
    "exact count": "dual_hybrid_exact",
}
BLOCK_COLUMNS = {
    "usvp": "usvp",
    "bdd": "bdd",
    "block hybrid": "block_hybrid",
    "with MITM": "block_mitm_hybrid",
    "M1": "dual_hybrid_dense",
    "M2, n samples": "dual_hybrid_exact_n_samples",
    "M3": "dual_hybrid_full_transform",
    "A": "dual_hybrid_best_rounding",
    "B": "dual_hybrid_symbols",
    "M2": "dual_hybrid_exact",
}


def job_table(args, data):
    chosen = lambda entries: [e for e in entries.values() if e.get("block", 1) == args.block]
    lines = sorted(chosen(data["lines"]), key=lambda e: (e["log_q"], e["n"]))
    targets = sorted({bits for e in lines for bits in e["x"]})
    rows = [[str(e["log_q"]), str(e["n"]), *(f"{e['x'][bits]:.2f}" for bits in targets)] for e in lines]
    markdown(["log2 q", "n", *(f"x, {bits} bits" for bits in targets)], rows)
    names = COLUMNS if args.block == 1 else BLOCK_COLUMNS
    rows = []
    points = sorted(chosen(data["points"]), key=lambda e: (e["log_q"], e["n"]))
    for e in points:
        least = [f"{min(costs.values()):.1f}" for costs in e["quantum"].values()]
        costs = [f"{e['classical'][name]:.2f}" for name in names.values()]
        rows.append([str(e["n"]), str(e["log_q"]), f"{e['x']:.2f}", *costs, f"**{e['classical_bits']:.2f}**", *least])
    markdown(["n", "log2 q", "x", *names, "**classical**", *points[0]["quantum"]], rows)


def parse(arguments=None):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "tfhe.json")
    jobs = parser.add_subparsers(required=True)
    line = jobs.add_parser("line")
    line.add_argument("--log-q", type=int, default=32)
    line.add_argument("--block", type=int, default=1, help="length of the blocks of the secret")
    line.add_argument("--targets", type=listed(float), default=[TARGET], metavar="BITS,..")
    line.add_argument("n", type=int, nargs="+")
    line.set_defaults(job=job_line)
    confirm = jobs.add_parser("confirm")
    confirm.add_argument("point", nargs="+", metavar="n,log_q,x[,block]")
    confirm.add_argument("--attacks", type=listed(attack), default=tuple(ATTACKS), metavar="ATTACK,..")
    confirm.set_defaults(job=job_confirm)
    fit = jobs.add_parser("fit")
    fit.add_argument("--targets", type=listed(float), default=[TARGET], metavar="BITS,..")
    fit.set_defaults(job=job_fit)
    table = jobs.add_parser("table")
    table.add_argument("--block", type=int, default=1)
    table.set_defaults(job=job_table)
    return parser.parse_args(arguments)


def main():
    args = parse()
    args.job(args, load(args.out))


if __name__ == "__main__":
    main()

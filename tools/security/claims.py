"""Write the security of every parameter set into one table, claims.md, and its figures into claims.json.

All schemes have one cost model: RC.MATZOV for classical computers and RC.LaaMosPol14 for quantum computers. A row is a
problem that an attacker may solve. A claim is at most the least cost of all attacks on all problems of a set.

    python claims.py            # computes what is missing, and writes both files; needs the estimator
    python claims.py --check    # compares both files with the data, and all costs with the targets; needs Python alone

The problems of TFHE and BGV are in tfhe.json and rings.json. Those of BGV are the largest moduli that the library allows
each dimension, and the moduli of the default set and of the next one. The estimator does not cover the attack on the
dense sublattice of an NTRU key. tools/ntru/estimate.py finds the blocks of this attack and of the search for the key
itself, and the model gives the cost of one call of the sieve in such a block. A test of `crates/schemes` compares
claims.json with the claims of the library.
"""

import argparse
import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
MODEL = "LaaMosPol14"

#: Bits that every attack on a set costs at least, and those for the default sets of all schemes.
LEAST, LEAST_DEFAULT = 128.0, 128.5

#: The sets of TFHE: n and x of the LWE key, N k and x of the ring key.
TFHE = {
    "integers-128": (966, 19.42, 2048, 49.15),
    "integers-64": (951, 19.03, 2048, 49.15),
    "integers-40": (924, 18.33, 2048, 49.15),
    "gates-128": (777, 14.52, 1536, 35.9),
    "gates-64": (783, 14.68, 1536, 35.9),
    "gates-40": (744, 13.66, 1536, 35.9),
}

#: The sets of LWE: dimension n of keys, dimension N of messages, log2 q, samples of a key.
LWE = {
    "leveled-secure-1": (1368, 1504, 32, 3_753_060),
    "leveled-secure-2": (1968, 2112, 45, 11_645_790),
    "secure-31": (1472, 1472, 31, 1472),
    "secure-62": (2944, 2944, 62, 2944),
    "secure-124": (5824, 5824, 124, 5824),
    "secure-248": (11584, 11584, 248, 11584),
}

#: Private reads: dimension, log2 q, standard deviation of noise, samples.
PIR = (1088, 32, 32.0, 49152)

#: The sets of NTRU: dimension and log2 of the modulus of fresh ciphertexts. Keys are Gaussian.
NTRU = {
    "secure-8192-1": (8192, 55.8),
    "secure-16384-2": (16384, 91.0),
    "secure-32768-3": (32768, 130.0),
    "secure-65536-5": (65536, 214.6),
}

DEFAULTS = (
    "tfhe integers-128", "tfhe gates-128", "bgv slots128-16384-7", "lwe leveled-secure-1", "lwe private reads",
    "ntru secure-8192-1",
)  # fmt: skip


def lwe_problems():
    """Yield the name of each LWE problem, its dimension, samples, log2 q, secret (None for binary) and noise."""
    for name, (n, rows, log_q, samples) in LWE.items():
        yield f"lwe {name}, key", n, samples, log_q, 3.2, 3.2
        yield f"lwe {name}, message", rows, n + 1, log_q, None, 3.2
    n, log_q, noise, samples = PIR
    yield "lwe private reads, query", n, samples, log_q, noise, noise


def compute_ntru(points):
    """Add the costs of attacks on the keys of NTRU that `points` lacks."""
    from estimator import RC

    from attacks import save

    sys.path.append(str(HERE.parent / "ntru"))
    from estimate import GAUSS, blocks

    for name, (n, log_q) in NTRU.items():
        name, point = f"ntru {name}, key", {"n": n, "log_q": log_q, "variance": round(GAUSS, 4)}
        if points.get(name, {}).get("point") == point:
            continue
        # Those of f' and g, and those of f = 2 f' + 1 and g.
        found = dict(zip(("usvp", "dense_sublattice"), blocks(n, log_q, GAUSS, 2 * GAUSS)))
        # A cost beyond 2^1000 is beyond the range of the numbers.
        costs = lambda model: {
            attack: round(math.log2(model(beta, beta)), 3)
            for attack, beta in found.items()
            if model(beta, beta) < 2**1000
        }
        points[name] = {
            "point": point,
            "blocks": found,
            "classical": costs(RC.MATZOV),
            "quantum": costs(RC.LaaMosPol14),
        }
        print(name, points[name], flush=True)
        save(HERE / "claims.json", {"points": points})


def compute(points):
    """Add the costs of attacks on the problems of LWE that `points` lacks."""
    from estimator import LWE as Problem
    from estimator import ND

    from attacks import CLAIMED, QUANTUM, QUANTUM_ATTACKS, costs_of, save

    for name, n, samples, log_q, secret, noise in lwe_problems():
        point = {"n": n, "samples": samples, "log_q": log_q, "secret": secret or "binary", "noise": noise}
        if points.get(name, {}).get("point") == point:
            continue
        keys = ND.Binary if secret is None else ND.DiscreteGaussian(secret)
        problem = Problem.Parameters(n=n, q=2**log_q, Xs=keys, Xe=ND.DiscreteGaussian(noise), m=samples)
        classical = costs_of(problem, ("usvp", "dual_hybrid_exact", "dual_hybrid_codes"))
        points[name] = {
            "point": point,
            "classical": classical,
            "quantum": costs_of(problem, QUANTUM_ATTACKS, QUANTUM[CLAIMED]),
        }
        print(name, points[name], flush=True)
        save(HERE / "claims.json", {"points": points})


def rows(points):
    """Return (set, problem, classical costs, quantum costs) for each problem of each set."""
    load = lambda name: json.loads((HERE / name).read_text())
    tfhe, rings = load("tfhe.json")["points"], load("rings.json")
    found = []
    for name, (n, x, ring, ring_x) in TFHE.items():
        keys = {"LWE key": f"n={n},q=2^32,x={x:g},l=3", "ring key": f"n={ring},q=2^64,x={ring_x:g}"}
        found += [
            (f"tfhe {name}", what, tfhe[key]["classical"], tfhe[key]["quantum"][MODEL]) for what, key in keys.items()
        ]
    found += [
        (f"bgv {name}", f"log2 QP = {e['log_q']}", e["classical"], e["quantum"][MODEL])
        for name, e in rings["sets"].items()
    ]
    for e in sorted(rings["bounds"].values(), key=lambda e: (e["n"], e["bits"])):
        problem = f"log2 QP <= {e['log_q']}"
        found.append((f"bgv N = {e['n']}, {e['bits']} bits", problem, e["classical"], e["quantum"][MODEL]))
    for name, point in points.items():
        found.append((*name.split(", "), point["classical"], point["quantum"]))
    return found


ATTACKS = ("usvp", "bdd", "dual_hybrid_exact", "dual_hybrid_codes", "dense_sublattice")


def table(found):
    """Return the table in Markdown."""
    head = ["set", "problem", *ATTACKS, "**classical**", "**quantum**"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name, problem, classical, quantum in found:
        costs = [f"{classical[attack]:.2f}" if attack in classical else "" for attack in ATTACKS]
        least = [f"**{min(costs.values()):.2f}**" for costs in (least_of(classical), quantum)]
        lines.append("| " + " | ".join([name, problem, *costs, *least]) + " |")
    return "\n".join(lines) + "\n"


def least_of(classical):
    """Return the costs that count for a claim. The estimator's own counts of guesses are for Gaussian secrets."""
    return {attack: classical[attack] for attack in ATTACKS if attack in classical}


def faults(found):
    """Yield a sentence for each problem that costs too little."""
    for name, problem, classical, _ in found:
        least = min(least_of(classical).values())
        target = LEAST_DEFAULT if name in DEFAULTS else LEAST
        if name.startswith("bgv N"):
            target = max(target, float(name.split()[-2]))
        if least < target:
            yield f"{name}, {problem}: {least:.2f} bits, and {target} are wanted"


TITLE = """# Security of all parameter sets

`claims.py` writes this file. A cost is log2 of the operations, by RC.MATZOV for the attacks and **classical**, and by
RC.LaaMosPol14 for **quantum**. [README.md](README.md) names the attacks.

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a file is not up to date")
    args = parser.parse_args()
    path = HERE / "claims.json"
    points = json.loads(path.read_text())["points"] if path.exists() else {}
    if not args.check:
        compute(points)
        compute_ntru(points)
    found = rows(points)
    text = TITLE + table(found)
    problems = list(faults(found))
    if args.check and (HERE / "claims.md").read_text() != text:
        problems.append("claims.md is not that of the data: run claims.py")
    if not args.check:
        (HERE / "claims.md").write_text(text)
    print("\n".join(problems), file=sys.stderr)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()

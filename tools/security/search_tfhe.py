"""Compute the noise, failure probability and cost of TFHE parameter sets, and search for the best sets.

The formulas are those of crates/schemes/src/tfhe/noise.rs. docs/derivations/tfhe-parameters.md derives them;
section numbers below refer to it. The operation counts are those of docs/derivations/bootstrap-cost.md. Variances are
in squared turns. Ring keys are uniform binary. LWE keys are uniform binary or block-binary: blocks of l bits with at
most one 1, uniform among the l + 1 patterns. Uniform binary keys have l = 1.

    python search_tfhe.py            # the built sets, and the best sets of every ring
    python search_tfhe.py --markdown # the same, as the tables of the derivation
    python search_tfhe.py --block 1  # the former sets with uniform keys, and the best ones

The exit status is 1 if one of today's sets exceeds its failure bound, or has less noise than its security needs.
"""

import argparse
import itertools
import json
import math
import pathlib
import sys
from dataclasses import dataclass

from mpmath import erfc, log, mp, mpf, sqrt

mp.prec = 200
HERE = pathlib.Path(__file__).resolve().parent

#: Section 2: the error variance of the transforms and the rounded key, in units of u^2 times the mean square of the
#: exact product, with u = 2^-53. It is measured on the engine, and is `float_error` in noise.rs.
FLOAT_ERROR, BLOCK_FLOAT_ERROR = 12.0, 12.7
#: The same, for the part of the error that the sums of the first block's digits amplify. It is measured, too.
FIRST_BLOCK_ERROR = 7.5
UNIT_ROUNDOFF = 2.0**-53
#: The squared norm of X^a - 1. A step of a block multiplies the products with the key by X^a - 1, after the rounding.
MONOMIAL = 2.0
#: The normalized second moments of the lattices A_1* to A_4* (section 4).
SECOND_MOMENTS = (1 / 12, 0.0801875, 0.0785433, 0.0775588)
#: log2 of the factor by which the noise of ring keys exceeds the noise that the security data require.
RING_RESERVE = 0.02

#: Sets of blocks may cost this factor more than the best set, if their n is less: batches read the keys only once.
NEAR = 1.025

#: The machine does one 512-bit multiplication (fused or not) and one 512-bit addition in a cycle, at 3.67 GHz.
CYCLES_PER_MS = 3.67e6
#: The bytes that one thread reads from memory in a millisecond.
BYTES_PER_MS = 24e6


def digit_square(log_base):
    """Return E[d^2] of a balanced digit, (B^2 + 2) / 12 (section 1)."""
    return (4.0**log_base + 2.0) / 12.0


def rounding(log_base, levels):
    """Return the variance of the rounding error of the decomposition, B^(-2 l) / 12 (section 1)."""
    return 4.0 ** -(log_base * levels) / 12.0


@dataclass(frozen=True)
class Glwe:
    """The ring parameters of a bootstrap: N, k, the decomposition, and the noise 2^-x of the key."""

    ring: int
    k: int
    log_base: int
    levels: int
    x: float

    @property
    def dimension(self):
        return self.k * self.ring

    @property
    def rows(self):
        return (self.k + 1) * self.levels

    def step(self, block=1):
        """Return the variances that the steps add for each bit of the LWE key (section 2)."""
        through_key = 1.0 + self.dimension / 2.0
        digits = self.rows * self.ring * digit_square(self.log_base)
        factor, float_error = (MONOMIAL, BLOCK_FLOAT_ERROR) if block > 1 else (1.0, FLOAT_ERROR)
        return {
            "key": factor * digits * 4.0**-self.x,
            "rounding": factor / (block + 1) * through_key * rounding(self.log_base, self.levels),
            "transform": factor * through_key * float_error * UNIT_ROUNDOFF**2 * digits / 12.0,
        }

    def first_block(self, block, largest):
        """Return the variance that the first block adds for a test polynomial with equal coefficients (section 2)."""
        if block == 1:
            return 0.0
        squares = (largest * 2.0**self.log_base) ** 2 * self.ring**3 / 3.0
        return MONOMIAL * block * FIRST_BLOCK_ERROR * UNIT_ROUNDOFF**2 / 12.0 * squares / 4.0

    def step_cycles(self, block=1):
        """Return the vector multiplications and additions for each bit of the LWE key. A vector holds 8 doubles."""
        vectors, levels = self.ring // 16, (self.ring // 2).bit_length() - 1
        radix4, radix2 = (levels - 6) // 2 + 2, levels % 2 + 2
        transforms = self.rows + self.k + 1
        products = 4 * self.rows * (self.k + 1)
        monomials, angles = (4 * self.rows, 1) if block > 1 else (0, 0)
        multiplications = transforms * (3 * radix4 + 2 * radix2) + block * (products + monomials) + 2 * (self.k + 1)
        additions = transforms * (4 * radix4 + 2 * radix2) + 2 * self.rows + 6 * (self.k + 1) + block * angles
        return multiplications * vectors / block, additions * vectors / block

    def step_bytes(self):
        return self.rows * (self.k + 1) * self.ring * 8


@dataclass(frozen=True)
class Keyswitch:
    """The decomposition of the keyswitch from dimension kN to n. Words have 32 bits."""

    log_base: int
    levels: int

    def variance(self, dimension, x):
        """Return the variance that the keyswitch adds, without the mean of the rounding (section 3)."""
        key = dimension * self.levels * digit_square(self.log_base) * 4.0**-x
        return key + dimension / 4.0 * rounding(self.log_base, self.levels)

    def words(self, dimension, n):
        return dimension * self.levels * 64 * math.ceil((n + 1) / 64)


@dataclass(frozen=True)
class Family:
    """A use of the bootstrap: the decision margin in turns, the variance factor of the largest input, and the rings."""

    name: str
    margin: float
    weight: float
    #: The largest coefficient of a test polynomial, in turns.
    largest: float
    rings: tuple


@dataclass(frozen=True)
class Set:
    """A parameter set."""

    family: Family
    n: int
    x: float
    glwe: Glwe
    keyswitch: Keyswitch
    block: int = 1

    def variances(self):
        """Return the variances of the phase at the decision (sections 2 to 4)."""
        return {
            "bootstraps": self.family.weight * sum(self.bootstrap().values()),
            "keyswitch": self.keyswitch.variance(self.glwe.dimension, self.x),
            "modulus switch": (1.0 + self.n * self.bit_variance()) / (12.0 * (2.0 * self.glwe.ring) ** 2),
        }

    def bootstrap(self):
        """Return the parts of the variance of a bootstrap (section 2)."""
        parts = {name: self.n * variance for name, variance in self.glwe.step(self.block).items()}
        parts["transform"] += self.glwe.first_block(self.block, self.family.largest)
        return parts

    def bit_variance(self):
        """Return the variance of a rounding error times a bit of the LWE key, in units of 1/12: 1/4 for uniform bits."""
        return 12.0 * SECOND_MOMENTS[self.block - 1] * (self.block + 1) ** (-1 - 1 / self.block)

    def log_failure(self):
        """Return log2 of the failure probability 2 Q(margin / sigma) (section 5)."""
        variance = mpf(sum(self.variances().values()))
        return float(log(erfc(mpf(self.family.margin) / sqrt(2 * variance)), 2))

    def key_bytes(self):
        return self.n * self.glwe.step_bytes(), 4 * self.keyswitch.words(self.glwe.dimension, self.n)

    def milliseconds(self):
        """Return the milliseconds of the arithmetic, and those of reading the key once (section 6)."""
        keyswitch = self.keyswitch.words(self.glwe.dimension, self.n) / 16
        arithmetic = self.n * max(self.glwe.step_cycles(self.block)) + keyswitch
        return arithmetic / CYCLES_PER_MS, sum(self.key_bytes()) / BYTES_PER_MS

    def cost(self):
        return sum(self.milliseconds())


class Security:
    """The smallest noise 2^-x at 128.5 bits of security, from the data of the estimator."""

    def __init__(self, data):
        self.lines = {1: data["fit"]["128"], 3: data["fit"]["128.5,l=3"]}
        self.rings = {e["n"]: e["x"] for e in data["safe"] if e["bits"] == 128.5 and e["log_q"] == 64}

    def lwe(self, n, block=1):
        line = self.lines[block]
        return math.floor((line["slope"] * n + line["offset"]) * 100) / 100

    def ring(self, dimension):
        return round(self.rings[dimension] - RING_RESERVE, 2)


GATES = Family("gates", 1 / 8, 6.0, 1 / 8, ((512, 2), (1024, 1), (512, 3), (512, 4), (1024, 2), (2048, 1)))
INTEGERS = Family("integers", 1 / 64, 160.0, 15 / 32, ((1024, 2), (2048, 1)))


def built():
    """Return the sets of crates/schemes/src/tfhe/params.rs, by family and failure bound."""
    gates, integers = Glwe(512, 3, 17, 1, 35.9), Glwe(2048, 1, 23, 1, 49.15)
    return {
        ("gates", 128): Set(GATES, 777, 14.52, gates, Keyswitch(3, 4), 3),
        ("gates", 64): Set(GATES, 783, 14.68, gates, Keyswitch(4, 3), 3),
        ("gates", 40): Set(GATES, 744, 13.66, gates, Keyswitch(3, 3), 3),
        ("integers", 128): Set(INTEGERS, 966, 19.42, integers, Keyswitch(4, 4), 3),
        ("integers", 64): Set(INTEGERS, 951, 19.03, integers, Keyswitch(5, 3), 3),
        ("integers", 40): Set(INTEGERS, 924, 18.33, integers, Keyswitch(4, 3), 3),
    }


def former():
    """Return the last sets with uniform binary LWE keys, by family and failure bound."""
    gates, integers = Glwe(512, 3, 18, 1, 36.2), Glwe(2048, 1, 23, 1, 49.5)
    return {
        ("gates", 128): Set(GATES, 724, 15.3, gates, Keyswitch(4, 3)),
        ("gates", 64): Set(GATES, 698, 14.62, gates, Keyswitch(3, 3)),
        ("gates", 40): Set(GATES, 660, 13.64, gates, Keyswitch(3, 3)),
        ("integers", 128): Set(INTEGERS, 918, 20.33, integers, Keyswitch(4, 4)),
        ("integers", 64): Set(INTEGERS, 872, 19.14, integers, Keyswitch(5, 3)),
        ("integers", 40): Set(INTEGERS, 845, 18.44, integers, Keyswitch(4, 3)),
    }


def gadgets(family, security, block):
    """Yield, for every ring and number of levels, the base of least noise. The cost does not depend on the base."""
    for ring, k in family.rings:
        for levels in range(1, 5):
            choices = [Glwe(ring, k, b, levels, security.ring(ring * k)) for b in range(2, 32 // levels + 1)]
            yield min(choices, key=lambda glwe: sum(glwe.step(block).values()))


def passing(family, bound, glwe, security, block):
    """Yield the sets of a gadget that fail with probability 2^-bound at most, the cheapest first."""
    # With fewer standard deviations than this, a set certainly exceeds the bound.
    least = math.sqrt(2.0 * math.log(2.0) * (bound - 8))
    candidates = []
    for n in range(600 - 600 % block, 1080, block):
        for levels in range(1, 7):
            for log_base in range(1, 30 // levels + 1):
                keyswitch = Keyswitch(log_base, levels)
                candidate = Set(family, n, security.lwe(n, block), glwe, keyswitch, block)
                if family.margin > least * math.sqrt(sum(candidate.variances().values())):
                    candidates.append(candidate)
    candidates.sort(key=Set.cost)
    return (candidate for candidate in candidates if candidate.log_failure() <= -bound)


def row(name, s):
    g, ks, (arithmetic, memory), (bsk, ksk) = s.glwe, s.keyswitch, s.milliseconds(), s.key_bytes()
    return [
        name, f"{s.n}", f"{-s.x:.2f}", f"{g.ring}, {g.k}", f"{-g.x:.2f}", f"2^{g.log_base} x {g.levels}",
        f"2^{ks.log_base} x {ks.levels}", f"{s.log_failure():.1f}", f"{bsk / 1e6:.1f} + {ksk / 1e6:.1f}",
        f"{arithmetic:.2f} + {memory:.2f}",
    ]  # fmt: skip


COLUMNS = ["set", "n", "log2 σ_lwe", "N, k", "log2 σ_glwe", "CMUX", "keyswitch", "log2 p", "key, MB", "ms"]


def shares(name, s):
    variances, parts = s.variances(), s.bootstrap()
    total, bootstrap = sum(variances.values()), sum(parts.values())
    return (
        [name, f"{math.log2(bootstrap) / 2:.2f}"]
        + [f"{100 * v / bootstrap:.0f} %" for v in parts.values()]
        + [f"{math.log2(total) / 2:.2f}"]
        + [f"{100 * v / total:.0f} %" for v in variances.values()]
        + [f"{s.family.margin / math.sqrt(total):.2f}"]
    )


SHARES = ["set", "log2 σ_bs", "key", "rounding", "transform", "log2 σ", "bootstraps", "keyswitch", "modulus switch", "margin / σ"]


def table(columns, rows, markdown):
    if markdown:
        print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
        print("".join("| " + " | ".join(r) + " |\n" for r in rows))
        return
    widths = [max(map(len, column)) + 2 for column in zip(columns, *rows)]
    for r in [columns, *rows]:
        print("".join(cell.ljust(width) for cell, width in zip(r, widths)))
    print()


def faults(sets, security):
    """Yield a sentence for each condition that a built set does not meet."""
    for (family, bound), s in sets.items():
        if s.log_failure() > -bound:
            yield f"{family}-{bound} fails with probability 2^{s.log_failure():.2f}"
        if s.x > security.lwe(s.n, s.block) or s.glwe.x > security.rings[s.glwe.dimension]:
            yield f"{family}-{bound} has less noise than 128 bits of security need"


def search(sets, security, block, markdown):
    """Print the best sets of every ring, and the one of least n among those of nearly the cost of the best."""
    for family in (GATES, INTEGERS):
        rows = []
        for bound in (130, 64, 40):
            found = [list(passing(family, bound, g, security, block)) for g in gadgets(family, security, block)]
            found = sorted((sets for sets in found if sets), key=lambda sets: sets[0].cost())
            chosen, best = sets[family.name, min(bound, 128)], found[0][0]
            if not markdown:
                print(f"{family.name}, 2^-{bound}: the built set costs {chosen.cost() / best.cost():.3f} of the best")
            near = itertools.takewhile(lambda s, best=best: s.cost() <= NEAR * best.cost(), found[0])
            least = min(near, key=lambda s: (s.n, s.cost(), s.log_failure()))
            rows += [row(f"2^-{bound}", s) for s in (best, least, *(sets[0] for sets in found[1:3]))]
        table(COLUMNS, rows, markdown)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, default=HERE / "tfhe.json")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--block", type=int, default=3, choices=(1, 3), help="length of the blocks of the LWE key")
    args = parser.parse_args()
    security = Security(json.loads(args.data.read_text()))
    sets = built() if args.block > 1 else former()
    named = {f"{family}-{bound}": s for (family, bound), s in sets.items()}
    table(COLUMNS, [row(name, s) for name, s in named.items()], args.markdown)
    table(SHARES, [shares(name, s) for name, s in named.items()], args.markdown)
    search(sets, security, args.block, args.markdown)
    # Former sets have less noise than today's data ask for.
    problems = list(faults(sets, security)) if args.block > 1 else []
    print("\n".join(problems), file=sys.stderr)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()

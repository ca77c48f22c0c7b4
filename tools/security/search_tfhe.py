"""Search of TFHE parameter sets: noise, failure probability, cost.

Every formula is derived in docs/derivations/tfhe-parameters.md; the numbers of its
sections are given at each function. Variances are in torus^2 (the torus has length 1),
secrets are uniform binary. Security enters only through `sigma_lwe`, the smallest
noise at each dimension that the estimator's data (tfhe.json) allow.

    python search_tfhe.py [--bits 128 130] [--json FILE] [--markdown FILE]
"""

import argparse
import json
import math
import pathlib
from dataclasses import asdict, dataclass

from mpmath import erfc, log, mp, mpf, sqrt

mp.prec = 200
HERE = pathlib.Path(__file__).resolve().parent

#: Integer grids below this standard deviation (in units of 1/q) are not trusted to be Gaussian.
MIN_STDDEV = 2.0

#: Rounding error of one negacyclic product by floating FFT, in units of
#: u^2 * (RMS of the exact output)^2, u the unit roundoff. check_formulas.py measures 5.6 to 5.9
#: for a plain single-precision FFT of 256 and 512 points.
FFT_CONSTANT = 6.0
UNIT_ROUNDOFF = {"f32": 2.0**-24, "f64": 2.0**-53}
#: Flops per nanosecond: 2.6 GHz at 20 flops per cycle in f32, half of that in f64.
FLOPS_PER_NS = {"f32": 52.0, "f64": 26.0}
#: Nanoseconds to stream one byte of key from memory.
NS_PER_BYTE = 0.05


class Security:
    """The smallest safe noise per dimension, from the estimator's data."""

    def __init__(self, data, target):
        self.target = target
        self.line = data["fit"][str(target)]
        self.points = {
            (e["n"], e["log_q"]): e["x"] for e in data["safe"] if e["bits"] == target
        }

    def log_sigma(self, n, log_q):
        """log2 of the relative noise, in steps of 0.01 (rounded to the safe side)."""
        floor = math.log2(MIN_STDDEV) - log_q
        if log_q == 64:
            return max(-self.points[(n, log_q)], floor)
        x = math.floor((self.line["slope"] * n + self.line["offset"]) * 100) / 100
        return max(-x, floor)


def digit_variance(log_base):
    """Section 1: E[d^2] of a balanced digit, (B^2 + 2) / 12."""
    return (4.0**log_base + 2.0) / 12.0


@dataclass(frozen=True)
class Glwe:
    """Ring side of a bootstrap: N, k, gadget, precision, noise of the key.

    The body polynomial may have fewer levels than the k mask polynomials: its
    rounding is not multiplied by the key, so it is kN/2 times less harmful.
    """

    ring: int
    k: int
    log_base: int
    levels: int
    body_levels: int
    log_sigma: float
    precision: str

    @property
    def dimension(self):
        return self.k * self.ring

    @property
    def log_q(self):
        return 32 if self.precision == "f32" else 64

    @property
    def rows(self):
        """Rows of a GGSW key, that is forward transforms of one CMUX."""
        return self.k * self.levels + self.body_levels

    def rounding_error(self, levels):
        """Variance of a coefficient's rounding to `levels` digits."""
        return max(4.0 ** -(self.log_base * levels) - 4.0**-self.log_q, 0.0) / 12.0

    def step_variance(self):
        """Section 2: variance one CMUX adds, averaged over the key bit."""
        digits = self.rows * self.ring * digit_variance(self.log_base)
        key = digits * 4.0**self.log_sigma
        mask = self.rounding_error(self.levels) * self.dimension / 2.0
        rounding = (mask + self.rounding_error(self.body_levels)) / 2.0
        fft = FFT_CONSTANT * UNIT_ROUNDOFF[self.precision] ** 2 * digits / 12.0
        return {"key": key, "rounding": rounding, "fft": fft}

    def bsk_bytes(self, n):
        complex_bytes = 8 if self.precision == "f32" else 16
        return n * self.rows * (self.k + 1) * (self.ring // 2) * complex_bytes

    def step_flops(self):
        """Section 6: transforms, then pointwise products, of one CMUX."""
        points = self.ring // 2
        transform = 8 * (points // 2) * int(math.log2(points))
        transforms = self.rows + self.k + 1
        return transforms * transform + 8 * self.rows * (self.k + 1) * points


@dataclass(frozen=True)
class Keyswitch:
    """Key switch from dimension kN to n with a 32-bit key."""

    log_base: int
    levels: int

    def variance(self, dimension, log_sigma):
        """Section 3, with the rounding centred."""
        key = dimension * self.levels * digit_variance(self.log_base) * 4.0**log_sigma
        rest = 4.0 ** -(self.log_base * self.levels)
        return {"key": key, "rounding": rest / 12.0 * dimension / 4.0}

    def bytes(self, dimension, n):
        return dimension * self.levels * (n + 1) * 4


def modulus_switch_variance(n, ring):
    """Section 4: rounding to 2N with the key's mean subtracted."""
    return (1.0 + n / 4.0) / (12.0 * (2 * ring) ** 2)


def failure(margin, variance):
    """Section 5: log2 of 2 Q(margin / sigma)."""
    return float(log(erfc(mpf(margin) / sqrt(2 * mpf(variance))), 2))


def evaluate(family, n, glwe, ks, security):
    """Everything known about one parameter set."""
    log_sigma = security.log_sigma(n, 32)
    step = glwe.step_variance()
    bs = n * sum(step.values())
    switch = ks.variance(glwe.dimension, log_sigma)
    ms = modulus_switch_variance(n, glwe.ring)
    total = family.weight * bs + sum(switch.values()) + ms
    flops = n * glwe.step_flops()
    bsk, ksk = glwe.bsk_bytes(n), ks.bytes(glwe.dimension, n)
    arithmetic = flops / FLOPS_PER_NS[glwe.precision]
    return {
        "n": n,
        "log_sigma_lwe": log_sigma,
        "keyswitch": asdict(ks),
        "glwe": asdict(glwe),
        "weight": family.weight,
        "margin": family.margin,
        "variance": {
            "bootstrap": bs,
            **{f"bootstrap_{name}": n * value for name, value in step.items()},
            **{f"keyswitch_{name}": value for name, value in switch.items()},
            "modulus_switch": ms,
            "total": total,
        },
        "log_p_fail": round(failure(family.margin, total), 2),
        "sigmas": round(family.margin / math.sqrt(total), 3),
        "bsk_bytes": bsk,
        "ksk_bytes": ksk,
        "flops": flops,
        "arithmetic_ms": round(arithmetic / 1e6, 3),
        "bytes_ms": round((bsk + ksk) * NS_PER_BYTE / 1e6, 3),
        "time_ms": round((arithmetic + (bsk + ksk) * NS_PER_BYTE) / 1e6, 3),
        "batched_ms": round((arithmetic + ksk * NS_PER_BYTE) / 1e6, 3),
        "security_bits": security.target,
    }


@dataclass(frozen=True)
class Family:
    """A use of the bootstrap: its rings, how noise is combined, the decision margin."""

    name: str
    precision: str
    rings: tuple
    levels: range
    weight: float
    margin: float
    n: range
    ks_levels: range


GATE_RINGS = tuple((ring, k) for ring in (256, 512, 1024) for k in range(1, 7) if 1024 <= k * ring <= 1536)
FAMILIES = [
    Family(f"gates, weight {w}", "f32", GATE_RINGS, range(1, 5), w, 1 / 8, range(500, 1000, 4), range(1, 6))
    for w in (2, 3)
] + [
    Family(f"integers, weight {w}", "f64", ((2048, 1),), range(1, 2), w, 1 / 64, range(700, 1100, 2), range(1, 8))
    for w in (256, 16)
]


def best_gadget(ring, k, levels, body_levels, precision, security):
    """The base with the least noise per step (its cost does not depend on the base)."""
    log_q = 32 if precision == "f32" else 64
    sigma = security.log_sigma(ring * k, log_q)
    choices = [
        Glwe(ring, k, b, levels, body_levels, sigma, precision) for b in range(1, log_q // levels + 1)
    ]
    return min(choices, key=lambda g: sum(g.step_variance().values()))


def best_keyswitch(dimension, levels, n, security):
    choices = [Keyswitch(b, levels) for b in range(1, 32 // levels + 1)]
    sigma = security.log_sigma(n, 32)
    return min(choices, key=lambda ks: sum(ks.variance(dimension, sigma).values()))


def sets(family, security):
    """Every sensible set of a family: cost and noise, gadgets optimal for their length."""
    for ring, k in family.rings:
        gadgets = [(m, b) for m in family.levels for b in (m - 1, m) if b > 0]
        for levels, body_levels in gadgets:
            glwe = best_gadget(ring, k, levels, body_levels, family.precision, security)
            for n in family.n:
                for ks_levels in family.ks_levels:
                    ks = best_keyswitch(glwe.dimension, ks_levels, n, security)
                    yield evaluate(family, n, glwe, ks, security)


def describe(c):
    g, ks = c["glwe"], c["keyswitch"]
    return (
        f"n={c['n']} (2^{c['log_sigma_lwe']:.2f}) N={g['ring']} k={g['k']} (2^{g['log_sigma']:.2f}) "
        f"PBS 2^{g['log_base']}x{g['levels']}{'' if g['levels'] == g['body_levels'] else '/' + str(g['body_levels'])} KS 2^{ks['log_base']}x{ks['levels']} "
        f"p=2^{c['log_p_fail']} bsk={c['bsk_bytes'] / 1e6:.1f}MB ksk={c['ksk_bytes'] / 1e6:.1f}MB "
        f"{c['flops'] / 1e6:.0f}Mflop {c['arithmetic_ms']}+{c['bytes_ms']}={c['time_ms']}ms batched {c['batched_ms']}ms"
    )


def markdown(c):
    """One row of the table in docs/derivations/tfhe-parameters.md."""
    g, ks = c["glwe"], c["keyswitch"]
    levels = f"{g['levels']}" if g["levels"] == g["body_levels"] else f"{g['levels']}/{g['body_levels']}"
    return (
        f"| {c['security_bits']} | {c['family']} | {c['n']} | {c['log_sigma_lwe']:.2f} | {g['ring']}, {g['k']} | {g['log_sigma']:.2f} "
        f"| 2^{g['log_base']} x {levels} | 2^{ks['log_base']} x {ks['levels']} | {c['log_p_fail']:.1f} "
        f"| {c['bsk_bytes'] / 1e6:.1f} + {c['ksk_bytes'] / 1e6:.1f} | {c['flops'] / 1e6:.0f} | {c['arithmetic_ms']:.2f} + {c['bytes_ms']:.2f} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bits", type=int, nargs="+", default=[128, 130])
    parser.add_argument("--p", type=int, nargs="+", default=[132, 64, 40])
    parser.add_argument("--top", type=int, default=4)
    parser.add_argument("--data", type=pathlib.Path, default=HERE / "tfhe.json")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path, help="the best two per line, as table rows")
    args = parser.parse_args()
    data = json.loads(args.data.read_text())
    results = []
    for bits in args.bits:
        security = Security(data, bits)
        for family in FAMILIES:
            everything = list(sets(family, security))
            for order in ("time_ms", "batched_ms"):
                everything.sort(key=lambda c: c[order])
                for p in args.p:
                    print(f"== {bits} bits, {family.name}, p_fail <= 2^-{p}, by {order}")
                    shapes = {}
                    for c in everything:
                        shape = (c["glwe"]["ring"], c["glwe"]["k"], c["glwe"]["levels"], c["glwe"]["body_levels"])
                        if c["log_p_fail"] <= -p and shape not in shapes:
                            shapes[shape] = c
                    for rank, c in enumerate(list(shapes.values())[: args.top]):
                        print("  ", describe(c))
                        results.append({"family": family.name, "p_target": -p, "order": order, "rank": rank, **c})
    if args.markdown:
        best = [r for r in results if r["order"] == "time_ms" and r["rank"] < 2]
        args.markdown.write_text("".join(markdown(r) + "\n" for r in best))
    if args.json:
        lines = ",\n".join(json.dumps(result) for result in results)
        args.json.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()

"""Attacks on LWE, cost models and the exact count of guesses, with malb/lattice-estimator.

A cost is log2 of the estimator's `rop`. Secrets are uniform on {0, 1} or {-1, 0, 1}, or block-binary.
"""

import argparse
import datetime
import importlib.metadata
import json
import math
import pathlib
import subprocess
import sys
from functools import partial
from typing import NamedTuple

import numpy as np
import sage.all  # noqa: F401  (must be imported before the estimator)
from estimator import LWE, ND, RC
from estimator.lwe_dual import MATZOV
from estimator.lwe_primal import PrimalHybrid
from estimator.util import local_minimum

HERE = pathlib.Path(__file__).resolve().parent


class BlockBinary(ND.NoiseDistribution):
    """A secret of blocks. Each is uniform among the zero block and the blocks with one 1.

    `stddev` is that of a coordinate in a lattice that is scaled by the covariance of a block: the geometric mean
    of the standard deviations along the axes of the ellipsoid. Blocks of length 1 are uniform bits.
    """

    def __init__(self, length, n=None):
        stddev = sage.all.RR((length + 1) ** (-(length + 1) / (2 * length)))
        super().__init__(n=n, mean=0, stddev=stddev, bounds=(0, 1), _density=1 / (length + 1))
        self.length = length


def bits(secret):
    """Return the entropy of a coordinate in bits. That of a Gaussian is the one of the density."""
    if isinstance(secret, BlockBinary):
        return math.log2(secret.length + 1) / secret.length
    low, high = secret.bounds
    if not secret.is_bounded:
        return math.log2(float(secret.stddev) * math.sqrt(2 * math.pi * math.e))
    return math.log2(int(high - low + 1))


class ExactCount(MATZOV):
    """MATZOV's dual hybrid attack, with an exact count of the guesses of a uniform or block-binary secret.

    The estimator counts the guesses of a Gaussian secret. For k coordinates of a uniform secret with c values each,
    there are c^k guesses. Blocks of length l have (l+1)^(k/l). Each guess needs an FFT and a table.

    The FFT of a block-binary secret has as many entries as guesses, too. This is the strict reading: it favours the
    attacker, because no attack is known that needs so few entries without larger errors of rounding.
    """

    @classmethod
    def Hf(cls, secret):
        """Return the natural logarithm of the number of values of a coordinate, as `Nf` needs it."""
        return math.log(2) * bits(secret)

    @classmethod
    def share(cls, secret):
        """Return the share of the transformed coordinates that determine the size of the FFT."""
        return bits(secret) if isinstance(secret, BlockBinary) else 1.0

    @classmethod
    def spread(cls, secret):
        """Return the standard deviation of a coordinate that multiplies the errors of rounding."""
        if isinstance(secret, BlockBinary):
            return math.sqrt(secret.length) / (secret.length + 1)
        return float(secret.stddev)

    @classmethod
    def Nf(cls, params, m, beta_bkz, beta_sieve, k_enum, k_fft, p):
        vectors = super().Nf(params, m, beta_bkz, beta_sieve, k_enum, k_fft, p)
        secret = params.Xs
        rounding = k_fft / 3 * (math.pi / p) ** 2 * (cls.spread(secret) ** 2 - float(secret.stddev) ** 2)
        guesses = lambda share: k_enum * cls.Hf(secret) + k_fft * share * math.log(p) + math.log(2)
        return vectors * math.exp(rounding) * guesses(cls.share(secret)) / guesses(1.0)

    @classmethod
    def cost(cls, beta, params, **kwds):
        cost = super().cost(beta, params, **kwds)
        t, share = cost["t"], cls.share(params.Xs)
        transform = cls.C_mul * t * cost["p"] ** ((t + 1) * share)
        cost["guess"] = 2.0 ** (bits(params.Xs) * cost["zeta"]) * (transform + cls.T_tablef(cost["N"]))
        cost["rop"] = cost["red"] + cost["guess"]
        return cost


class FullTransform(ExactCount):
    """The attack on a block-binary secret with an FFT over all vectors of bits."""

    @classmethod
    def share(cls, secret):
        return 1.0


#: The least normalized second moments of lattices of dimension 1 to 4 (Conway and Sloane, table 2.3; proven up to 3).
SECOND_MOMENT = {1: 1 / 12, 2: 0.0801875, 3: 0.0785433, 4: 0.0766032}


class BestRounding(FullTransform):
    """The same with blocks of dual vectors that are rounded to the nearest point in the norm of the covariance."""

    @classmethod
    def spread(cls, secret):
        return float(secret.stddev) * math.sqrt(12 * SECOND_MOMENT[secret.length])


class Symbols(ExactCount):
    """The attack that treats a block as one symbol modulo l+1, with the best rounding to l+1 points (p = 2 only)."""

    @classmethod
    def spread(cls, secret):
        return BestRounding.spread(secret) * 2 ** (1 - bits(secret))


class Codes(FullTransform):
    """The attack that rounds the words of dual vectors to the best code that can exist, at any rate.

    An FFT of p^t entries takes the p^t words of a code in dimension t, where p need not be an integer. By Shannon's
    bound, no code has errors of rounding of less variance than a ball of the volume of a cell: the normalized second
    moment is 1 / (2 pi e) at least. The codes of Carrier, Meyer-Hilfiger, Shen and Tillich (eprint 2022/1750) come
    near it in high dimensions.
    """

    @classmethod
    def spread(cls, secret):
        return float(secret.stddev) * math.sqrt(12 / (2 * math.pi * math.e))


class Count(NamedTuple):
    """How the guesses are counted."""

    #: The class with the estimator's cost.
    attack: type
    #: The natural logarithm of the number of values of a coordinate, as `Nf` uses it.
    entropy: float
    #: log2 of the factor by which a coordinate multiplies the guesses.
    each: float
    #: log2 of a constant factor.
    more: float
    #: The share of the transformed coordinates that determine the size of the FFT.
    share: float
    #: The standard deviation of a coordinate that multiplies the errors of rounding.
    spread: float


def gaussian_count(secret):
    deviation = float(secret.stddev)
    alpha = math.pi**2 * deviation**2
    excess = 8 * alpha * math.exp(-2 * alpha) * math.tanh(alpha)
    entropy = float(MATZOV.Hf(secret))
    each = entropy + math.log2(2 / math.sqrt(math.e)) + excess / math.log(2)
    return Count(MATZOV, entropy, each, -math.log2(-math.expm1(-0.5 / deviation**2)), 1.0, deviation)


def exact_count(secret, attack=ExactCount):
    return Count(attack, attack.Hf(secret), bits(secret), 0.0, attack.share(secret), attack.spread(secret))


def log_delta(beta):
    """Return the natural logarithm of the root Hermite factor, for block sizes above 40 (Chen 2013)."""
    return np.log(beta / (2 * math.pi * math.e) * (math.pi * beta) ** (1 / beta)) / (2 * (beta - 1))


def grid(params, count, p, beta, k_enum, k_fft, samples=None):
    """Return log2 of the cost of the dual hybrid attack under RC.MATZOV, and the number of samples it uses.

    `beta`, `k_enum` and `k_fft` are arrays that broadcast: block sizes, guessed and transformed coordinates. The number
    of samples is `samples`. Defaults to the number that gives the shortest dual vectors.
    """
    model = RC.MATZOV
    a, b = (model.NN_AGPS[model.nn][key] for key in "ab")
    progressive = 1 / (1 - 2**-a)
    log_q, error, secret = math.log(params.q), float(params.Xe.stddev), float(params.Xs.stddev)
    by = count(params.Xs)
    lattice = int(params.n) - k_fft - k_enum
    volume = math.log(secret) + log_q - math.log(error)
    best = np.maximum(np.round(np.sqrt(np.maximum(lattice, 1) * volume / log_delta(beta)) - lattice), 1)
    m = np.minimum(best, float(params.m)) if samples is None else samples
    d = m + lattice
    # The length of the dual vectors, then the exponent of the scores that tell a right guess from wrong ones.
    length = math.log(error) + lattice / d * volume
    length = length + 0.5 * np.log(4 / 3 * beta / (2 * math.pi * math.e)) + (d - beta) * log_delta(beta)
    exponent = 4 * np.exp(2 * np.minimum(length + math.log(math.pi) - log_q, 4))
    exponent = exponent + k_fft / 3 * (by.spread * math.pi / p) ** 2
    vectors = exponent + np.log(k_enum * by.entropy + k_fft * by.share * math.log(p) + math.log(2))
    # The cost of block reduction, then of a sieve for as many vectors as needed.
    free = np.maximum(beta * math.log(4 / 3) / np.log(beta / (2 * math.pi * math.e)), 0)
    calls = progressive * np.maximum(d - beta, 1)
    reduction = np.log2(calls) + math.log2(progressive) + a * (beta - free) + b
    reduction = np.logaddexp2(reduction, 3 * np.log2(d))
    sieve = np.minimum(d, np.floor(beta - np.floor(free) + np.log2(calls) / a))
    rounds = np.maximum(vectors / math.log(2) - 0.2075 * sieve, 0)
    rounds = np.where(rounds < 40, np.log2(np.ceil(2 ** np.minimum(rounds, 40))), rounds)
    sampling = rounds + np.logaddexp2(reduction, math.log2(progressive) + a * sieve + b)
    transform = math.log2(MATZOV.C_mul) + np.log2(k_fft) + (k_fft + 1) * by.share * math.log2(p)
    table = math.log2(4 * MATZOV.C_add) + vectors / math.log(2)
    cost = np.logaddexp2(sampling, by.more + k_enum * by.each + np.logaddexp2(transform, table))
    return np.where((d > beta) & (lattice > 0), cost, np.inf), m


def optimum(instance, count=exact_count, samples=None, moduli=(2, 3, 4, 5)):
    """Return the least cost under RC.MATZOV over block sizes, coordinates and moduli of the FFT, and its parameters.

    The function asserts that the class of the estimator gives the same cost there.
    """
    params = instance.normalize()
    best = (math.inf, {})
    for p in moduli:
        first, last = np.array((60.0, 0.0, 1.0)), np.array((1060.0, 140.0, 260.0 / math.log2(p)))

        def least(low, high, step, p=p, first=first, last=last):
            low, high = np.maximum(low, first), np.minimum(high, last)
            axes = [np.arange(*bounds) for bounds in zip(low, high + 1, step)]
            cost, m = grid(params, count, p, *np.ix_(*axes), samples)
            at = np.unravel_index(np.argmin(cost), cost.shape)
            values = np.array([axis[i] for axis, i in zip(axes, at)])
            return float(cost[at]), values, int(np.broadcast_to(m, cost.shape)[at])

        # All choices in wide steps, then the surroundings of the best one until none is better.
        cost, values, m = least(first, last, (16, 5, 5))
        reach = np.array((48, 30, 30))
        cost, values, m = least(values - reach, values + reach, (4, 3, 3))
        reach = np.array((12, 9, 9))
        while (found := least(values - reach, values + reach, (1, 1, 1)))[0] < cost:
            cost, values, m = found
        if cost < best[0]:
            names = ("beta", "k_enum", "k_fft")
            best = cost, {name: int(value) for name, value in zip(names, values)} | {"p": p, "m": m}
    value, at = best
    estimator = log2(count(params.Xs).attack.cost(params=params, red_cost_model=RC.MATZOV, **at))
    assert abs(value - estimator) < 2e-3, f"{instance}: {value}, but {estimator} by the estimator"
    return estimator, at


def optimum_code(instance, samples=None):
    """Return `optimum` with the best code, over rates in steps of 1/20 bit. The cost has one minimum over the rates."""
    count = partial(exact_count, attack=Codes)
    found = {}

    def at(rate):
        if rate not in found:
            found[rate] = optimum(instance, count, samples, moduli=(2 ** (rate / 20),))
        return found[rate]

    rate = round(20 * 0.65 * min(bits(instance.Xs), 1.5))
    while rate > 2 and at(rate - 1)[0] < at(rate)[0]:
        rate -= 1
    while at(rate + 1)[0] < at(rate)[0]:
        rate += 1
    return min(at(rate), optimum(instance, count, samples), key=lambda found: found[0])


#: The steps of a search from a known optimum: block size, guessed coordinates, transformed coordinates.
STEPS = [(s * x, s * y, s * z) for s in (8, 4, 2, 1) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]


def dual_hybrid_exact(instance, red_cost_model=RC.MATZOV, attack=ExactCount, optimum=optimum):
    """Return the cost of the dual hybrid attack with exact counts and the best number of samples.

    For cost models other than RC.MATZOV, the search steps from the optimum of RC.MATZOV.
    """
    params = instance.normalize()
    _, at = optimum(instance)
    cost = lambda beta, k_enum, k_fft: attack.cost(
        beta, params, p=at["p"], m=at["m"], k_enum=k_enum, k_fft=k_fft, red_cost_model=red_cost_model
    )
    here = (at["beta"], at["k_enum"], at["k_fft"])
    best = cost(*here)
    while red_cost_model is not RC.MATZOV:
        steps = (tuple(map(sum, zip(here, step))) for step in STEPS)
        for there in steps:
            if min(there) > 0 and (found := cost(*there))["rop"] < best["rop"]:
                best, here = found, there
                break
        else:
            break
    return best


def block_hybrid(instance, red_cost_model=RC.MATZOV, mitm=False):
    """Return the cost of the primal hybrid attack that guesses blocks, all patterns of as many blocks as is best.

    The patterns of b blocks are equally likely. So a set of |S| patterns has the right one with probability
    |S| / (l+1)^b, and an attack on a smaller set must repeat the reduction. To drop blocks that are hoped to be zero
    is the case |S| = 1.
    """
    params = instance.normalize()
    length = getattr(params.Xs, "length", 1)

    def at(zeta):
        guesses = 2.0 ** (bits(params.Xs) * zeta)
        cost = partial(PrimalHybrid.cost, params=params, zeta=zeta, babai=mitm, mitm=mitm, search_space=guesses)
        with local_minimum(40, 600, precision=2) as search:
            for beta in search:
                search.update(cost(beta, hit_probability=1.0, red_cost_model=red_cost_model))
            for beta in search.neighborhood:
                search.update(cost(beta, hit_probability=1.0, red_cost_model=red_cost_model))
        return search.y

    best = lambda zetas: min(((at(zeta), zeta) for zeta in zetas if zeta >= 0), key=lambda found: found[0]["rop"])
    step = 8 * length
    _, near = best(range(0, 17 * step, step))
    return best(range(near - step + 2 * length, near + step, 2 * length))[0]


#: Attacks on LWE with a secret of small entries. Two attacks are left out. arora-gb needs noise of small bounded
#: support (here it returns infinity). coded-bkw costs 2^176 with 2^163 samples at n = 696, and more at larger n.
ATTACKS = {
    "usvp": LWE.primal_usvp,
    "bdd": LWE.primal_bdd,
    "dual": LWE.dual,
    "dual_hybrid": LWE.dual_hybrid,
    "dual_hybrid_exact": dual_hybrid_exact,
    "dual_hybrid_codes": partial(dual_hybrid_exact, attack=Codes, optimum=optimum_code),
    "bdd_hybrid": partial(LWE.primal_hybrid, mitm=False, babai=False),
    "bdd_mitm_hybrid": partial(LWE.primal_hybrid, mitm=True, babai=True),
    "block_hybrid": block_hybrid,
    "block_mitm_hybrid": partial(block_hybrid, mitm=True),
}

#: Quantum cost models. LaaMosPol14 and ChaLoy21 are asymptotic exponents of quantum sieving (0.265 and 0.257 beta)
#: with a classical polynomial overhead. The core-SVP figure (ADPS16 quantum) has no overhead and is a lower bound.
QUANTUM = {
    "LaaMosPol14": RC.LaaMosPol14,
    "ChaLoy21": RC.ChaLoy21,
    "ADPS16-quantum": type(RC.ADPS16)(mode="quantum"),
}
#: The quantum model of the claims. The others take minutes.
CLAIMED = "LaaMosPol14"
QUANTUM_ATTACKS = ("usvp", "dual_hybrid_codes")


def log2(cost):
    """Return log2 of the cost of an attack, or infinity if the attack does not apply."""
    return float(math.log2(cost["rop"])) if cost["rop"] < 2**2000 else math.inf


def costs_of(instance, names, model=RC.MATZOV, known=None):
    """Return the cost of each attack under a cost model, in bits. Costs that are `known` are not computed again."""
    known = known or {}
    missing = [name for name in names if name not in known]
    return known | {name: round(log2(ATTACKS[name](instance, red_cost_model=model)), 3) for name in missing}


def report(instance, names=tuple(ATTACKS), quantum_names=QUANTUM_ATTACKS, known=None, models=(CLAIMED,)):
    """Return every figure of a point. Claims are at most `classical_bits` and `quantum_bits` (LaaMosPol14).

    The claims do not use the estimator's own dual_hybrid, because it counts the guesses of Gaussian secrets. `known` is
    an earlier report of the point, whose figures are kept. `models` names the quantum models.
    """
    known = known or {"classical": {}, "quantum": {}}
    costs = {name: bits for name, bits in known["classical"].items() if name in ATTACKS}
    costs = costs_of(instance, names, known=costs)
    models = known["quantum"] | {
        name: costs_of(instance, quantum_names, QUANTUM[name], known["quantum"].get(name)) for name in models
    }
    least = lambda bits: min(value for name, value in bits.items() if name != "dual_hybrid")
    secret, samples = instance.normalize().Xs, int(instance.normalize().n)
    counts = {
        "dual_hybrid_dense": (gaussian_count, samples),
        "dual_hybrid_exact_n_samples": (exact_count, samples),
    }
    if isinstance(secret, BlockBinary):
        counts |= {
            "dual_hybrid_full_transform": (partial(exact_count, attack=FullTransform),),
            "dual_hybrid_best_rounding": (partial(exact_count, attack=BestRounding),),
            "dual_hybrid_symbols": (partial(exact_count, attack=Symbols), None, (2,)),
        }
    others = {
        name: known["classical"].get(name) or round(optimum(instance, *count)[0], 3) for name, count in counts.items()
    }
    return {
        "classical": costs | others,
        "classical_bits": least(costs),
        "quantum": models,
        "quantum_bits": least(models[CLAIMED]),
    }


def versions():
    """Return the versions of the programs that compute the figures, the date, and the cost model."""
    root = pathlib.Path(sys.modules["estimator"].__file__).parent.parent
    commit = subprocess.run(
        ["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    return {
        "estimator": "malb/lattice-estimator",
        "estimator_commit": commit,
        "passagemath": importlib.metadata.version("passagemath-modules"),
        "python": sys.version.split()[0],
        "date": datetime.date.today().isoformat(),
        "cost_model": "MATZOV, shape GSA, unlimited samples, guesses counted exactly",
    }


def attack(name):
    """Return the name of an attack as it is. Raise an error for a name that there is not."""
    if name not in ATTACKS:
        raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(ATTACKS)}")
    return name


def listed(kind):
    """Return the type of an option with several values, separated by commas.

    An option with `nargs="+"` would take the arguments that follow it as well.
    """

    def parse(text):
        return [kind(part) for part in text.split(",")]

    parse.__name__ = f"list of {kind.__name__}"
    return parse


def load(path):
    return json.loads(path.read_text()) if path.exists() else {}


def save(path, data):
    data["versions"] = versions()
    path.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")

"""Attacks on LWE, cost models and the exact count of guesses, with malb/lattice-estimator.

A cost is log2 of the estimator's `rop`. Secrets are uniform on {0, 1} or {-1, 0, 1}.
"""

import datetime
import importlib.metadata
import json
import math
import pathlib
import subprocess
import sys
from functools import partial

import numpy as np
import sage.all  # noqa: F401  (must be imported before the estimator)
from estimator import LWE, RC
from estimator.lwe_dual import MATZOV

HERE = pathlib.Path(__file__).resolve().parent


def symbols(secret):
    """Return the number of values of a uniform coordinate: 2 or 3."""
    low, high = secret.bounds
    return int(high - low + 1)


class ExactCount(MATZOV):
    """MATZOV's dual hybrid attack, with an exact count of the guesses of a uniform secret.

    The estimator counts the guesses of a Gaussian secret. For k coordinates of a uniform secret with c values each,
    there are c^k guesses. Each guess needs an FFT and a table.
    """

    @classmethod
    def Hf(cls, secret):
        """Return the natural logarithm of the number of values of a coordinate, as `Nf` needs it."""
        return math.log(symbols(secret))

    @classmethod
    def cost(cls, beta, params, **kwds):
        cost = super().cost(beta, params, **kwds)
        guesses = symbols(params.Xs) ** cost["zeta"]
        cost["guess"] = guesses * (cls.T_fftf(cost["t"], cost["p"]) + cls.T_tablef(cost["N"]))
        cost["rop"] = cost["red"] + cost["guess"]
        return cost


# The next two functions count the guesses. Each returns the class with the estimator's cost, the natural logarithm of
# the number of values of a coordinate as `Nf` uses it, log2 of the factor by which a coordinate multiplies the guesses,
# and log2 of a constant factor.
def gaussian_count(secret):
    deviation = float(secret.stddev)
    alpha = math.pi**2 * deviation**2
    excess = 8 * alpha * math.exp(-2 * alpha) * math.tanh(alpha)
    entropy = float(MATZOV.Hf(secret))
    each = entropy + math.log2(2 / math.sqrt(math.e)) + excess / math.log(2)
    return MATZOV, entropy, each, -math.log2(-math.expm1(-0.5 / deviation**2))


def exact_count(secret):
    return ExactCount, ExactCount.Hf(secret), math.log2(symbols(secret)), 0.0


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
    _, entropy, bits_each, bits_more = count(params.Xs)
    lattice = int(params.n) - k_fft - k_enum
    volume = math.log(secret) + log_q - math.log(error)
    best = np.maximum(np.round(np.sqrt(np.maximum(lattice, 1) * volume / log_delta(beta)) - lattice), 1)
    m = best if samples is None else samples
    d = m + lattice
    # The length of the dual vectors, then the exponent of the scores that tell a right guess from wrong ones.
    length = math.log(error) + lattice / d * volume
    length = length + 0.5 * np.log(4 / 3 * beta / (2 * math.pi * math.e)) + (d - beta) * log_delta(beta)
    exponent = 4 * np.exp(2 * np.minimum(length + math.log(math.pi) - log_q, 4)) + k_fft / 3 * (secret * math.pi / p) ** 2
    vectors = exponent + np.log(k_enum * entropy + k_fft * math.log(p) + math.log(2))
    # The cost of block reduction, then of a sieve for as many vectors as needed.
    free = np.maximum(beta * math.log(4 / 3) / np.log(beta / (2 * math.pi * math.e)), 0)
    calls = progressive * np.maximum(d - beta, 1)
    reduction = np.log2(calls) + math.log2(progressive) + a * (beta - free) + b
    reduction = np.logaddexp2(reduction, 3 * np.log2(d))
    sieve = np.minimum(d, np.floor(beta - np.floor(free) + np.log2(calls) / a))
    rounds = np.maximum(vectors / math.log(2) - 0.2075 * sieve, 0)
    rounds = np.where(rounds < 40, np.log2(np.ceil(2 ** np.minimum(rounds, 40))), rounds)
    sampling = rounds + np.logaddexp2(reduction, math.log2(progressive) + a * sieve + b)
    transform = math.log2(MATZOV.C_mul) + np.log2(k_fft) + (k_fft + 1) * math.log2(p)
    table = math.log2(4 * MATZOV.C_add) + vectors / math.log(2)
    cost = np.logaddexp2(sampling, bits_more + k_enum * bits_each + np.logaddexp2(transform, table))
    return np.where((d > beta) & (lattice > 0), cost, np.inf), m


def optimum(instance, count=exact_count, samples=None):
    """Return the least cost under RC.MATZOV over block sizes, coordinates and moduli of the FFT, and its parameters.

    The function asserts that the class of the estimator gives the same cost there.
    """
    params = instance.normalize()
    best = (math.inf, {})
    for p in (2, 3, 4, 5):
        axes = [np.arange(60.0, 1060.0), np.arange(0.0, 140.0), np.arange(1.0, 260.0 / math.log2(p))]
        # A coarse pass, then every value near the best one.
        for steps, widths in (((3, 2, 2), (12, 10, 10)), ((1, 1, 1), None)):
            axes = [axis[::step] for axis, step in zip(axes, steps)]
            cost, m = grid(params, count, p, *np.ix_(*axes), samples)
            at = np.unravel_index(np.argmin(cost), cost.shape)
            values = [int(axis[i]) for axis, i in zip(axes, at)]
            if widths:
                axes = [np.arange(max(v - w, axis[0]), v + w + 1.0) for v, w, axis in zip(values, widths, axes)]
        if cost[at] < best[0]:
            found = dict(zip(("beta", "k_enum", "k_fft"), values), p=p, m=int(np.broadcast_to(m, cost.shape)[at]))
            best = float(cost[at]), found
    value, at = best
    estimator = log2(count(params.Xs)[0].cost(params=params, red_cost_model=RC.MATZOV, **at))
    assert abs(value - estimator) < 2e-3, f"{instance}: {value}, but {estimator} by the estimator"
    return estimator, at


#: The steps of a search from a known optimum: block size, guessed coordinates, transformed coordinates.
STEPS = [(s * x, s * y, s * z) for s in (8, 4, 2, 1) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]


def dual_hybrid_exact(instance, red_cost_model=RC.MATZOV):
    """Return the cost of the dual hybrid attack with exact counts and the best number of samples.

    For cost models other than RC.MATZOV, the search steps from the optimum of RC.MATZOV.
    """
    params = instance.normalize()
    _, at = optimum(instance)
    cost = lambda beta, k_enum, k_fft: ExactCount.cost(
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


#: Attacks on LWE with a secret of small entries. Two attacks are left out. arora-gb needs noise of small bounded
#: support (here it returns infinity). coded-bkw costs 2^176 with 2^163 samples at n = 696, and more at larger n.
ATTACKS = {
    "usvp": LWE.primal_usvp,
    "bdd": LWE.primal_bdd,
    "dual": LWE.dual,
    "dual_hybrid": LWE.dual_hybrid,
    "dual_hybrid_exact": dual_hybrid_exact,
    "bdd_hybrid": partial(LWE.primal_hybrid, mitm=False, babai=False),
    "bdd_mitm_hybrid": partial(LWE.primal_hybrid, mitm=True, babai=True),
}

#: Quantum cost models. LaaMosPol14 and ChaLoy21 are asymptotic exponents of quantum sieving (0.265 and 0.257 beta)
#: with a classical polynomial overhead. The core-SVP figure (ADPS16 quantum) has no overhead and is a lower bound.
QUANTUM = {
    "LaaMosPol14": RC.LaaMosPol14,
    "ChaLoy21": RC.ChaLoy21,
    "ADPS16-quantum": type(RC.ADPS16)(mode="quantum"),
}
QUANTUM_ATTACKS = ("usvp", "dual_hybrid_exact")


def log2(cost):
    """Return log2 of the cost of an attack, or infinity if the attack does not apply."""
    return float(math.log2(cost["rop"])) if cost["rop"] < 2**2000 else math.inf


def classical(instance, names=tuple(ATTACKS)):
    """Return the cost of each attack under RC.MATZOV, in bits."""
    return {name: round(log2(ATTACKS[name](instance, red_cost_model=RC.MATZOV)), 3) for name in names}


def quantum(instance, names=QUANTUM_ATTACKS):
    """Return the cost of each attack under each quantum model, in bits."""
    bits = lambda name, model: round(log2(ATTACKS[name](instance, red_cost_model=model)), 3)
    return {model: {name: bits(name, cost) for name in names} for model, cost in QUANTUM.items()}


def report(instance, names=tuple(ATTACKS), quantum_names=QUANTUM_ATTACKS):
    """Return every figure of a point. Claims are at most `classical_bits` and `quantum_bits` (LaaMosPol14).

    The claims do not use the estimator's own dual_hybrid, because it counts the guesses of Gaussian secrets.
    """
    costs, models = classical(instance, names), quantum(instance, quantum_names)
    least = lambda bits: min(value for name, value in bits.items() if name != "dual_hybrid")
    dense, _ = optimum(instance, gaussian_count, int(instance.normalize().n))
    limited, _ = optimum(instance, exact_count, int(instance.normalize().n))
    return {
        "classical": costs | {"dual_hybrid_dense": round(dense, 3), "dual_hybrid_exact_n_samples": round(limited, 3)},
        "classical_bits": least(costs),
        "quantum": models,
        "quantum_bits": least(models["LaaMosPol14"]),
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


def load(path):
    return json.loads(path.read_text()) if path.exists() else {}


def save(path, data):
    data["versions"] = versions()
    path.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")

"""Proofs for all inputs, on the SystemVerilog itself, by the SAT solver of Yosys. See rtl/formal for the claims.

Usage: prove.py [WORD ...]. With words, the claims whose names have one of them are proved alone. A claim that does not hold ends
the run with status 1 and shows the inputs.
"""

import sys
import time
from pathlib import Path

import synthesis
from pyosys import libyosys as yosys

FORMAL = Path(__file__).resolve().parent.parent / "formal"
CLAIMS = [
    ("sol_norm: congruent, 66 bits", "prove_norm", "common/files.f", [("W", 66)]),
    ("sol_norm: congruent, 68 bits", "prove_norm", "common/files.f", [("W", 68)]),
    ("sol_norm: congruent, 70 bits", "prove_norm", "common/files.f", [("W", 70)]),
    ("sol_norm: congruent, 72 bits", "prove_norm", "common/files.f", [("W", 72)]),
    ("sol_canon: canonical and congruent", "prove_canon", "common/files.f", []),
    ("sol_fold192: congruent", "prove_fold", "common/files.f", []),
    ("sol_carry: exact, carries below 2^41", "prove_carry", "common/files.f", []),
    ("banks: no two lanes meet, no two words share a place", "prove_bank", "multiplier/files.f", []),
    ("banks of sol_multiplier, full", "prove_multiplier_banks", "multiplier/files.f", [("BIG", 1)]),
    ("banks of sol_multiplier, small", "prove_multiplier_banks", "multiplier/files.f", [("BIG", 0)]),
    ("banks of sol_rsa, whole moduli and halves", "prove_rsa_banks", "rsa/files.f", []),
    *((f"banks of sol_stored, {size}, {kernels}", "prove_stored_banks", "stored/files.f", [("BIG", big), ("KERNELS", k)])
      for big, size in ((1, "full"), (0, "small")) for k, kernels in ((1, "one kernel"), (2, "two kernels"))),
]


def prove(top, files, parameters):
    design = yosys.Design()
    sources = " ".join(str(path) for path in [*synthesis.sources(files), FORMAL / f"{top}.sv"])
    options = " ".join(f"-G {name}={value}" for name, value in parameters)
    yosys.run_pass(f"read_slang --top {top} {options} {sources}", design)
    for command in ("proc", "flatten", f"techmap -map {FORMAL / 'wires.v'}", "opt -full"):
        synthesis.quiet(design, command)
    yosys.run_pass(f"sat -verify -prove ok_o 1 -show-inputs {top}", design)


if __name__ == "__main__":
    lines = []
    words = sys.argv[1:]
    chosen = [claim for claim in CLAIMS if not words or any(word in claim[0] for word in words)]
    if not chosen:
        sys.exit(f"error: no claim has the word {' or '.join(words)}; the claims are: {', '.join(claim[0] for claim in CLAIMS)}")
    for name, top, files, parameters in chosen:
        start = time.time()
        try:
            prove(top, files, parameters)
        except RuntimeError as error:
            sys.exit(f"error: not proved: {name}: {error}")
        lines.append(f"proved for all inputs: {name} ({time.time() - start:.1f} s)")
    print("\n".join(lines))

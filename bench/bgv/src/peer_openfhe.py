"""OpenFHE's BGV, driven by lines on standard input: what `bench-bgv` starts when the `openfhe` package is there.

    python3 peer_openfhe.py N DEPTH BITS PLAINTEXT_MODULUS

Prints `ready VERSION MODULUS_BITS`. A line `encrypt`, `decrypt`, `add`, `multiply` (with relinearization), `composed` (that and ModReduce) or `rotate`, and
a number, does it so often and is answered by the nanoseconds; `check` by `right` or `wrong`.
"""

import math
import sys
import time
from importlib.metadata import version

import openfhe as of


def main() -> None:
    n, depth, bits, p = map(int, sys.argv[1:5])
    parameters = of.CCParamsBGVRNS()
    parameters.SetPlaintextModulus(p)
    parameters.SetMultiplicativeDepth(depth)
    parameters.SetRingDim(n)
    parameters.SetSecurityLevel(of.SecurityLevel.HEStd_NotSet)
    parameters.SetFirstModSize(bits)
    parameters.SetScalingModSize(bits)
    parameters.SetScalingTechnique(of.ScalingTechnique.FIXEDMANUAL)
    parameters.SetKeySwitchTechnique(of.KeySwitchTechnique.HYBRID)
    context = of.GenCryptoContext(parameters)
    for feature in (of.PKESchemeFeature.PKE, of.PKESchemeFeature.KEYSWITCH, of.PKESchemeFeature.LEVELEDSHE):
        context.Enable(feature)
    keys = context.KeyGen()
    context.EvalMultKeyGen(keys.secretKey)
    context.EvalRotateKeyGen(keys.secretKey, [1])

    slots = [i * i % 211 for i in range(n)]
    plaintext = context.MakePackedPlaintext(slots)
    x = context.Encrypt(keys.publicKey, plaintext)
    y = context.Encrypt(keys.publicKey, plaintext)
    work = {
        "encrypt": lambda: context.Encrypt(keys.publicKey, plaintext),
        "decrypt": lambda: context.Decrypt(x, keys.secretKey),
        "add": lambda: context.EvalAdd(x, y),
        "multiply": lambda: context.EvalMult(x, y),
        "composed": lambda: context.ModReduce(context.EvalMult(x, y)),
        "rotate": lambda: context.EvalRotate(x, 1),
    }
    print("ready", version("openfhe"), round(math.log2(context.GetModulus())), flush=True)
    for line in sys.stdin:
        what, *count = line.split()
        if what == "check":
            got = context.Decrypt(work["composed"](), keys.secretKey).GetPackedValue()
            right = all((a - b * b) % p == 0 for a, b in zip(got, slots))
            print("right" if right else "wrong", flush=True)
            continue
        start = time.perf_counter_ns()
        for _ in range(int(count[0])):
            work[what]()
        print(time.perf_counter_ns() - start, flush=True)


main()

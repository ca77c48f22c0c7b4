"""Compute decimal digits of pi by Chudnovsky's series and binary splitting, on plain big integers.

Nothing here is encrypted: the program shows `solinas.bigint`, the arithmetic of the package's large numbers.
"""

import argparse
import sys
import time
from pathlib import Path

from solinas.bigint import Integer, isqrt

# 1/pi = 12 sum (-1)^k (6k)! (13591409 + 545140134 k) / ((3k)! k!^3 640320^(3k + 3/2))   (Chudnovsky 1988)
A, B, C = 13_591_409, 545_140_134, 640_320
C3_OVER_24 = C**3 // 24
# Digits that each term adds: log10(C^3 / 24 / 72).
DIGITS_PER_TERM = 14.181647462725477
# Digits beyond the last one that is printed. The sum and the root are rounded down, which changes the last few.
GUARD = 10
# The least number of terms that are computed in halves.
LEAST_SPLIT = 2
GREATEST = 100_000_000


def split(first: int, end: int) -> tuple[Integer, Integer, Integer]:
    """Return P, Q and T of the terms first to end - 1: their sum is T / Q, and P carries on to the terms after them."""
    if end - first < LEAST_SPLIT:
        k = first
        p = Integer(-(6 * k - 5) * (2 * k - 1) * (6 * k - 1)) if k else Integer(1)
        q = Integer(k**3 * C3_OVER_24) if k else Integer(1)
        return p, q, p * (A + B * k)
    middle = (first + end) // 2
    p, q, t = split(first, middle)
    p2, q2, t2 = split(middle, end)
    return p * p2, q * q2, t * q2 + p * t2


def pi_digits(digits: int) -> str:
    """Return pi with this number of digits after the point, cut and not rounded."""
    _, q, t = split(0, int(digits / DIGITS_PER_TERM) + 2)
    one = Integer(10) ** (digits + GUARD)
    # pi = Q C^(3/2) / (12 T), and C^(3/2) / 12 = 426880 sqrt(10005).
    scaled = q * 426_880 * isqrt(one * one * 10_005) // t
    text = str(scaled)[:-GUARD]
    return f"{text[0]}.{text[1:]}" if digits else text


def machin(digits: int) -> str:
    """Return the same by Machin's formula, pi = 16 arctan(1/5) - 4 arctan(1/239), in Python's integers."""
    one: int = 10 ** (digits + GUARD)

    def arctan_of_inverse(x: int) -> int:
        total = term = one // x
        k, sign = 1, 1
        while term:
            term //= x * x
            k, sign = k + 2, -sign
            total += sign * (term // k)
        return total

    sys.set_int_max_str_digits(0)
    text = str(16 * arctan_of_inverse(5) - 4 * arctan_of_inverse(239))[:-GUARD]
    return f"{text[0]}.{text[1:]}" if digits else text


def main() -> None:
    """Compute, print and compare the digits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("digits", type=int, nargs="?", default=1000, help="digits after the point (1000)")
    parser.add_argument("-o", "--output", type=Path, help="write the digits to this file")
    parser.add_argument("--check", action="store_true", help="compare with Machin's formula, which is slow")
    args = parser.parse_args()
    if not 0 <= args.digits <= GREATEST:
        sys.exit(f"error: {args.digits} digits: give a number from 0 to {GREATEST}")
    start = time.perf_counter()
    text = pi_digits(args.digits)
    seconds = time.perf_counter() - start
    if args.output:
        args.output.write_text(text + "\n", encoding="ascii")
    else:
        print(text)
    print(f"{args.digits} digits in {seconds:.2f} s", file=sys.stderr)
    if args.check:
        if text != machin(args.digits):
            sys.exit("error: the digits differ from those of Machin's formula")
        print("every digit is equal to that of Machin's formula")


if __name__ == "__main__":
    main()

"""AES-128 as gates, for comparison: `python gates.py` counts the bootstraps of both forms, and runs nothing.

The S-box is the straight-line program of Boyar and Peralta (A depth-16 circuit for the AES S-box, eprint 2011/332),
with 115 operations in the form that is published in their tables. A bit 0 is the most significant one.
"""

import re

import rounds

import solinas as sl

SBOX = """
y14 = x3 + x5    y13 = x0 + x6    y9 = x0 + x3     y8 = x0 + x5     t0 = x1 + x2     y1 = t0 + x7
y4 = y1 + x3     y12 = y13 + y14  y2 = y1 + x0     y5 = y1 + x6     y3 = y5 + y8     t1 = x4 + y12
y15 = t1 + x5    y20 = t1 + x1    y6 = y15 + x7    y10 = y15 + t0   y11 = y20 + y9   y7 = x7 + y11
y17 = y10 + y11  y19 = y10 + y8   y16 = t0 + y11   y21 = y13 + y16  y18 = x0 + y16   t2 = y12 * y15
t3 = y3 * y6     t4 = t3 + t2     t5 = y4 * x7     t6 = t5 + t2     t7 = y13 * y16   t8 = y5 * y1
t9 = t8 + t7     t10 = y2 * y7    t11 = t10 + t7   t12 = y9 * y11   t13 = y14 * y17  t14 = t13 + t12
t15 = y8 * y10   t16 = t15 + t12  t17 = t4 + t14   t18 = t6 + t16   t19 = t9 + t14   t20 = t11 + t16
t21 = t17 + y20  t22 = t18 + y19  t23 = t19 + y21  t24 = t20 + y18  t25 = t21 + t22  t26 = t21 * t23
t27 = t24 + t26  t28 = t25 * t27  t29 = t28 + t22  t30 = t23 + t24  t31 = t22 + t26  t32 = t31 * t30
t33 = t32 + t24  t34 = t23 + t33  t35 = t27 + t33  t36 = t24 * t35  t37 = t36 + t34  t38 = t27 + t36
t39 = t29 * t38  t40 = t25 + t39  t41 = t40 + t37  t42 = t29 + t33  t43 = t29 + t40  t44 = t33 + t37
t45 = t42 + t41  z0 = t44 * y15   z1 = t37 * y6    z2 = t33 * x7    z3 = t43 * y16   z4 = t40 * y1
z5 = t29 * y7    z6 = t42 * y11   z7 = t45 * y17   z8 = t41 * y10   z9 = t44 * y12   z10 = t37 * y3
z11 = t33 * y4   z12 = t43 * y13  z13 = t40 * y5   z14 = t29 * y2   z15 = t42 * y9   z16 = t45 * y14
z17 = t41 * y8   t46 = z15 + z16  t47 = z10 + z11  t48 = z5 + z13   t49 = z9 + z10   t50 = z2 + z12
t51 = z2 + z5    t52 = z7 + z8    t53 = z0 + z3    t54 = z6 + z7    t55 = z16 + z17  t56 = z12 + t48
t57 = t50 + t53  t58 = z4 + t46   t59 = z3 + t54   t60 = t46 + t57  t61 = z14 + t57  t62 = t52 + t58
t63 = t49 + t58  t64 = z4 + t59   t65 = t61 + t62  t66 = z1 + t63   s0 = t59 + t63   s6 = t56 # t62
s7 = t48 # t60   t67 = t64 + t65  s3 = t53 + t66   s4 = t51 + t66   s5 = t47 + t65   s1 = t64 # s3
s2 = t55 # t67
"""
State = sl.Array[sl.Bool, 16, 8]


def substitute(byte: sl.Array) -> list[sl.Bool]:
    """Return the S-box of a byte. In the text above, + is XOR, * is AND, and # is XNOR."""
    values = {f"x{i}": byte[i] for i in range(8)}
    for name, left, operator, right in re.findall(r"(\w+) = (\w+) ([+*#]) (\w+)", SBOX):
        a, b = values[left], values[right]
        values[name] = a & b if operator == "*" else a ^ b ^ (operator == "#")
    return [values[f"s{i}"] for i in range(8)]


def moved(state: sl.Array) -> list[list[sl.Bool]]:
    """Return the state after SubBytes and ShiftRows."""
    bytes_ = [substitute(state[i]) for i in range(16)]
    return [bytes_[5 * i % 16] for i in range(16)]


@sl.program
def middle_round(state: State, key: State) -> State:
    """SubBytes, ShiftRows, MixColumns and AddRoundKey. The optimiser makes XORs of three bits."""
    old, new = moved(state), []
    for i in range(16):
        a, b, c, d = (old[i & ~3 | (i + k) & 3] for k in range(4))
        row = []
        for k in range(8):
            # 2 (a + b) moves bits to the left, and adds bit 0 at the places of x^4 + x^3 + x + 1.
            bit = a[(k + 1) % 8] ^ b[(k + 1) % 8] ^ b[k] ^ key[i, k]
            row.append(bit ^ (a[0] ^ b[0]) ^ (c[k] ^ d[k]) if k in {3, 4, 6} else bit ^ (c[k] ^ d[k]))
        new.append(row)
    return sl.Array(new)


@sl.program
def last_round(state: State, key: State) -> State:
    """SubBytes, ShiftRows and AddRoundKey."""
    old = moved(state)
    return sl.Array([[old[i][k] ^ key[i, k] for k in range(8)] for i in range(16)])


if __name__ == "__main__":
    for what, middle, last, params in (
        ("digits and tables", rounds.middle_round, rounds.last_round, "integers-128"),
        ("gates", middle_round, last_round, "gates-128"),
    ):
        most, end = middle.cost(params), last.cost(params)
        total, depth = 9 * most.bootstraps + end.bootstraps, 9 * most.depth + end.depth
        each = f"{most.bootstraps} a round and {end.bootstraps} in the last one"
        print(f"{what:<17} ({params}): {total} bootstraps a block, {each}; depth {depth}")

"""Turn a forest of integers into a program of few bootstraps.

A bootstrap under TFHE reads any number of tables at one argument of 16 values. So the program takes these steps:

1. One bootstrap for each half (4 bits) of a feature gives, for every threshold t, a part of the comparison: the high
   half gives 2, 1 or 0 if it is less than, equal to or greater than that of t, and the low half gives 1 if it is less,
   else 0. The sum, 0 to 3, is called *raw*. It is free, and the feature is less than t if raw is 2 or 3.
2. A second bootstrap turns raw into a bit, which has fewer values. If the low half of t is 0, the high half alone gives
   the bit, and this step is not needed.
3. The splits of a tree form *pieces*, connected parts of it. One bootstrap evaluates a piece. Its argument has four
   bits: one for each bit of a comparison, two for a raw one, and one for the *flag* of the piece. The flag is 1 if the
   path of the row leads into this piece. The first piece of a tree needs no flag. The tables are the flags of the
   pieces below, and the values of the leaves; both are 0 if the flag of the piece is 0.
4. Exactly one piece of a tree gives the value of a leaf. So the sum of all these values is the sum over the trees.

A raw comparison saves step 2 and takes more room in step 3. A bit can be shared by several trees. `plan` decides for
each comparison, by trying both. The sum of step 4 is cheaper for fewer pieces, but how much depends on all tables. So
`best_program` makes two plans, and keeps the one whose program has fewer bootstraps.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from models import IntegerForest, Leaf, Node, Split, walk

import solinas as sl

Test = tuple[int, int]  # a feature and a threshold
U2, U4 = sl.uint(2), sl.uint(4)
ROOM = 4  # bits of the argument of one bootstrap
PRICES = (1, 2)  # of a piece, in bootstraps: without and with the sum of its values


@dataclass
class Piece:
    """A connected part of a tree. The tree continues in `below`."""

    root: Split
    splits: list[Split]
    has_flag: bool
    below: list["Piece"] = field(default_factory=list)


@dataclass
class Plan:
    """The pieces of each tree, and the comparisons that become bits."""

    bits: set[Test]
    roots: list[Piece]

    @property
    def pieces(self) -> list[Piece]:
        """All pieces, each before those below it."""
        found, todo = [], list(reversed(self.roots))
        while todo:
            piece = todo.pop()
            found.append(piece)
            todo.extend(piece.below)
        return found

    @property
    def bootstraps(self) -> int:
        """The bootstraps of steps 1 to 3."""
        tests = {test(split) for piece in self.pieces for split in piece.splits}
        halves = {(f, "high") for f, _ in tests} | {(f, "low") for f, t in tests if t % 16}
        return len(halves) + sum(needs_bootstrap(t) for t in self.bits) + len(self.pieces)


def test(split: Split) -> Test:
    """Return the comparison of a split."""
    return split.feature, split.threshold


def needs_bootstrap(t: Test) -> bool:
    """Tell whether a bit of this comparison takes a bootstrap of its own."""
    return t[1] % 16 != 0


def plan(forest: IntegerForest, price: float) -> Plan:
    """Choose the pieces, and the comparisons that become bits. A piece costs as much as `price` comparisons."""
    trees = [tree for tree in forest.trees if isinstance(tree, Split)]
    used_by = defaultdict(list)
    for number, tree in enumerate(trees):
        for t in {test(split) for split in walk(tree) if isinstance(split, Split)}:
            used_by[t].append(number)
    bits = set(used_by)
    count = [pieces(tree, bits) for tree in trees]
    for t, numbers in sorted(used_by.items(), key=lambda item: len(item[1])):
        if not needs_bootstrap(t):
            continue
        bits.discard(t)
        new = {number: pieces(trees[number], bits) for number in numbers}
        if price * sum(new[number] - count[number] for number in numbers) > 1:
            bits.add(t)
        else:
            for number in numbers:
                count[number] = new[number]
    return Plan(bits, [cut(tree, bits) for tree in trees])


def pieces(tree: Split, bits: set[Test]) -> int:
    """Return the number of pieces of a tree."""
    return len(Plan(bits, [cut(tree, bits)]).pieces)


def cut(tree: Split, bits: set[Test]) -> Piece:
    """Cut a tree into pieces, from the leaves up. A piece that is too large loses its largest part to a new piece."""

    def grow(split: Split, room: int) -> tuple[int, Piece]:
        parts = [grow(child, ROOM - 1) for child in (split.low, split.high) if isinstance(child, Split)]
        parts.sort(key=lambda part: part[0])
        size = (1 if test(split) in bits else 2) + sum(part[0] for part in parts)
        piece = Piece(split, [split], has_flag=True)
        while size > room:
            part_size, part = parts.pop()
            size -= part_size
            piece.below.append(part)
        for _, part in parts:
            piece.splits += part.splits
            piece.below += part.below
        return size, piece

    _, root = grow(tree, ROOM)
    root.has_flag = False
    return root


def best_program(forest: IntegerForest) -> sl.Program:
    """Return the program of fewest bootstraps among the plans for all prices."""
    programs = [program(forest, plan(forest, price)) for price in PRICES]
    return min(programs, key=lambda made: made.cost().bootstraps)


def program(forest: IntegerForest, chosen: Plan) -> sl.Program:
    """Return the program of a plan. Its parameter is the array of features, its result one total for each output."""
    total = sl.uint(max(2, forest.largest.bit_length()))
    outputs = len(forest.base)
    leaf = sl.uint(
        max(2, *(max(n.values).bit_length() for tree in forest.trees for n in walk(tree) if isinstance(n, Leaf)))
    )

    def evaluate(features: Any) -> Any:
        raw: dict[Test, Any] = {}
        bit: dict[Test, Any] = {}
        terms: list[list[Any]] = [[] for _ in range(outputs)]

        def compare(t: Test) -> None:
            feature, threshold = t
            high, low = divmod(threshold, 16)
            x = features[feature]
            if low == 0:
                bit[t] = sl.lookup([i < high for i in range(16)], (x >> 4).cast(U4), sl.Bool)
                return
            raw[t] = sl.lookup([2 * (i < high) + (i == high) for i in range(16)], (x >> 4).cast(U4), U2)
            raw[t] += sl.lookup([i < low for i in range(16)], x.cast(U4), U2)
            if t in chosen.bits:
                bit[t] = sl.lookup([0, 0, 1, 1], raw[t], sl.Bool)

        def evaluate_piece(piece: Piece, flag: Any) -> None:
            # A raw comparison must lie within one block of two bits. So raw ones come first, at places 0 and 2.
            tests = {test(split) for split in piece.splits}
            operands = [(t, raw[t], 2) for t in sorted(tests - bit.keys())]
            operands += [(None, flag, 1)] if piece.has_flag else []
            operands += [(t, bit[t], 1) for t in sorted(tests & bit.keys())]
            places, argument, place = {}, U4(0), 0
            for name, value, width in operands:
                places[name] = place + width - 1  # the top bit of a raw comparison is its result
                argument = argument + value.cast(U4) * (1 << place)
                place += width
            below = {id(part.root): part for part in piece.below}

            def end(i: int) -> Node | None:
                """Return the leaf or the root of the next piece for argument i, or None without the flag."""
                if piece.has_flag and not i >> places[None] & 1:
                    return None
                node: Node = piece.root
                while isinstance(node, Split) and (node is piece.root or id(node) not in below):
                    node = node.low if i >> places[test(node)] & 1 else node.high
                return node

            ends = [end(i) for i in range(16)]
            for k in range(outputs):
                table = [node.values[k] if isinstance(node, Leaf) else 0 for node in ends]
                if any(table):
                    terms[k].append(sl.lookup(table, argument, leaf).cast(total))
            for part in piece.below:
                evaluate_piece(part, sl.lookup([node is part.root for node in ends], argument, sl.Bool))

        for piece in chosen.pieces:
            for split in piece.splits:
                if test(split) not in raw and test(split) not in bit:
                    compare(test(split))
        for root in chosen.roots:
            evaluate_piece(root, None)
        constant = [sum(tree.values[k] for tree in forest.trees if isinstance(tree, Leaf)) for k in range(outputs)]
        return tuple(
            sl.Array(values).sum() + constant[k] if values else total(constant[k]) for k, values in enumerate(terms)
        )

    evaluate.__annotations__ = {"features": sl.Array[sl.U8, forest.features], "return": tuple[(total,) * outputs]}
    return sl.program(evaluate)

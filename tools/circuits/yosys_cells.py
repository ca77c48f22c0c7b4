#!/usr/bin/env python3
"""Cells of Yosys with random parameters, and what Yosys's own gates for them compute.

Each line of the output is a JSON object: the netlist of a module with the input port `x` and the output port `y`, and
rows of values. A value is text with the most significant bit first; an `x` in an output is a bit that Yosys leaves open.
The crate solinas-circuits reads such a file in its test `yosys_cells`, by default the committed one:

  tools/install_rtl_tools.sh
  python=~/.cache/solinas/rtl/tools/bin/python
  $python tools/circuits/yosys_cells.py -o crates/circuits/tests/data/yosys_cells.jsonl

A long run takes other cells:

  $python tools/circuits/yosys_cells.py --seed 7 --cases 500 --rows 40 -o /tmp/cells.jsonl
  SOLINAS_YOSYS_CELLS=/tmp/cells.jsonl cargo test --workspace --test circuits yosys_cells::
"""

import argparse
import json
import random
import tempfile
from pathlib import Path

from pyosys import libyosys as yosys

UNARY = "not pos neg logic_not reduce_and reduce_or reduce_xor reduce_xnor reduce_bool".split()
BINARY = (
    "and or xor xnor add sub mul div mod divfloor modfloor lt le gt ge eq ne eqx nex "
    "logic_and logic_or shl sshl shr sshr shift shiftx alu"
).split()
OTHERS = "buf mux bwmux bweqx pmux bmux demux slice concat lut sop fa lcu macc macc_v2".split()
GATES = {
    "A Y": "BUF NOT",
    "A B Y": "AND NAND OR NOR XOR XNOR ANDNOT ORNOT",
    "A B S Y": "MUX NMUX",
    "A B C Y": "AOI3 OAI3",
    "A B C D Y": "AOI4 OAI4",
    "A B C D S T Y": "MUX4",
    "A B C D E F G H S T U Y": "MUX8",
    "A B C D E F G H I J K L M N O P S T U V Y": "MUX16",
}
OUTPUTS = {"Y", "X", "CO"}
# Yosys has one sign for both operands of these cells.
ONE_SIGN = "and or xor xnor add sub mul div mod divfloor modfloor lt le gt ge eq ne eqx nex alu".split()
# Plain Verilog whose word-level cells have parameters of every kind.
DESIGNS = {
    "slice_down": "input [15:0] w, input [3:0] s, output [7:0] y); assign y = w[s -: 8];",
    "slice_from_below": "input [7:0] w, input [2:0] s, output [2:0] y); assign y = w[s-1 +: 3];",
    "signed_index": "input [7:0] w, input signed [3:0] s, output [2:0] y); assign y = w[s +: 3];",
    "offset_port": "input [15:8] w, input [3:0] s, output y, output [1:0] z); assign y = w[s]; assign z = w[s +: 2];",
    "ascending_port": "input [0:7] w, input [2:0] s, output y, output [0:3] z); assign y = w[s]; assign z = w[s +: 4];",
    "offset_ascending": "input [8:15] w, input [3:0] s, output [8:15] y); assign y = w >> w[s];",
    "write_slice": "input [7:0] w, input [2:0] s, input [1:0] v, output reg [7:0] y); always @* begin y = w; y[s +: 2] = v; end",
    "arithmetic": "input signed [5:0] a, b, input [3:0] c, output signed [8:0] y, output [6:0] z); "
    "assign y = a * b + c; assign z = a - b - c + 3;",
    "shifts": "input signed [6:0] a, input signed [2:0] s, output signed [8:0] y, output [8:0] z); "
    "assign y = a >>> s; assign z = a << s;",
    "divide": "input signed [4:0] a, input [4:0] b, output signed [5:0] y, output [5:0] z); "
    "assign y = a / 5'sd3 + a % -5'sd3; assign z = b / 5 + b % 6;",
    "choose": "input [2:0] s, input [5:0] a, b, output reg [5:0] y); always @* case (s) 0: y = a; 1: y = b; "
    "2: y = a + b; 3: y = a - b; 4: y = ~a; default: y = a < b ? 6'd1 : {6{^b}}; endcase",
    "table": "input [3:0] a, output reg [2:0] y); always @* case (a) 0: y = 3; 3: y = 5; 7: y = 1; 12: y = 7; "
    "default: y = 2; endcase",
    "compare": "input signed [4:0] a, input signed [2:0] b, output [5:0] y); "
    "assign y = {a < b, a <= b, a == b, a != b, a > b, !a && |b};",
    "instance": "input [3:0] a, b, output [4:0] y, z); adder i(a, b, y); adder j(y[3:0], a, z);",
}
HELPER = "module adder(input [3:0] p, q, output [4:0] r); assign r = p + q; endmodule\n"


def bits(value, count):
    return "".join(str(value >> i & 1) for i in reversed(range(count)))


def widths(rng):
    """A width, sometimes 0 or 1."""
    return rng.choice([0, 1, 1, 2, 3, 3, 4, 5, 6])


def cell(rng, kind):
    """Parameters and the widths of the pins of a random cell."""
    flag = lambda: rng.randint(0, 1)
    width = 1 + rng.randint(0, 4)
    if kind in UNARY:
        a, y = widths(rng), width
        return {"A_SIGNED": flag(), "A_WIDTH": a, "Y_WIDTH": y}, {"A": a, "Y": y}
    if kind in BINARY:
        a, b, y = widths(rng), widths(rng), width
        signs = [flag(), flag()]
        if kind in ONE_SIGN:
            signs[1] = signs[0]
        elif kind == "shiftx":
            signs[0] = 0
        elif kind.startswith(("sh", "ssh")) and kind != "shift":
            signs[1] = 0
        if kind == "alu":
            # Its carries out are those of operands of the same width.
            pins = {"A": a, "B": b, "CI": 1, "BI": 1, "Y": y, "X": y, "CO": y}
        else:
            pins = {"A": a, "B": b, "Y": y}
        if kind in ("div", "mod", "divfloor", "modfloor"):
            pins["A"], pins["B"] = max(a, 1), max(b, 1)
        if kind in ("shift", "shiftx"):
            pins["A"], pins["B"] = max(a, 1), max(b, 1)
        own = {"A_SIGNED": signs[0], "B_SIGNED": signs[1], "Y_WIDTH": y}
        return own | {"A_WIDTH": pins["A"], "B_WIDTH": pins["B"]}, pins
    s = rng.randint(1, 3)
    if kind == "buf":
        return {"WIDTH": width}, {"A": width, "Y": width}
    if kind == "mux":
        return {"WIDTH": width}, {"A": width, "B": width, "S": 1, "Y": width}
    if kind == "bwmux":
        return {"WIDTH": width}, {"A": width, "B": width, "S": width, "Y": width}
    if kind == "bweqx":
        return {"WIDTH": width}, {"A": width, "B": width, "Y": width}
    if kind == "pmux":
        return {"WIDTH": width, "S_WIDTH": s}, {"A": width, "B": width * s, "S": s, "Y": width}
    if kind == "bmux":
        return {"WIDTH": width, "S_WIDTH": s}, {"A": width << s, "S": s, "Y": width}
    if kind == "demux":
        return {"WIDTH": width, "S_WIDTH": s}, {"A": width, "S": s, "Y": width << s}
    if kind == "slice":
        offset, rest = rng.randint(0, 4), rng.randint(0, 2)
        a = offset + width + rest
        return {"OFFSET": offset, "A_WIDTH": a, "Y_WIDTH": width}, {"A": a, "Y": width}
    if kind == "concat":
        return {"A_WIDTH": width, "B_WIDTH": s}, {"A": width, "B": s, "Y": width + s}
    if kind == "lut":
        return {"WIDTH": width, "LUT": bits(rng.getrandbits(1 << width), 1 << width)}, {"A": width, "Y": 1}
    if kind == "sop":
        count = 2 * width * s
        table = "".join(rng.choice("0001") for _ in range(count))
        return {"WIDTH": width, "DEPTH": s, "TABLE": table}, {"A": width, "Y": 1}
    if kind == "fa":
        return {"WIDTH": width}, {"A": width, "B": width, "C": width, "X": width, "Y": width}
    if kind == "lcu":
        return {"WIDTH": width}, {"P": width, "G": width, "CI": 1, "CO": width}
    terms = [(1 + rng.randint(0, 3), rng.choice([0, 1, 2, 3]), flag(), flag()) for _ in range(s)]
    ones = rng.randint(0, 2)
    if kind == "macc":
        size = 3
        config = bits(size, 4)
        for a, b, signed, subtract in terms:
            config = bits(b, size) + bits(a, size) + str(subtract) + str(signed) + config
        a = sum(a + b for a, b, _, _ in terms)
        own = {"CONFIG": config, "CONFIG_WIDTH": len(config), "A_WIDTH": a, "B_WIDTH": ones, "Y_WIDTH": width}
        return own, {"A": a, "B": ones, "Y": width}
    products = [term for term in terms if term[1] > 0]
    addends = [term for term in terms if term[1] == 0] + [(1, 0, 0, 0)] * ones
    text = lambda items: "".join(reversed(list(items))) or "0"
    pin = lambda items: sum(items)
    own = {
        "NPRODUCTS": len(products),
        "NADDENDS": len(addends),
        "A_WIDTHS": text(bits(term[0], 16) for term in products),
        "B_WIDTHS": text(bits(term[1], 16) for term in products),
        "C_WIDTHS": text(bits(term[0], 16) for term in addends),
        "A_SIGNED": text(str(term[2]) for term in products),
        "B_SIGNED": text(str(term[2]) for term in products),
        "C_SIGNED": text(str(term[2]) for term in addends),
        "PRODUCT_NEGATED": text(str(term[3]) for term in products),
        "ADDEND_NEGATED": text(str(term[3]) for term in addends),
        "Y_WIDTH": width,
    }
    a, b, c = pin(t[0] for t in products), pin(t[1] for t in products), pin(t[0] for t in addends)
    return own, {"A": a, "B": b, "C": c, "Y": width}


def module(kind, parameters, connections, inputs, outputs):
    direction = {pin: "output" if pin in OUTPUTS else "input" for pin in connections}
    ports = {
        "x": {"direction": "input", "bits": list(range(2, 2 + inputs))},
        "y": {"direction": "output", "bits": outputs},
    }
    body = {"type": kind, "parameters": parameters, "port_directions": direction, "connections": connections}
    return {"modules": {"m": {"attributes": {"top": 1}, "ports": ports, "cells": {"c": body}}}}


def for_gates(source):
    """The same module with the operand 0 in place of an operand without bits, which the templates of Yosys do not expect.

    Its $shiftx becomes $shift: bits outside of the operand are 0 there, while Yosys makes any value of open bits.
    """
    copy = json.loads(json.dumps(source))
    body = copy["modules"]["m"]["cells"]["c"]
    for pin, wires in body["connections"].items():
        if not wires and body["type"][1:] in BINARY + ["neg"]:
            body["connections"][pin] = ["0"]
            body["parameters"][f"{pin}_WIDTH"] = 1
    if body["type"] == "$shiftx":
        body["type"] = "$shift"
    return copy


def random_case(rng, kind):
    if kind.startswith("_"):
        names = next(pins for pins, gates in GATES.items() if kind[1:-1] in gates.split()).split()
        parameters, pins = {}, dict.fromkeys(names, 1)
    else:
        parameters, pins = cell(rng, kind)
    inputs = max(1, sum(width for pin, width in pins.items() if pin not in OUTPUTS))
    wires = list(range(2, 2 + inputs))
    connections, outputs, following = {}, [], 2 + inputs
    for pin, width in pins.items():
        if pin in OUTPUTS:
            connections[pin] = list(range(following, following + width))
            outputs += connections[pin]
            following += width
        else:
            connections[pin] = [wires.pop(0) for _ in range(width)]
            # Some operands are constants, or have a bit in common.
            if rng.random() < 0.1 and pin != "S":
                connections[pin] = [rng.choice(["0", "1", 2]) for _ in range(width)]
    return module("$" + kind, parameters, connections, inputs, outputs), connections


def run(design, script):
    for command in script:
        yosys.run_pass(f"tee -q -o /dev/null {command}", design)


def netlist(design):
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        run(design, [f"write_json {file.name}"])
        return json.load(file)


def gates(source, commands):
    """The same module in gates of Yosys."""
    design = yosys.Design()
    with tempfile.NamedTemporaryFile("w", suffix=".json" if isinstance(source, dict) else ".v") as file:
        file.write(json.dumps(source) if isinstance(source, dict) else source)
        file.flush()
        run(design, [f"{'read_json' if isinstance(source, dict) else 'read_verilog'} {file.name}"] + commands)
    return netlist(design)


TO_GATES = ["maccmap -unmap", "bmuxmap", "demuxmap", "bwmuxmap", "techmap", "simplemap", "techmap", "simplemap", "opt_clean"]


def evaluate(text, values):
    """The outputs of a module of gates. `values` has the bits of each input, lowest first."""
    (body,) = [m for m in text["modules"].values() if m.get("ports")]
    known = {"0": "0", "1": "1", "x": "x", "z": "x"}
    for name, port in body["ports"].items():
        if port["direction"] == "input":
            known.update(zip(port["bits"], values[name]))
    driver = {}
    for one in body["cells"].values():
        if one["type"] != "$scopeinfo":
            driver[one["connections"]["Y"][0]] = one
    inverse = {"0": "1", "1": "0", "x": "x"}

    def both(a, b):
        return "0" if "0" in (a, b) else "1" if (a, b) == ("1", "1") else "x"

    def either(a, b):
        return inverse[both(inverse[a], inverse[b])]

    def odd(a, b):
        return "x" if "x" in (a, b) else str(int(a) ^ int(b))

    def select(s, a, b):
        return a if s == "0" or a == b else b if s == "1" else "x"

    def tree(data, choice):
        for s in choice:
            data = [select(s, a, b) for a, b in zip(data[::2], data[1::2])]
        return data[0]

    functions = {
        "BUF": lambda p: p["A"],
        "NOT": lambda p: inverse[p["A"]],
        "AND": lambda p: both(p["A"], p["B"]),
        "NAND": lambda p: inverse[both(p["A"], p["B"])],
        "OR": lambda p: either(p["A"], p["B"]),
        "NOR": lambda p: inverse[either(p["A"], p["B"])],
        "XOR": lambda p: odd(p["A"], p["B"]),
        "XNOR": lambda p: inverse[odd(p["A"], p["B"])],
        "ANDNOT": lambda p: both(p["A"], inverse[p["B"]]),
        "ORNOT": lambda p: either(p["A"], inverse[p["B"]]),
        "MUX": lambda p: select(p["S"], p["A"], p["B"]),
        "NMUX": lambda p: inverse[select(p["S"], p["A"], p["B"])],
        "AOI3": lambda p: inverse[either(both(p["A"], p["B"]), p["C"])],
        "OAI3": lambda p: inverse[both(either(p["A"], p["B"]), p["C"])],
        "AOI4": lambda p: inverse[either(both(p["A"], p["B"]), both(p["C"], p["D"]))],
        "OAI4": lambda p: inverse[both(either(p["A"], p["B"]), either(p["C"], p["D"]))],
        "MUX4": lambda p: tree([p[c] for c in "ABCD"], [p[c] for c in "ST"]),
        "MUX8": lambda p: tree([p[c] for c in "ABCDEFGH"], [p[c] for c in "STU"]),
        "MUX16": lambda p: tree([p[c] for c in "ABCDEFGHIJKLMNOP"], [p[c] for c in "STUV"]),
    }

    def value(wire):
        if wire not in known:
            one = driver[wire]
            pins = {pin: value(wires[0]) for pin, wires in one["connections"].items() if pin != "Y"}
            known[wire] = functions[one["type"][2:-1]](pins)
        return known[wire]

    outputs = {name: port for name, port in body["ports"].items() if port["direction"] == "output"}
    return {name: "".join(value(wire) for wire in port["bits"]) for name, port in outputs.items()}


def undefined(kind, connections, x):
    """Whether Yosys leaves all outputs open: a division by 0, or a choice of several."""
    pin = lambda name: [x[wire - 2] if isinstance(wire, int) else wire for wire in connections[name]]
    if kind in ("div", "mod", "divfloor", "modfloor"):
        return "1" not in pin("B")
    return kind == "pmux" and pin("S").count("1") > 1


def rows_of(rng, text, ports, count, skip):
    total = sum(ports.values())
    wanted = [0, (1 << total) - 1] + [rng.getrandbits(total) for _ in range(2 * count)]
    if total <= 6:
        wanted = rng.sample(range(1 << total), 1 << total)
    rows = []
    for number in dict.fromkeys(wanted):
        values, rest = {}, number
        for name, width in ports.items():
            values[name], rest = bits(rest, width)[::-1], rest >> width
        if skip(values) or len(rows) == count:
            continue
        result = evaluate(text, values)
        rows.append([{name: v[::-1] for name, v in values.items()}, {name: v[::-1] for name, v in result.items()}])
    return rows


def stripped(text):
    """A netlist without the parts that readers ignore."""
    keep = ("ports", "cells")
    modules = {}
    for name, body in text["modules"].items():
        modules[name] = {key: body[key] for key in keep}
        for one in body["cells"].values():
            for key in ("hide_name", "attributes", "model"):
                one.pop(key, None)
        # Their names hold the path of the source.
        modules[name]["cells"] = {f"c{i}": one for i, one in enumerate(body["cells"].values())}
    return {"modules": modules}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=4, help="cells of each kind")
    parser.add_argument("--rows", type=int, default=8, help="rows of each case")
    parser.add_argument("--output", "-o", type=Path, required=True)
    parser.add_argument("--kind", action="append", help="only this kind, such as shiftx")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    lines = []

    def add(netlist, rows):
        lines.append(json.dumps({"netlist": netlist, "rows": rows}, separators=(",", ":")) + "\n")

    kinds = UNARY + BINARY + OTHERS + [f"_{gate}_" for names in GATES.values() for gate in names.split()]
    for kind in args.kind or kinds:
        for _ in range(1 if kind.startswith("_") else args.cases):
            source, connections = random_case(rng, kind)
            text = gates(for_gates(source), TO_GATES)
            width = len(source["modules"]["m"]["ports"]["x"]["bits"])
            rows = rows_of(rng, text, {"x": width}, args.rows, lambda v: undefined(kind, connections, v["x"]))
            add(source, rows)
    for name, body in {} if args.kind else DESIGNS.items():
        text = f"{HELPER}module {name}({body} endmodule\n"
        steps = [f"hierarchy -top {name}", "proc", "flatten"]
        words = [steps, steps + ["opt", "wreduce", "alumacc", "share", "opt"]]
        exact = gates(text, steps + ["chtype -set $shift t:$shiftx", f"synth -flatten -noabc -top {name}"])
        body = exact["modules"][name]["ports"]
        ports = {port: len(one["bits"]) for port, one in body.items() if one["direction"] == "input"}
        rows = rows_of(rng, exact, ports, args.rows, lambda v: False)
        for commands in words:
            word = stripped(gates(text, commands))
            word["modules"] = {name: word["modules"][name]}
            add(word, rows)
    args.output.write_text("".join(lines))


if __name__ == "__main__":
    main()

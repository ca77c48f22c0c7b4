"""Drawings of programs: a box for each operation, inputs on the left, outputs on the right."""

from __future__ import annotations

from html import escape

from solinas import _core

COLUMN, ROW, WIDTH, HEIGHT, MARGIN = 132, 46, 92, 30, 24
SYMBOLS = {
    "add": "+", "sub": "−", "mul": "×", "div": "÷", "rem": "mod", "and": "&", "or": "|", "xor": "^", "not": "~",
    "neg": "−", "eq": "=", "ne": "≠", "lt": "<", "le": "≤", "gt": ">", "ge": "≥", "shl": "<<", "shr": ">>",
    "sum_elements": "Σ",
}  # fmt: skip
COLORS = {
    "input": "#e8f1fb",
    "output": "#e6f5ea",
    "const": "#f2f2f2",
    "select": "#e9ddf5",
    "mul": "#f6d5d5",
    "div": "#f6d5d5",
}
MAX_BOXES = 600


def draw_program(name: str, program: _core.Program) -> str:
    """Return an SVG of the operations of a program, or of its gates by level if it has more than `MAX_BOXES`."""
    nodes = program.nodes
    if len(nodes) > MAX_BOXES:
        return program.gates_svg()
    boxes: list[tuple[str, str, str, list[int]]] = []
    for op, args, ty, detail in nodes:
        boxes.append((op, detail or SYMBOLS.get(op, op), ty, args))
    for (output, ty), node in zip(program.outputs, program.output_nodes, strict=True):
        boxes.append(("output", output, ty, [node]))
    columns: list[int] = []
    for _, _, _, args in boxes:
        columns.append(1 + max((columns[arg] for arg in args), default=-1))
    last = max(columns)
    columns = [last if kind == "output" else column for (kind, *_), column in zip(boxes, columns, strict=True)]

    filled: dict[int, int] = {}
    places: list[tuple[int, int]] = []
    for column in columns:
        row = filled.get(column, 0)
        filled[column] = row + 1
        places.append((MARGIN + column * COLUMN, MARGIN + row * ROW))
    lines, shapes = [], []
    for (kind, label, ty, args), (x, y) in zip(boxes, places, strict=True):
        for i, arg in enumerate(args):
            from_x, from_y = places[arg]
            start, end = (from_x + WIDTH, from_y + HEIGHT // 2), (x, y + HEIGHT * (i + 1) // (len(args) + 1))
            bend = max(20, (end[0] - start[0]) // 2)
            curve = f"C{start[0] + bend} {start[1]} {end[0] - bend} {end[1]} {end[0]} {end[1]}"
            lines.append(f'<path d="M{start[0]} {start[1]} {curve}" fill="none" stroke="#8a94a0"/>')
        shapes.append(
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="{COLORS.get(kind, "#d9ecec")}" '
            f'stroke="#5b6670"/><text x="{x + WIDTH / 2}" y="{y + 19}" text-anchor="middle">{escape(label)}'
            f'<tspan fill="#7a848e" font-size="9"> {escape(ty)}</tspan></text>'
        )
    width = 2 * MARGIN + last * COLUMN + WIDTH
    height = 2 * MARGIN + max(filled.values()) * ROW
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="12">\n<title>{escape(name)}</title>\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(lines + shapes) + "\n</svg>\n"
    )

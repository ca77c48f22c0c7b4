"""HTML tables for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape


def table(title: str, rows: Mapping[str, object]) -> str:
    """Return an HTML table of names and values, escaped. Values that are None are left out."""
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(str(value))}</td></tr>'
        for name, value in rows.items()
        if value is not None
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{cells}</tbody></table>"

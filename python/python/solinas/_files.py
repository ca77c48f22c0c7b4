"""Reading of text files, and suffixes of pictures."""

from __future__ import annotations

import os
from pathlib import Path

from solinas._errors import FileError

PathLike = str | os.PathLike[str]


def read_text(path: PathLike) -> str:
    """Return the text of a UTF-8 file. Raises FileError if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {os.fspath(path)!r}: {error}") from None


def picture_suffix(path: PathLike | None) -> str:
    """Return the suffix of a picture's path: `.svg` (also without a path) or `.dot`. Raises FileError for another."""
    suffix = ".svg" if path is None else Path(path).suffix.lower()
    if suffix not in {".svg", ".dot"}:
        raise FileError(
            f"a picture is written as .svg or, for Graphviz, as .dot, not as {os.fspath(path or '')!r}: use one of "
            "these suffixes, then convert the file, as in `rsvg-convert f.svg -o f.png` or `dot -Tpng f.dot -o f.png`"
        )
    return suffix

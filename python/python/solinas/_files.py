"""Reading of text files, and suffixes of pictures."""

from __future__ import annotations

import os
from pathlib import Path

from solinas._errors import FileError, FormatError

PathLike = str | os.PathLike[str]


# The first bytes of public and of secret files of the command line and this package.
MAGIC = (b"\x89SLN", b"\x8dSLN")


def read_text(path: PathLike, what: str) -> str:
    """Return the text of a UTF-8 file. Raises FileError if it cannot be read, FormatError if it is not text.

    `what` names the expected content in messages, as in `a program`.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        ours = error.object.startswith(MAGIC)
        found = "a binary file of solinas, such as a key or a ciphertext" if ours else "not text in UTF-8"
        raise FormatError(f"{os.fspath(path)!r} is not {what}: it is {found}") from None
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

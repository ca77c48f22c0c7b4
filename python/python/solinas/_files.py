"""Text files, read and written whole."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from solinas._errors import FileError

PathLike = str | os.PathLike[str]


def read_text(path: PathLike) -> str:
    """Give the text of a file; `FileError` where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {os.fspath(path)!r}: {error}") from None


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, complete or not at all."""
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        # Temporary files are their owner's alone; a program is no secret.
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError):
            raise FileError(f"cannot write {os.fspath(path)!r}: {error}; nothing was left of it") from None
        raise


def picture_suffix(path: PathLike | None) -> str:
    """Give `.svg` or `.dot`, as the path has it; `FileError` for another suffix. Without a path, `.svg`."""
    suffix = ".svg" if path is None else Path(path).suffix.lower()
    if suffix not in {".svg", ".dot"}:
        raise FileError(
            f"a picture is written as .svg, or for Graphviz as .dot, not as {os.fspath(path or '')!r}: give such a "
            "name, and convert it, as in `rsvg-convert f.svg -o f.png` or `dot -Tpng f.dot -o f.png`"
        )
    return suffix

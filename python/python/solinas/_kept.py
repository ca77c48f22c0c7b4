"""Results of shards in a folder, from which a later run goes on."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Self

from solinas import _core
from solinas._errors import ParameterError, SolinasError

if TYPE_CHECKING:
    from solinas._cluster import Work


class KeptShards:
    """The results of shards, in one subfolder for each program of a run.

    The name of a subfolder is a hash of all that decides the results: the program, its plan, the inputs and the key. So
    no other computation takes them. A file has the results of one output for the elements of a shard.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._root = Path(folder)
        self._is_new = not self._root.exists()
        self._root.mkdir(parents=True, exist_ok=True)
        # The subfolders, and the files that lock them.
        self._opened: list[tuple[Path, _core.Lock]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for _folder, lock in self._opened:
            lock.release()

    def open(self, work: Work) -> None:
        """Go on with a program. Makes its subfolder. Raises ParameterError while another process computes the same."""
        digest = hashlib.sha256()
        for part in (
            _core.__version__.encode(),
            work.key_id.encode(),
            (f"private {work.program}" if work.hides else work.program).encode(),
            work.plan,
            *(item.to_bytes() for item in work.inputs),
        ):
            digest.update(len(part).to_bytes(8, "little") + part)
        self._folder = self._root / digest.hexdigest()[:32]
        self._size = work.size
        self._outputs = len(_core.Program.from_json(work.program).outputs)
        if any(folder == self._folder for folder, _ in self._opened):
            # Another step of this run has computed the same.
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = _core.Lock.take(str(self._folder / "lock"))
        if lock is None:
            raise ParameterError(
                f"another run computes the same in {self._root}: wait for it, or give another folder to keep"
            )
        self._opened.append((self._folder, lock))

    def keep(self, start: int, end: int, results: list[bytes]) -> None:
        """Keep the results of the elements from `start` up to `end`. A crash leaves whole files or none."""
        for place, result in enumerate(results):
            path = self._folder / f"{start}-{end}-{place}.ct"
            part = path.with_suffix(".part")
            with part.open("wb") as file:
                file.write(result)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)

    def shards(self) -> dict[tuple[int, int], list[bytes]]:
        """Return the kept results, by the elements. Files that a disk has damaged are left out."""
        found: dict[tuple[int, int], dict[int, bytes]] = {}
        for path in self._folder.iterdir():
            name = re.fullmatch(r"(\d+)-(\d+)-(\d+)\.ct", path.name)
            if name is None:
                continue
            start, end, place = map(int, name.groups())
            result = path.read_bytes()
            try:
                shape = _core.Ciphertext.from_bytes(result).shape
            except SolinasError:
                continue
            if not start < end <= self._size or math.prod(shape or [1]) != end - start:
                continue
            found.setdefault((start, end), {})[place] = result
        places = range(self._outputs)
        return {at: [parts[i] for i in places] for at, parts in found.items() if all(i in parts for i in places)}

    def remove(self) -> None:
        """Remove what this run kept, and the folder if this run made it and nothing else is in it."""
        for folder, _ in self._opened:
            shutil.rmtree(folder, ignore_errors=True)
        # The results exist: no error may hide them.
        if self._is_new:
            with contextlib.suppress(OSError):
                self._root.rmdir()

"""Plans: every bootstrap of a program, as a value."""

from __future__ import annotations

from typing import Any, Self

from solinas import _core
from solinas._data import shorten
from solinas._errors import TypeMismatchError
from solinas._files import PathLike
from solinas._html import table


class Plan:
    """Every bootstrap that a server computes for a program, a circuit or recorded values (scheme `"tfhe"`).

    `Server.plan` makes it. It holds the plan of each *kernel*, a small program that runs on elements of arrays.

    One plan gives the same bytes on every machine, device and number of threads. Two plans are equal if they are the
    same computation.
    """

    __slots__ = ("_inner",)
    _inner: _core.Plan

    def __init__(self) -> None:
        raise TypeError("a plan cannot be constructed: call Server.plan or Plan.load")

    @classmethod
    def _wrap(cls, core: _core.Plan) -> Self:
        made = cls.__new__(cls)
        made._inner = core
        return made

    @property
    def id(self) -> str:
        """The hash of the plan, in hexadecimal. Results that the plan made name it."""
        return self._inner.id

    @property
    def model(self) -> str:
        """The rule that chose the plan: `fewest`, `shallow` or `threads-N`."""
        return self._inner.model

    @property
    def bootstraps(self) -> int:
        """The number of bootstraps for one element of each kernel."""
        return self._inner.bootstraps

    @property
    def waves(self) -> list[int]:
        """The number of bootstraps of each wave for one element of each kernel.

        A wave needs the results of the waves before it.
        """
        return self._inner.waves

    def save(self, path: PathLike) -> None:
        """Write the plan to a file. Raises FileError if it cannot be written, or if the file holds something else."""
        self._inner.save(path)

    @classmethod
    def load(cls, path: PathLike) -> Self:
        """Read a plan from a file. Raises FileError or FormatError if the file is none."""
        return cls._wrap(_core.Plan.load(path))

    def to_bytes(self) -> bytes:
        """Return the bytes of the plan's file."""
        return self._inner.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read a plan from the bytes of its file. Raises FormatError if they are none."""
        return cls._wrap(_core.Plan.from_bytes(data))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return (
            f"<plan {self.id[:8]}, {self._inner.params_name}, {self.model}: {self.bootstraps} bootstraps in "
            f"{len(self.waves)} waves>"
        )

    def _repr_html_(self) -> str:
        rows = {"id": self.id[:8], "parameters": self._inner.params_name, "model": self.model}
        return table("plan", {**rows, "bootstraps": self.bootstraps, "waves": len(self.waves)})


def checked(plan: Any) -> _core.Plan:
    """Return the compiled plan. Raises TypeMismatchError for another object."""
    if not isinstance(plan, Plan):
        raise TypeMismatchError(f"plan takes a plan, got {shorten(plan)}: make it by server.plan, or load it")
    return plan._inner

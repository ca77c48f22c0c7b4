"""Jobs: computations in the background, and their progress."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from typing import Any, Generic, TypeVar

from solinas import _core
from solinas._errors import CancelledError, MissingPackageError, RangeError
from solinas._html import table

R = TypeVar("R")

Progress = bool | Callable[[int, int], object]

# Seconds between two polls of a job that is awaited.
TICK = 0.02


@contextlib.contextmanager
def progress_callback(progress: Progress, what: str) -> Iterator[Callable[[int, int], object] | None]:
    """Return the function to call with the steps done and the total: that of a tqdm bar, the caller's, or None.

    Raises MissingPackageError if `progress` is True and tqdm is not installed.
    """
    if progress is not True:
        yield progress or None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise MissingPackageError(
            "progress=True shows a progress bar of tqdm, which is not installed: `pip install tqdm`, or give a "
            "function of the steps done and the total"
        ) from None
    with tqdm(desc=what, unit="step") as bar:

        def watch(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield watch


class Job(Generic[R]):
    """A computation in the background. `result` waits for it; `await` does so in asyncio."""

    __slots__ = ("_error", "_finish", "_inner", "_result")

    def __init__(self, core: _core.Job, finish: Callable[[list[_core.Ciphertext]], R]) -> None:
        self._inner = core
        self._finish = finish
        self._result: tuple[R] | None = None
        self._error: BaseException | None = None

    def result(self, timeout: float | None = None, *, progress: Progress = False) -> R:
        """Wait for the job and return its result.

        `timeout` is in seconds and defaults to no limit. When it has passed, this raises the built-in TimeoutError, and
        the job goes on. `progress` is True for a progress bar of tqdm, or a function of the steps done and the total.
        Ctrl-C cancels the job. Raises CancelledError if the job was cancelled.
        """
        if self._error is not None:
            raise self._error
        if self._result is None:
            if timeout is not None and not timeout >= 0:
                raise RangeError(f"timeout is {timeout}: give seconds, 0 or more, or None to wait without limit")
            try:
                with progress_callback(progress, "job") as watch:
                    self._result = (self._finish(self._inner.result(timeout, watch)),)
            except TimeoutError:
                raise
            except KeyboardInterrupt:
                self._error = CancelledError("cancelled by Ctrl-C")
                raise
            except Exception as error:
                self._error = error
                raise
        return self._result[0]

    @property
    def ids(self) -> list[str]:
        """The identity of its job on a service, for `Service.job`.

        The list is empty before the job is sent, and for a computation in this process.
        """
        return self._inner.ids

    def done(self) -> bool:
        """Return whether the job has a result or has failed."""
        return self._result is not None or self._error is not None or self._inner.done()

    def cancel(self) -> None:
        """Ask the job to stop after the current batch of operations. `result` then raises CancelledError."""
        self._inner.cancel()

    def progress(self) -> tuple[int, int]:
        """Return the steps done and the total, or (0, 0) before the job starts and for a job without steps.

        A step is a bootstrap. Under scheme gh it is a recryption, or a product if there are no recryptions.
        """
        return self._inner.progress()

    def __await__(self) -> Generator[Any, None, R]:
        """Wait in an asyncio event loop without blocking it. If the task is cancelled, so is the job."""
        # It takes a seventh of the time of `import solinas`, and a program that awaits has imported it before.
        import asyncio

        async def wait() -> R:
            try:
                while not self.done():
                    await asyncio.sleep(TICK)
            except asyncio.CancelledError:
                self.cancel()
                raise
            return self.result()

        return wait().__await__()

    def _repr_html_(self) -> str:
        return table("job", {"state": "done" if self.done() else "running", "steps": self._steps()})

    def __repr__(self) -> str:
        steps = self._steps()
        return f"<job, {'done' if self.done() else f'{steps} steps' if steps else 'running'}>"

    def _steps(self) -> str | None:
        """Return the progress as text, or None for a job that has announced no steps."""
        done, total = self.progress()
        return f"{done} of {total}" if total else None

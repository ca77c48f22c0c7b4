"""Services: computation on a server that `solinas serve` runs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, overload

from solinas import _core
from solinas._ciphertext import Ciphertext
from solinas._data import shorten
from solinas._errors import ParameterError, RangeError, TypeMismatchError
from solinas._files import PathLike
from solinas._job import Job, Progress
from solinas._keys import ServerKey
from solinas._program import Program
from solinas._server import Recorded, check_disclosure, reduced

X = TypeVar("X")


@dataclass(frozen=True)
class RemoteEstimate:
    """The expected cost of a job on a service."""

    bootstraps: int
    """Bootstraps (schemes tfhe, bgv and ntru)."""
    recrypts: int
    """Recryptions (scheme gh)."""
    products: int
    """Products of ciphertexts."""
    depth: int
    """Operations on the longest path."""
    core_seconds: float
    """Seconds of all processors of the service together."""
    seconds: float
    """Seconds on the service."""
    queue_seconds: float
    """Seconds of the work that waits there before."""


class Service:
    """A service and a token for it. `register` gives it a server key."""

    __slots__ = ("_inner",)

    def __init__(self, url: str, token: str, insecure_http: bool = False) -> None:
        """Find the service at an address. `sl.connect` is the usual way to call this."""
        self._inner = _core.Remote(url, token, insecure_http)

    @property
    def url(self) -> str:
        """The address."""
        return self._inner.url

    def register(self, key: ServerKey) -> RemoteServer:
        """Send a server key, unless the service has it, and return a server that computes there.

        The server key decrypts nothing. Raises TypeMismatchError for another key, ServiceError if the service refuses
        the key.
        """
        if not isinstance(key, ServerKey):
            raise TypeMismatchError(f"register takes a server key, got {shorten(key)}: give the second key of keygen")
        self._inner.register(key._inner)
        return RemoteServer(self, key)

    def job(self, id: str) -> RemoteJob:
        """Return a job that was started before, by this program or another."""
        return RemoteJob(self, id)

    def jobs(self, state: str | None = None, limit: int = 100) -> list[Mapping[str, Any]]:
        """Return the newest jobs on the service, at most `limit`, the newest first, as the service describes them.

        `state` selects the jobs that are queued, running, succeeded, failed, cancelled or expired. Raises ServiceError
        for another state.
        """
        jobs: list[Mapping[str, Any]] = json.loads(self._inner.jobs(state, limit))
        return jobs

    def keys(self) -> list[Mapping[str, Any]]:
        """Return the registered keys, as the service describes them."""
        keys: list[Mapping[str, Any]] = json.loads(self._inner.keys())
        return keys

    def usage(self) -> Mapping[str, Any]:
        """Return quotas, limits, and what was used today."""
        usage: Mapping[str, Any] = json.loads(self._inner.usage())
        return usage

    def __repr__(self) -> str:
        return f"<service at {self.url}>"


class RemoteServer:
    """A server key on a service. It computes recorded values as `Server` does."""

    __slots__ = ("_key", "_service")

    def __init__(self, service: Service, key: ServerKey) -> None:
        self._service = service
        self._key = key

    @property
    def key(self) -> ServerKey:
        """The server key."""
        return self._key

    @property
    def key_id(self) -> str:
        """The name of the key pair, in hexadecimal."""
        return self._key.key_id

    @overload
    def run(
        self,
        value: X,
        /,
        *,
        progress: Progress = False,
        deadline: datetime | None = None,
        max_core_seconds: float | None = None,
        private_program: bool = False,
        auditable: bool = False,
    ) -> X: ...
    @overload
    def run(
        self,
        *values: Any,
        progress: Progress = False,
        deadline: datetime | None = None,
        max_core_seconds: float | None = None,
        private_program: bool = False,
        auditable: bool = False,
    ) -> tuple[Any, ...]: ...
    def run(
        self,
        *values: Any,
        progress: Progress = False,
        deadline: datetime | None = None,
        max_core_seconds: float | None = None,
        private_program: bool = False,
        auditable: bool = False,
    ) -> Any:
        """Compute recorded values on the service and wait for them, as `Server.run` does.

        `progress` is True for a progress bar of tqdm, or a function of the steps done and the total. Ctrl-C cancels
        the job on the service. A key that the service has lost is sent again.

        All values are one job. A job that has not ended at `deadline` fails. A job that is expected to take more than
        `max_core_seconds` is refused, and one that takes more fails. `private_program` and `auditable` are those of
        `Server.run`.

        Raises KeyMismatchError for values of another key, and ServiceError if the service cannot compute them.
        """
        return self._start(values, deadline, max_core_seconds, private_program, auditable).result(progress=progress)

    @overload
    def start(
        self,
        value: X,
        /,
        *,
        deadline: datetime | None = None,
        max_core_seconds: float | None = None,
        private_program: bool = False,
        auditable: bool = False,
    ) -> Job[X]: ...
    @overload
    def start(
        self,
        *values: Any,
        deadline: datetime | None = None,
        max_core_seconds: float | None = None,
        private_program: bool = False,
        auditable: bool = False,
    ) -> Job[tuple[Any, ...]]: ...
    def start(
        self,
        *values: Any,
        deadline: datetime | None = None,
        max_core_seconds: float | None = None,
        private_program: bool = False,
        auditable: bool = False,
    ) -> Job[Any]:
        """Start the computation of recorded values on the service, as `run` computes them, and return the job.

        The job can be awaited. It is driven from this process; `Service.job` follows one job of the service without it.
        """
        return self._start(values, deadline, max_core_seconds, private_program, auditable)

    def _start(
        self,
        values: tuple[Any, ...],
        deadline: datetime | None,
        most: float | None,
        private_program: bool,
        auditable: bool,
    ) -> Job[Any]:
        check_disclosure(private_program, auditable)
        if most is not None and not math.isfinite(most):
            raise RangeError(f"max_core_seconds is {most}: give a number of seconds, or leave it out")
        if deadline is not None and not isinstance(deadline, datetime):
            raise TypeMismatchError(
                f"deadline is {shorten(deadline)}: give a datetime, as in datetime(2030, 1, 31, 12)"
            )
        work = Recorded(values, self.key_id, private_program)
        time = None if deadline is None else deadline.astimezone().isoformat()
        start = self._service._inner.start
        job = start(self._key._inner, work.inputs, work.program, time, most, auditable, private_program)
        return Job(job, work.restored)

    def map_reduce(
        self,
        function: Callable[..., Any],
        how: str | Callable[[Any, Any], Any],
        *values: Any,
        progress: Progress = False,
        deadline: datetime | None = None,
        max_core_seconds: float | None = None,
        private_program: bool = False,
    ) -> Any:
        """Apply a function to arrays, combine the elements of its result, and wait for the value.

        This computes what `Server.map_reduce` does. The limits are those of `run`.
        """
        value = reduced(function, how, values)
        return self.run(
            value,
            progress=progress,
            deadline=deadline,
            max_core_seconds=max_core_seconds,
            private_program=private_program,
        )

    def estimate(self, *values: Any, elements: int = 1, private_program: bool = False) -> RemoteEstimate:
        """Predict the cost of a program or of recorded values, as `Server.estimate` does.

        The estimate of a program assumes fresh inputs of `elements` values. With `private_program`, the estimate counts
        the bootstraps that hide the program.
        """
        if elements < 1:
            raise RangeError(f"elements is {elements}: give a positive number")
        remote, key = self._service._inner, self._key._inner
        if len(values) == 1 and isinstance(values[0], Program):
            shape = [elements] if elements > 1 else []
            return self._estimated(remote.estimate_fresh(key, values[0]._over(elements), shape, private_program))
        if elements != 1:
            raise TypeMismatchError("only the estimate of a program takes `elements`: leave it out")
        work = Recorded(values, self.key_id, private_program, what="estimate")
        return self._estimated(remote.estimate(key, work.inputs, work.program, private_program))

    @staticmethod
    def _estimated(cost: str) -> RemoteEstimate:
        return RemoteEstimate(**json.loads(cost))

    def __repr__(self) -> str:
        return f"<key {self.key_id[:8]} on the service at {self._service.url}>"


class RemoteJob:
    """A job on a service, by its identity. It goes on when this object is gone."""

    __slots__ = ("_id", "_service")

    def __init__(self, service: Service, id: str) -> None:
        self._service = service
        self._id = id

    @property
    def id(self) -> str:
        """The identity, for `Service.job`."""
        return self._id

    def state(self) -> Mapping[str, Any]:
        """Return what the service says of the job: its state, progress, cost and results."""
        state: Mapping[str, Any] = json.loads(self._service._inner.job(self._id))
        return state

    def schedule(self) -> Sequence[Mapping[str, Any]]:
        """Return the waves of the job: bootstraps that need the results of earlier waves only.

        A wave has its `bootstraps`, those that are `done`, `estimated_ms`, and `measured_ms` when it is done.
        """
        waves: Sequence[Mapping[str, Any]] = json.loads(self._service._inner.schedule(self._id))["waves"]
        return waves

    def draw(self, path: PathLike | None = None) -> str:
        """Draw the schedule in SVG, with a bar for each wave, and return the text.

        If a path is given, the text is also written there.
        """
        drawn = self._service._inner.schedule_svg(self._id)
        if path is not None:
            _core.write_text(path, drawn)
        return drawn

    def result(self, timeout: float | None = None, *, progress: Progress = False) -> Sequence[Any]:
        """Wait for the results and return them, one for each output of the program.

        `timeout` is in seconds and defaults to no limit. When it has passed, this raises the built-in TimeoutError, and
        the job goes on. Raises ServiceError for a job that failed, and CancelledError for one that was cancelled.
        """
        results: Sequence[Any] = self._follow().result(timeout, progress=progress)
        return results

    def _follow(self) -> Job[tuple[Any, ...]]:
        job = self._service._inner.follow(self._id)
        return Job(job, lambda results: tuple(Ciphertext._of_core(result, result.type_name) for result in results))

    def __await__(self) -> Generator[Any, None, tuple[Any, ...]]:
        """Wait for the results in an asyncio event loop without blocking it."""
        return self._follow().__await__()

    def cancel(self) -> None:
        """Cancel the job on the service. A job that has ended stays as it is."""
        self._service._inner.cancel(self._id)

    def __repr__(self) -> str:
        return f"<job {self._id} on the service at {self._service.url}>"


def connect(url: str | None = None, token: str | None = None, *, insecure_http: bool = False) -> Service:
    """Find a service, such as `sl.connect("https://fhe.example.org", token="slk_...")`.

    `url` defaults to the variable SOLINAS_SERVER, and `token` to SOLINAS_TOKEN. An address of another machine begins
    with https://, because HTTP shows the token to the network; `insecure_http=True` allows http:// all the same. Raises
    ParameterError if neither is given, ServiceError if no service answers or the address is not allowed.
    """
    url = url or os.environ.get("SOLINAS_SERVER")
    token = token or os.environ.get("SOLINAS_TOKEN")
    if not url:
        raise ParameterError("the address of the service is missing: give it, or set the variable SOLINAS_SERVER")
    if not token:
        raise ParameterError("the token is missing: give it as token=..., or set the variable SOLINAS_TOKEN")
    return Service(url, token, insecure_http)

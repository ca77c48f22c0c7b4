"""Computation on the machines of a Ray cluster: shards of elements, one actor a machine."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from solinas import _core
from solinas._errors import InternalError, MissingPackageError, ParameterError, RangeError, TypeMismatchError
from solinas._job import Progress, progress_callback
from solinas._kept import KeptShards
from solinas._keys import ServerKey, warn_of_weakness
from solinas._plan import Plan, checked
from solinas._server import Recorded, reduced

# Seconds between two looks at the machines of the cluster.
TICK = 0.25
# Shards that wait or run on one machine, so that it never idles.
QUEUED = 2
# Machines on which a shard may die before the work is given up.
ATTEMPTS = 5
# Elements of the first shards, which measure the machines.
FIRST = 16


class Node:
    """An actor on a machine: it computes shards with its threads, and keeps the keys that it has used last."""

    KEYS = 4

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._servers: dict[str, _core.Server] = {}

    def compute(
        self, version: str, key_id: str, key: Any, work: tuple[str, bytes, bool], inputs: list[bytes]
    ) -> tuple[float, list[bytes]]:
        """Compute a program on a shard. Return the seconds it took, and the files of the results.

        `version` is that of the package that the other machines have. `work` is a program, its plan, and whether the
        results hide the program.
        """
        if version != _core.__version__:
            raise ParameterError(
                f"a machine has solinas {_core.__version__}: install solinas {version} there, as the others have"
            )
        if key_id not in self._servers:
            while len(self._servers) >= self.KEYS:
                del self._servers[next(iter(self._servers))]
            server_key = _core.ServerKey.from_bytes(key.tobytes(), False)
            self._servers[key_id] = _core.Server(server_key, self._threads, None, None, None)
        text, plan, hides = work
        start = time.monotonic()
        values = [_core.Ciphertext.from_bytes(item) for item in inputs]
        program, pinned = _core.Program.from_json(text), _core.Plan.from_bytes(plan)
        results = self._servers[key_id].start_batch(values, program, pinned, hides).result()
        return time.monotonic() - start, [result.to_bytes() for result in results]


@dataclass
class Machine:
    """An actor, and the shards that wait or run on it."""

    actor: Any
    # The element counts and seconds of the shards that it has computed.
    elements: int = 0
    seconds: float = 0.0
    shards: set[int] = field(default_factory=set)


@dataclass
class LoadedKey:
    """A server key: for the machines in Ray's store, and in memory here, where plans are made."""

    key_id: str
    stored: Any
    planner: _core.Server


@dataclass
class Work:
    """A program on arrays, cut into shards."""

    key_id: str
    key: Any
    program: str
    plan: bytes
    inputs: Sequence[_core.Ciphertext]
    # Elements of the arrays; 1 if there are none.
    size: int
    # Whether the results hide the program.
    hides: bool

    def shard(self, start: int, end: int) -> list[bytes]:
        """Return the inputs of a shard, as the bytes of their files."""
        parts = (
            item if item.shape is None else item.take(list(range(start, end)), [end - start]) for item in self.inputs
        )
        return [part.to_bytes() for part in parts]


@dataclass
class Way:
    """How a run is done: the arguments of the caller, the function that watches it, and the results that are kept."""

    plan: _core.Plan | None
    private_program: bool
    watch: Callable[[int, int], object] | None
    kept: KeptShards | None


class Cluster:
    """Machines that compute together. `sl.cluster` connects to them.

    Values are computed as by `Server.run`: arrays are cut into shards, and each machine computes some of them with all
    its cores. This machine plans all steps first, and the others compute by these plans. So the results have the bytes
    that one server of the same model computes.
    """

    def __init__(self, ray: Any, *, owned: bool, model: str, threads: int | None, actors: int, seconds: float) -> None:
        self._ray = ray
        self._owned = owned
        self._model = model
        self._threads = threads
        self._actors = actors
        self._seconds = seconds
        self._machines: dict[tuple[str, int], Machine] = {}
        self._keys: dict[str, LoadedKey] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def model(self) -> str:
        """The rule by which plans are chosen. `sl.Server(key, model=cluster.model)` computes the same bytes."""
        return self._model

    @property
    def nodes(self) -> int:
        """The number of actors that compute: one for each machine, unless `sl.cluster` was asked for more."""
        self._refresh()
        return len(self._machines)

    def close(self) -> None:
        """Stop the actors, and Ray if this object started it. Work that runs is lost."""
        for machine in self._machines.values():
            self._ray.kill(machine.actor)
        self._machines.clear()
        self._keys.clear()
        if self._owned:
            self._ray.shutdown()

    def run(
        self,
        *values: Any,
        key: ServerKey,
        plan: Plan | None = None,
        progress: Progress = False,
        keep: str | os.PathLike[str] | None = None,
        private_program: bool = False,
    ) -> Any:
        """Compute recorded values on all machines and wait for them, as `Server.run` does.

        `key` is the server key. `plan` is the plan to compute by, from `Server.plan`: the results have the bytes that
        `Server.run` computes by it. Without it, the model of the cluster chooses. `progress` is True for a progress
        bar of tqdm, or a function of the elements done and the total of the step at hand. A shard of a machine that
        dies is computed on another. Ctrl-C stops the machines. `keep` is a folder for the results of shards: if the run
        stops early, because this process or the first machine of the cluster died, the same call goes on from there, on
        any cluster. It needs the same ciphertexts, so save them before: a value that is encrypted again is another
        ciphertext. A run that succeeds removes what it kept.

        `private_program` is that of `Server.run`: the machines hide the program after the last step, and the results
        have other bytes in each run. Only scheme `"tfhe"` runs on clusters. Raises what `Server.run` raises,
        ParameterError if no machine is left or another run uses what is kept, and OSError if the folder cannot be
        written.
        """
        if not isinstance(key, ServerKey):
            raise TypeMismatchError(
                f"key takes a server key, got {type(key).__name__}: give the second key of sl.keygen"
            )
        warn_of_weakness(key._weakness, 2)
        work = Recorded(values, key.key_id, private_program)
        pinned = None if plan is None else checked(plan)
        folder = contextlib.nullcontext() if keep is None else KeptShards(keep)
        with progress_callback(progress, "cluster") as watch, folder as kept:
            value = work.restored(self._compute(work, key, Way(pinned, private_program, watch, kept)))
            if kept is not None:
                kept.remove()
        return value

    def map_reduce(
        self,
        function: Callable[..., Any],
        how: str | Callable[[Any, Any], Any],
        *values: Any,
        key: ServerKey,
        progress: Progress = False,
        keep: str | os.PathLike[str] | None = None,
        private_program: bool = False,
    ) -> Any:
        """Apply a function to arrays, and combine the elements of its result.

        `how` is `"sum"`, `"min"`, `"max"`, `"any"` or `"all"`, or an associative function of two values. `key`,
        `progress`, `keep` and `private_program` are those of `run`.
        """
        value = reduced(function, how, values)
        return self.run(value, key=key, progress=progress, keep=keep, private_program=private_program)

    def _compute(self, work: Recorded, key: ServerKey, way: Way) -> list[_core.Ciphertext]:
        """Compute the steps one after the other."""
        if key.key_id not in self._keys:
            import numpy as np

            stored = self._ray.put(np.frombuffer(key.to_bytes(), np.uint8))
            planner = _core.Server(key._inner, 1, None, None, self._model)
            self._keys[key.key_id] = LoadedKey(key.key_id, stored, planner)
        loaded = self._keys[key.key_id]
        batches = _core.Batches(loaded.planner, work.inputs, work.program, way.plan, way.private_program)
        while batch := batches.next():
            batches.finish(self._batch(batch, loaded, way))
        return batches.outputs()

    def _batch(
        self, lanes: tuple[_core.Program, _core.Plan, list[_core.Ciphertext], bool], key: LoadedKey, way: Way
    ) -> list[_core.Ciphertext]:
        """Compute a batch of lanes, and put the shards of each result together."""
        program, plan, inputs, hides = lanes
        shapes = [item.shape for item in inputs]
        shape = next((shape for shape in shapes if shape is not None), None)
        size = 1 if shape is None else math.prod(shape)
        work = Work(key.key_id, key.stored, program.to_json(), plan.to_bytes(), inputs, size, hides)

        def report(elements: int) -> None:
            if way.watch is not None:
                way.watch(elements, size)

        if way.kept is not None:
            way.kept.open(work)
        parts = Shards(self, work, report, way.kept).run()
        results = []
        for place in range(len(program.outputs)):
            column = [_core.Ciphertext.from_bytes(part[place]) for part in parts]
            is_value = shape is None and column[0].shape is None
            results.append(column[0] if is_value else _core.Ciphertext.stack(column, list(shape or [1])))
        return results

    def _refresh(self) -> None:
        """Start an actor on each machine that has none, and forget the machines that are gone."""
        alive = {node["NodeID"]: node["Resources"].get("CPU", 0) for node in self._ray.nodes() if node["Alive"]}
        for place in [place for place in self._machines if place[0] not in alive]:
            del self._machines[place]
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        for node, processors in alive.items():
            share = self._threads or int(processors) // self._actors
            for number in range(self._actors if 0 < share * self._actors <= processors else 0):
                if (node, number) not in self._machines:
                    strategy = NodeAffinitySchedulingStrategy(node_id=node, soft=False)
                    options = {"num_cpus": share, "max_restarts": 0, "scheduling_strategy": strategy}
                    actor = self._ray.remote(Node).options(**options).remote(share)
                    self._machines[node, number] = Machine(actor)


class Shards:
    """The shards of one program: which wait, which run and where, and the results."""

    def __init__(self, cluster: Cluster, work: Work, report: Callable[[int], None], kept: KeptShards | None) -> None:
        self._cluster = cluster
        self._ray = cluster._ray
        self._work = work
        self._report = report
        self._kept = kept
        self._bounds: list[tuple[int, int]] = []
        # The elements that are in no shard yet.
        self._gaps = [(0, work.size)]
        self._waiting: deque[int] = deque()
        self._attempts: dict[int, int] = {}
        self._results: dict[int, list[bytes]] = {}
        self._running: dict[Any, tuple[tuple[str, int], Machine, int, float]] = {}
        self._times: list[float] = []
        self._done = 0

    def run(self) -> list[list[bytes]]:
        """Compute everything. Return the results of the shards, in the order of the elements."""
        if self._kept is not None:
            self._restore(self._kept.shards())
        self._report(self._done)
        looked = -math.inf
        try:
            while self._done < self._work.size:
                if not self._cluster._machines or time.monotonic() - looked > TICK:
                    self._cluster._refresh()
                    looked = time.monotonic()
                self._fill()
                ready, _ = self._ray.wait(list(self._running), timeout=TICK)
                for reference in ready:
                    self._take(reference)
        except BaseException:
            # Ctrl-C, or an error of the program: what runs is of no use any more.
            self._abandon()
            raise
        for _, machine, shard, _ in self._running.values():
            machine.shards.discard(shard)
        return [self._results[shard] for shard in sorted(self._results, key=lambda shard: self._bounds[shard])]

    def _restore(self, shards: dict[tuple[int, int], list[bytes]]) -> None:
        """Take the results of an earlier run. The elements between them are left to compute."""
        self._gaps, place = [], 0
        for start, end in sorted(shards):
            if start < place:
                # Another call has cut its shards elsewhere, in the same folder.
                continue
            if place < start:
                self._gaps.append((place, start))
            place = end
            self._results[len(self._bounds)] = shards[start, end]
            self._bounds.append((start, end))
            self._done += end - start
        if place < self._work.size:
            self._gaps.append((place, self._work.size))

    def _fill(self) -> None:
        """Give every machine its next shards. Idle machines repeat shards that take too long elsewhere."""
        for place, machine in self._cluster._machines.items():
            while len(machine.shards) < QUEUED:
                shard = self._next_shard(machine)
                if shard is None:
                    break
                self._submit(place, machine, shard)
        if not self._running:
            raise ParameterError("the cluster has no machine with enough processors: add one, or ask for fewer threads")

    def _next_shard(self, machine: Machine) -> int | None:
        if self._waiting:
            return self._waiting.popleft()
        if self._gaps:
            start, end = self._gaps[0]
            middle = min(end, start + self._length(machine))
            self._gaps[:1] = [(middle, end)] if middle < end else []
            self._bounds.append((start, middle))
            return len(self._bounds) - 1
        if machine.shards or not self._times:
            return None
        slow = 2 * statistics.median(self._times)
        now = time.monotonic()
        late = [
            (since, shard)
            for _, _, shard, since in self._running.values()
            if now - since > slow and sum(other == shard for _, _, other, _ in self._running.values()) == 1
        ]
        return min(late)[1] if late else None

    def _length(self, machine: Machine) -> int:
        """Return the number of elements that take a machine the wanted seconds, and less towards the end."""
        left = sum(end - start for start, end in self._gaps)
        share = math.ceil(left / (2 * len(self._cluster._machines)))
        if not machine.seconds:
            return max(1, min(FIRST, share))
        return max(1, min(share, round(self._cluster._seconds * machine.elements / machine.seconds)))

    def _submit(self, place: tuple[str, int], machine: Machine, shard: int) -> None:
        work = self._work
        reference = machine.actor.compute.remote(
            _core.__version__,
            work.key_id,
            work.key,
            (work.program, work.plan, work.hides),
            work.shard(*self._bounds[shard]),
        )
        self._running[reference] = (place, machine, shard, time.monotonic())
        machine.shards.add(shard)

    def _take(self, reference: Any) -> None:
        """Take a result, or give the shards of a machine that died to the others."""
        if reference not in self._running:
            return
        from ray.exceptions import RayError, RayTaskError

        place, machine, shard, since = self._running.pop(reference)
        machine.shards.discard(shard)
        try:
            seconds, results = self._ray.get(reference)
        except RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from None
        except RayError:
            self._lost(place, machine, shard)
            return
        start, end = self._bounds[shard]
        if shard in self._results:
            # Results that hide the program have other bytes each time.
            if not self._work.hides and self._results[shard] != results:
                raise InternalError(f"two machines computed other bytes for the elements {start} to {end - 1}")
            return
        if self._kept is not None:
            self._kept.keep(start, end, results)
        self._results[shard] = results
        self._times.append(time.monotonic() - since)
        machine.elements += end - start
        machine.seconds += seconds
        self._done += end - start
        self._report(self._done)

    def _lost(self, place: tuple[str, int], machine: Machine, shard: int) -> None:
        """Note that an actor died. The next look at the machines starts another one, if its machine lives."""
        # Each shard of a dead actor fails on its own, and a new actor may have its place by then.
        if self._cluster._machines.get(place) is machine:
            del self._cluster._machines[place]
        elsewhere = any(other == shard for _, _, other, _ in self._running.values())
        if shard in self._results or elsewhere:
            return
        self._attempts[shard] = self._attempts.get(shard, 0) + 1
        if self._attempts[shard] >= ATTEMPTS:
            start, end = self._bounds[shard]
            raise ParameterError(
                f"{ATTEMPTS} machines died while they computed the elements {start} to {end - 1}: they may lack "
                "memory; ask for fewer threads, or look at Ray's logs"
            )
        self._waiting.append(shard)

    def _abandon(self) -> None:
        for place, machine, _, _ in self._running.values():
            if self._cluster._machines.get(place) is machine:
                del self._cluster._machines[place]
                self._ray.kill(machine.actor)


def cluster(
    address: str | None = "auto",
    *,
    model: str = "fewest",
    threads: int | None = None,
    actors: int = 1,
    shard_seconds: float = 3.0,
) -> Cluster:
    """Connect to the machines of a Ray cluster.

    - `address`: the address of the cluster, `"auto"` for the cluster of this machine, or None to start Ray on this
      machine alone.
    - `model`: the rule that chooses plans, as for `Server`. Arrays of many elements want `"fewest"`.
    - `threads`: the threads of an actor. Defaults to all processors of its machine.
    - `actors`: the actors on each machine. One is best, since it holds the key once.
    - `shard_seconds`: the wanted time of a shard in seconds. Shorter shards lose less work if a machine dies.

    Needs `pip install 'ray>=2.60,<3'`. Raises MissingPackageError without it, ParameterError if there is no cluster
    at the address.
    """
    try:
        import ray
    except ImportError:
        raise MissingPackageError(
            "a cluster needs the package ray, which is not installed: `pip install 'ray>=2.60,<3'`"
        ) from None
    if actors < 1 or (threads is not None and threads < 1) or not shard_seconds > 0:
        raise RangeError("actors, threads and shard_seconds must be positive: leave them out for the defaults")
    owned = not ray.is_initialized()
    if owned:
        try:
            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        except ConnectionError as error:
            raise ParameterError(
                f"there is no Ray cluster at {address!r} ({error}): start one by `ray start --head`, or give None to "
                "start Ray on this machine"
            ) from None
    return Cluster(ray, owned=owned, model=model, threads=threads, actors=actors, seconds=shard_seconds)

import json
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

import solinas as sl

ROOT = Path(__file__).parent.parent.parent
SOLINAS = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "solinas"


def pair(*args, threads=2, memory=None, **options):
    """Return the client key and the server of new keys."""
    client, server_key = sl.keygen(*args, **options)
    return client, sl.Server(server_key, threads=threads, memory=memory)


@contextmanager
def serve(folder, *options):
    """Run a service on the store `folder/store` in a process of its own. Its log is `folder/log`.

    The log of no service may have a token.
    """
    limits, log = folder / "limits.toml", folder / "log"
    # The disk of the machine that tests may be nearly full.
    limits.write_text("disk_reserve_bytes = 0\n")
    command = [SOLINAS, "serve", "--json", "--research", "--addr", "127.0.0.1:0", "--log", "info"]
    command += ["--config", limits, "--store", folder / "store", *options]
    with (
        log.open("a") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        text = ""
        while not text.endswith("}\n"):
            line = process.stdout.readline()
            assert line, text + log.read_text()
            text += line
        try:
            yield json.loads(text)
        finally:
            process.terminate()
            status = process.wait(timeout=60)
    assert status == 0
    assert "slk_" not in log.read_text()


@pytest.fixture(scope="session")
def integers():
    """Return a key pair for integers in 2-bit blocks: fast, reproducible and insecure."""
    return pair("tfhe", params="integers-40", insecure_seed=1)


@pytest.fixture(scope="session")
def gates():
    """Return a key pair for gates: fast, reproducible and insecure."""
    return pair("tfhe", params="gates-40", insecure_seed=2)


@pytest.fixture(scope="session", params=["integers", "gates"])
def keys(request):
    return request.getfixturevalue(request.param)


class PlainServer:
    """A server that decrypts, evaluates the steps of a plan on plain values, and encrypts."""

    def __init__(self, client):
        self.client = client._inner

    def start(self, inputs, steps, outputs, _auditable=False, _private_program=False):
        values = list(inputs)
        for step in steps:
            match step:
                case (int() as value, indices, shape):
                    values.append(values[value].take(indices, shape))
                case ([*parts], shape):
                    values.append(type(values[parts[0]]).stack([values[part] for part in parts], shape))
                case (program, arguments, _):
                    values += self.evaluate(program, [values[argument] for argument in arguments])
        return SimpleNamespace(result=lambda *_: [values[output] for output in outputs])

    def evaluate(self, program, inputs):
        columns, shape = [], None
        for item in inputs:
            own = item[1] if isinstance(item, tuple) else item.shape
            columns.append((item[2] if isinstance(item, tuple) else self.client.decrypt(item), own is not None))
            shape = shape or own
        outputs = program.evaluate_arrays([bits for bits, _ in columns], [array for _, array in columns])
        kinds = [kind for _, kind in program.outputs]
        return [
            self.client.encrypt(kind, shape if array else None, bits)
            for kind, (array, bits) in zip(kinds, outputs, strict=True)
        ]


@pytest.fixture
def quick(integers, monkeypatch):
    """Return the key pair `integers`, whose server computes on plain values: encrypted arrays without bootstraps."""
    monkeypatch.setattr(integers[1], "_inner", PlainServer(integers[0]))
    return integers

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


# What must be there for a run of the tests to pass, such as `chromium,promtool`: see crates/testing/src/lib.rs.
REQUIRED = {name.strip() for name in os.environ.get("SOLINAS_REQUIRE", "").split(",")}
IS_LONG = os.environ.get("SOLINAS_LONG", "0") not in ("", "0")


def left_out(name, why):
    """Leave a test out for lack of `name`. It fails instead if `SOLINAS_REQUIRE` has the name."""
    if name in REQUIRED:
        pytest.fail(f"SOLINAS_REQUIRE names {name}, but {why}")
    pytest.skip(f"{name}: {why}", allow_module_level=True)


def rounds(few, many):
    """Return the number of cases of a test: `many` for `make test-long`, and else `few`."""
    return many if IS_LONG else few


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
    return pair("tfhe", params="integers-toy", research=True, insecure_seed=1)


@pytest.fixture(scope="session")
def gates():
    """Return a key pair for gates: fast, reproducible and insecure."""
    return pair("tfhe", params="gates-toy", research=True, insecure_seed=2)


@pytest.fixture(scope="session", params=["integers", "gates"])
def keys(request):
    return request.getfixturevalue(request.param)


class PlainServer:
    """A server that decrypts, evaluates a program on plain values, and encrypts."""

    def __init__(self, client):
        self.client = client._inner

    def start(self, inputs, program, _plan=None, _auditable=False, _private_program=False):
        plain = [item.public or self._decrypted(item.ciphertext) for item in inputs]
        results = program.evaluate([bits for _, bits in plain], [shape for shape, _ in plain])
        outputs = zip(program.outputs, results, strict=True)
        results = [self.client.encrypt(kind, shape or None, bits) for (_, kind), (shape, bits) in outputs]
        return SimpleNamespace(result=lambda *_: results)

    def _decrypted(self, item):
        return item.shape or [], self.client.decrypt(item)


@pytest.fixture
def quick(integers, monkeypatch):
    """Return the key pair `integers`, whose server computes on plain values: encrypted arrays without bootstraps."""
    monkeypatch.setattr(integers[1], "_inner", PlainServer(integers[0]))
    return integers

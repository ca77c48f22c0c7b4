"""Make the store of a version: `python3 make.py SOLINAS VERSION`.

SOLINAS is the command of that version. The Python packages solinas and blake3 are needed. The service is killed in the
middle of a job. What it stored is written to the folder VERSION.
"""

import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from blake3 import blake3

import solinas as sl

HERE = Path(__file__).parent


@sl.program
def product(a: sl.U16, b: sl.U16) -> sl.U16:
    return a * b


@sl.program
def equal(a: sl.U8, b: sl.U8) -> sl.Bool:
    return a == b


class Client:
    def __init__(self, url, token):
        self.url, self.token = url, token

    def call(self, method, path, body=None, **headers):
        body = json.dumps(body).encode() if isinstance(body, dict) else body
        headers |= {"Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or "null")

    def upload(self, file):
        digest = "b3-" + blake3(file).hexdigest()
        self.call("PUT", f"/v1/blobs/{digest}", file)
        return digest

    def program(self, program):
        with tempfile.NamedTemporaryFile() as file:
            program.save(file.name)
            return self.call("POST", "/v1/programs", Path(file.name).read_bytes())["digest"]

    def submit(self, name, **job):
        return self.call("POST", "/v1/jobs", {"name": name, **job}, **{"Idempotency-Key": name})["id"]

    def job(self, id, wait=0):
        return self.call("GET", f"/v1/jobs/{id}?wait={wait}")


def fill(client):
    """Submit a job that ends, one that runs, one that waits, and one that is cancelled."""
    # The key of the tests' harness.
    secret, server = sl.keygen("tfhe", params="gates-40", insecure_seed=7, research=True)
    client.call("PUT", f"/v1/keys/{server.key_id}", {"blob": client.upload(server.to_bytes()), "name": "old"})
    small = [{"blob": client.upload(secret.encrypt(sl.u8(value)).to_bytes())} for value in (5, 5)]
    large = [{"blob": client.upload(secret.encrypt(sl.u16(value)).to_bytes())} for value in (1234, 53)]
    jobs = {"key": server.key_id, "program": client.program(equal), "inputs": small}
    client.job(client.submit("ended", **jobs), wait=30)
    long = {"key": server.key_id, "program": client.program(product), "inputs": large}
    running = client.submit("running", **long)
    with_constant = [large[0], {"constant": {"type": "u16", "values": ["3"]}}]
    client.submit("waiting", **long | {"inputs": with_constant, "compact": True, "priority": 0})
    client.call("POST", f"/v1/jobs/{client.submit('cancelled', **jobs)}/cancel")
    while client.job(running)["progress"]["done"] < 50:
        time.sleep(0.01)


def main():
    solinas, version = sys.argv[1:]
    with tempfile.TemporaryDirectory() as place:
        store = Path(place)
        command = [solinas, "serve", "--json", "--research", "--addr", "127.0.0.1:0", "--store", store]
        service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started = json.loads("".join(iter(service.stdout.readline, "}\n")) + "}")
        try:
            fill(Client(started["address"], started["token"]))
        finally:
            service.kill()
            service.wait()
        with sqlite3.connect(store / "solinas.db") as database:
            database.execute("UPDATE tenant SET live_jobs = 50")
            database.commit()
            sql = "\n".join(database.iterdump()) + "\n"
        files = sorted(
            path for path in (store / "blobs").rglob("*") if path.is_file() and path.stat().st_size < 1 << 20
        )
        into = HERE / version
        shutil.rmtree(into, ignore_errors=True)
        into.mkdir()
        (into / "store.sql").write_text(sql)
        (into / "token.txt").write_text(started["token"] + "\n")
        (into / "files.txt").write_text("".join(path.read_bytes().hex() + "\n" for path in files))


main()

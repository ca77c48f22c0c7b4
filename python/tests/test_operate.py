"""What the operator of a service relies on: counters, alerts, the log, and backups."""

import base64
import json
import re
import shutil
import sqlite3
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections import defaultdict
from contextlib import closing

import numpy as np
import pytest

import solinas as sl
from conftest import ROOT, SOLINAS, left_out, serve

DEPLOY = ROOT / "deploy"
PROMTOOL = shutil.which("promtool")
SYSTEMD = shutil.which("systemd-analyze")
# A sample of the text format of Prometheus: a name, labels, and a value.
SAMPLE = re.compile(r'(?P<name>[a-z_]+)(?:\{(?P<labels>(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\})? (?P<value>\S+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
# A metric in a query, and what it selects.
SELECTED = re.compile(r"(solinas_[a-z_]+)(?:\{([^}]*)\})?")
# Numbers that nothing but the request of a test has.
SUMMAND, MINUEND = 3405691582, 2882400001


@sl.program
def product(a: sl.U16, b: sl.U16) -> sl.U16:
    return a * b


def call(started, method, path, body=None, **headers):
    """Send a request, and return the status and the body of the answer."""
    headers.setdefault("Authorization", f"Bearer {started['token']}")
    request = urllib.request.Request(started["address"] + path, body, headers, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def samples(text):
    """Parse the text format of Prometheus, and check what `promtool check metrics` checks.

    Return the labels and values of each name.
    """
    kinds, helps, found = {}, set(), defaultdict(list)
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helps.add(line.split(" ", 3)[2])
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in kinds, line
            kinds[name] = kind
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample, line
            found[sample["name"]].append((dict(LABEL.findall(sample["labels"] or "")), float(sample["value"])))
    for name in found:
        family = name if name in kinds else re.sub("_(bucket|sum|count)$", "", name)
        assert family in helps, name
        assert (kinds[family] == "counter") == family.endswith("_total"), name
        assert (kinds[family] == "histogram") == (family != name), name
    for family in (family for family, kind in kinds.items() if kind == "histogram"):
        series = defaultdict(list)
        for labels, value in found[family + "_bucket"]:
            bound = float(labels.pop("le"))
            series[tuple(labels.items())].append((bound, value))
        for labels, count in found[family + "_count"]:
            buckets = sorted(series[tuple(labels.items())])
            assert buckets[-1] == (float("inf"), count), family
            assert [value for _, value in buckets] == sorted(value for _, value in buckets), family
    return found


@pytest.fixture(scope="module")
def observed(tmp_path_factory, integers):
    """Return the counters of a service, and its log, after jobs, mistakes and refusals of all kinds."""
    folder = tmp_path_factory.mktemp("observed")
    client, server = integers
    a = client.encrypt(sl.u32(7))
    secrets = [str(SUMMAND), hex(SUMMAND)[2:], str(MINUEND)]
    bodies = [a.to_bytes(), client.to_bytes(), b"not a program of ours"]
    with serve(folder) as started:
        secrets.append(started["token"])
        service = sl.connect(started["address"], token=started["token"])
        remote = service.register(server.key)
        assert client.decrypt(remote.run(a + SUMMAND)) == 7 + SUMMAND
        with pytest.raises(sl.ServiceError):
            remote.run(MINUEND - a, max_core_seconds=1e-9)
        digest = "b3-" + 64 * "0"
        constant = {"constant": {"type": "u32", "values": [str(SUMMAND)]}}
        job = json.dumps({"key": server.key_id, "program": digest, "inputs": [constant]}).encode()
        wrong = {"Authorization": "Bearer slk_" + 43 * "x"}
        refused = [
            call(started, "PUT", f"/v1/blobs/{digest}", bodies[0]),
            call(started, "PUT", f"/v1/blobs/{digest}", bodies[1]),
            call(started, "POST", "/v1/programs", bodies[2]),
            call(started, "POST", "/v1/jobs", job, **{"Idempotency-Key": f"key-{SUMMAND}"}),
            call(started, "POST", "/v1/jobs", b"{" + job, **{"Idempotency-Key": f"key-{SUMMAND}"}),
            call(started, "GET", f"/v1/jobs?state={started['token']}"),
            call(started, "GET", f"/{started['token']}"),
            call(started, "GET", "/v1/keys", **wrong),
            call(started, "GET", "/v1/keys", Host=f"{started['token']}.example.org"),
        ]
        assert [status for status, _ in refused] == [400, 422, 422, 424, 400, 400, 404, 401, 421]
        status, metrics = call(started, "GET", "/metrics")
        assert status == 200
    return metrics.decode(), (folder / "log").read_bytes(), secrets, bodies, server.key_id


def test_metrics_have_the_text_format_of_prometheus(observed):
    text = observed[0]
    found = samples(text)
    value = {(name, *labels.values()): value for name, series in found.items() for labels, value in series}
    assert value["solinas_ready",] == 1
    assert value["solinas_jobs_ended_total", "succeeded"] == 1
    assert value["solinas_jobs_ended_total", "limit"] + value["solinas_jobs_ended_total", "failed"] == 0
    assert value["solinas_disk_free_bytes",] > 0
    assert value["solinas_blob_bytes",] > 1e6
    assert value["solinas_oldest_job_seconds",] == 0
    assert value["solinas_http_requests_total", "none", "404"] == 1
    if PROMTOOL:
        line = [PROMTOOL, "check", "metrics"]
        checked = subprocess.run(line, input=text, capture_output=True, text=True, check=False)
        assert (checked.returncode, checked.stderr) == (0, ""), checked


def queries():
    """Return the queries of the dashboard and of the alerts, each with its place."""
    dashboard = json.loads((DEPLOY / "grafana" / "solinas.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    alerts = (DEPLOY / "prometheus" / "alerts.yml").read_text()
    for alert in re.split(r"- alert: ", alerts)[1:]:
        yield alert.split("\n", 1)[0], re.search(r"expr: (?:\|\n)?(.*?)\n {8}(?:for|labels):", alert, re.DOTALL)[1]


def test_every_query_names_metrics_that_are_served(observed):
    found = samples(observed[0])
    places = list(queries())
    assert len(places) > 40
    for place, query in places:
        selected = SELECTED.findall(query)
        assert selected or "up{" in query, place
        for name, labels in selected:
            assert name in found, f"{place}: {name}"
            known = found[name][0][0].keys() | {"instance"}
            asked = re.findall(r"([a-z_]+)(?:=|!)", labels)
            assert known.issuperset(asked), f"{place}: {labels}"
    in_use = {name for _, query in places for name, _ in SELECTED.findall(query)}
    families = {re.sub("_(bucket|sum|count)$", "", name) for name in found}
    assert families <= {re.sub("_(bucket|sum|count)$", "", name) for name in in_use}, "a metric that nobody sees"


# Debian has promtool in the package of the whole Prometheus, whose installation starts a server. So the tests do not
# install it. Without it, the test above still checks the names and labels of all queries.
def test_alerts_fire_when_they_should(tmp_path):
    if not PROMTOOL:
        left_out("promtool", "it is not installed")
    folder = shutil.copytree(DEPLOY / "prometheus", tmp_path / "prometheus")
    (folder / "token").touch()
    for line in ["check config prometheus.yml", "test rules alerts_test.yml"]:
        subprocess.run([PROMTOOL, *line.split()], cwd=folder, check=True)
    # The queries of the dashboard, as rules.
    rules = [
        {"record": f"panel:{number}", "expr": query.replace("$__rate_interval", "1m").replace("$instance", ".*")}
        for number, (_, query) in enumerate(queries())
    ]
    (folder / "panels.yml").write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    subprocess.run([PROMTOOL, "check", "rules", "panels.yml"], cwd=folder, check=True)


# The unit is for machines with systemd, and no other machine has its checker.
def test_the_unit_is_right_and_confined(tmp_path):
    if not SYSTEMD:
        left_out("systemd", "systemd-analyze is not installed")
    unit = (DEPLOY / "solinas.service").read_text()
    file = tmp_path / "solinas.service"
    file.write_text(unit.replace("/usr/local/bin/solinas", str(SOLINAS)))
    checked = subprocess.run([SYSTEMD, "verify", "--man=no", file], capture_output=True, text=True, check=False)
    assert "solinas.service" not in checked.stderr, checked.stderr
    line = [SYSTEMD, "security", "--offline=true", "--threshold=20", file]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)


def test_the_log_has_no_token_no_constant_and_no_body(observed):
    _, log, secrets, bodies, key_id = observed
    assert len(log.splitlines()) > 10
    lines = [json.loads(line) for line in log.splitlines()]
    statuses = {line["fields"].get("status") for line in lines}
    assert {200, 202, 400, 401, 404, 421, 422, 424} <= statuses
    assert all(secret.encode() not in log for secret in secrets)
    for body in bodies:
        for start in range(0, len(body) - 12, 12):
            piece = body[start : start + 12]
            # Headers of files have zeros. Paths of requests have the identity of the key, which is not secret.
            if len(set(piece)) > 6 and piece.hex() not in key_id:
                assert all(form not in log for form in [piece, piece.hex().encode(), base64.b64encode(piece)]), piece


def test_a_backup_under_load_is_whole(tmp_path, integers):
    client, server = integers
    # Jobs that take a while, so that others wait for them.
    a, b = client.encrypt([251] * 40, sl.U16), client.encrypt([241] * 40, sl.U16)
    copy, backup = tmp_path / "copy", tmp_path / "backup.tar"
    copy.mkdir()
    with serve(tmp_path, "--checkpoint-every", "0") as started:
        token = started["token"]
        service = sl.connect(started["address"], token=token)
        remote = service.register(server.key)
        jobs = [remote.start(product(a, b)) for _ in range(3)]
        while len(service.jobs()) < len(jobs):
            time.sleep(0.05)
        ends = threading.Event()

        def load():
            while not ends.wait(0.05) and len(jobs) < 40:
                jobs.append(remote.start(client.encrypt(sl.u8(len(jobs))) + 1))

        loading = threading.Thread(target=load)
        loading.start()
        while len(before := {job["id"] for job in service.jobs()}) < 5:
            time.sleep(0.05)
        subprocess.run([SOLINAS, "admin", "backup", backup, "--store", tmp_path / "store"], check=True)
        ends.set()
        loading.join()
        for job in jobs:
            job.result(timeout=60)
        wanted = {job["id"]: service.job(job["id"]).result()[0].to_bytes() for job in service.jobs()}
    store = copy / "store"
    subprocess.run([SOLINAS, "admin", "restore", backup, "--store", store], check=True)
    subprocess.run([SOLINAS, "admin", "check", "--store", store], check=True)
    with closing(sqlite3.connect(store / "solinas.db")) as database:
        states = dict(database.execute("SELECT id, state FROM job"))
    waiting = list(states.values()).count("queued")
    print(f"{len(jobs)} jobs, {len(states)} of them in the backup, of which {waiting} wait")
    assert before <= states.keys() <= wanted.keys()
    assert "queued" in states.values()
    with serve(copy) as started:
        service = sl.connect(started["address"], token=token)
        found = {id: service.job(id).result(timeout=60)[0] for id in states}
    assert all(result.to_bytes() == wanted[id] for id, result in found.items())
    first = {int(np.ravel(client.decrypt(found[id]))[0]) for id in before}
    assert {251 * 241 % 2**16, 4, 5} <= first

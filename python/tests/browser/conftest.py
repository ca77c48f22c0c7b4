"""A service behind a proxy that records requests, and a browser whose pages may not complain."""

import base64
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import tarfile
import threading
import urllib.request
import warnings
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import Error, expect, sync_playwright

from conftest import REQUIRED, left_out

ROOT = Path(__file__).parent.parent.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
SOLINAS = TARGET / "debug" / "solinas"
AXE = "https://registry.npmjs.org/axe-core/-/axe-core-4.14.1.tgz"
AXE_SHA512 = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
BROWSERS = ["chromium-headless-shell", "chromium"]
expect.set_options(timeout=30_000)


class Proxy:
    """Forwards connections to a port, and keeps what the browser sends."""

    def __init__(self, target):
        self.target, self.sent, self.watch = target, [], lambda: None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with suppress(OSError):
            while True:
                threading.Thread(target=self.connect, args=(self.listener.accept()[0],), daemon=True).start()

    def connect(self, client):
        # Without a service, the connection ends.
        with client, suppress(ConnectionError), socket.create_connection(("127.0.0.1", self.target)) as server:
            record = bytearray()
            self.sent.append(record)
            back = threading.Thread(target=self.copy, args=(server, client, bytearray()), daemon=True)
            back.start()
            self.copy(client, server, record)
            back.join()

    def copy(self, source, sink, record):
        with suppress(OSError):
            while piece := source.recv(1 << 16):
                record += piece
                self.watch()
                sink.sendall(piece)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def bytes_sent(self):
        return sum(map(len, self.sent))


def read_json(process):
    """Return what a process prints when it is ready."""
    text = ""
    while not text.endswith("}\n"):
        line = process.stdout.readline()
        assert line, text
        text += line
    return json.loads(text)


class Service:
    """A service that can be killed and started again on the same store and port."""

    def __init__(self, folder):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        limits = folder / "limits.toml"
        limits.write_text("disk_reserve_bytes = 0\n")
        self.command = [SOLINAS, "serve", "--json", "--addr", f"127.0.0.1:{port}", "--config", limits]
        self.command += ["--store", folder / "store"]
        self.token = self.start()["token"]
        self.proxy = Proxy(port)
        self.url = f"http://127.0.0.1:{self.proxy.port}/"
        self.environment = {**os.environ, "SOLINAS_SERVER": f"http://127.0.0.1:{port}", "SOLINAS_TOKEN": self.token}

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        return read_json(self.process)

    def kill(self):
        self.process.kill()
        self.end()

    def end(self):
        self.process.wait()
        self.process.stdout.close()

    def solinas(self, *arguments):
        subprocess.run([SOLINAS, *arguments], env=self.environment, check=True, capture_output=True)

    def request(self, path, method="GET"):
        url = self.environment["SOLINAS_SERVER"] + path
        request = urllib.request.Request(url, method=method, headers={"authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request) as answer:
            return answer.read()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("service"))
    yield service
    service.proxy.close()
    service.process.terminate()
    service.end()


@pytest.fixture(scope="module")
def keys(service, tmp_path_factory):
    """Return the folder of keys that the command line made. The service has the server key."""
    folder = tmp_path_factory.mktemp("keys")
    service.solinas("keygen", "--out", folder)
    service.solinas("remote", "register", folder / "server.key")
    return folder


@pytest.fixture(scope="module")
def other_keys(service, tmp_path_factory):
    """Return the folder of keys that the service does not have."""
    folder = tmp_path_factory.mktemp("other-keys")
    service.solinas("keygen", "--out", folder)
    return folder


@pytest.fixture(scope="module")
def browser():
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        left_out("chromium", "there is none; tools/install_test_tools.sh installs it")
    if not (ROOT / "crates/server/web/solinas.wasm").exists():
        left_out("page", "the page has no client; `cargo xtask web` makes it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe():
    """Return the text of axe-core, a checker of accessibility, which is downloaded once.

    Without a connection there is none, and the other checks go on.
    """
    path = TARGET / AXE.rpartition("/")[2]
    if not path.exists():
        try:
            with urllib.request.urlopen(AXE, timeout=60) as answer:
                path.write_bytes(answer.read())
        except OSError as error:
            if "axe" in REQUIRED:
                raise
            warnings.warn(f"accessibility is not checked: {AXE}: {error}", stacklevel=1)
            return ""
    assert base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode() == AXE_SHA512, path
    with tarfile.open(path) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


def secrets(client_key):
    """Return pieces of the secret part of a client key, which follows its header."""
    return [client_key[at : at + 32] for at in range(1024, len(client_key) - 256, 256)]


@pytest.fixture
def visit(service, browser, axe, request, tmp_path):
    """Return a function that opens the page. At the end of the test, nothing may have gone wrong in it."""
    opened, complaints, expected, known, origins = [], [], [], [], [service.url]

    def visit(place="", token=True, without=None, url=service.url, **options):
        context = browser.new_context(accept_downloads=True, **{"viewport": {"width": 1280, "height": 900}, **options})
        if without:
            context.route(f"**/{without}", lambda route: route.fulfill(status=404))
        page = context.new_page()
        page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(f"{error.name}: {error.message}"))
        context.on("request", lambda sent: check_origin(sent.url))
        origins.append(url)
        page.goto(url + (f"#token={service.token}" if token else ""))
        if place:
            page.goto(f"{url}#/{place}")
        opened.append(context)
        return page

    def check_origin(url):
        if not url.startswith(("data:", *origins, *(f"blob:{origin}" for origin in origins))):
            complaints.append(f"a request to {url}")

    def check_accessibility(page):
        if not axe:
            return
        page.evaluate(axe)
        found = page.evaluate("() => axe.run(document)")["violations"]
        assert not found, json.dumps(found, indent=1)[:4000]

    def add_secret(client_key):
        pieces = secrets(client_key)
        assert pieces
        known.extend(pieces)

    yield SimpleNamespace(
        page=visit,
        axe=check_accessibility,
        # Complaints that the test provokes, and secrets that no request may contain.
        expect=expected.append,
        secret=add_secret,
    )
    if service.process.poll() is not None:
        service.end()
        service.start()
    failed = getattr(request.node, "failed", False)
    complaints = [text for text in complaints if not any(re.search(pattern, text) for pattern in expected)]
    for number, context in enumerate(opened):
        if failed or complaints:
            picture = tmp_path / f"screen-{number}.png"
            # A page that hangs gives no picture. The cause of the failure is reported nevertheless.
            try:
                context.pages[0].screenshot(path=picture, full_page=True, timeout=5000)
                print(f"a screenshot of the browser: {picture}")
            except Error as error:
                print(f"no screenshot of the browser: {error}")
        context.close()
    assert not complaints
    # The record has what the pages did send, so that it would have a secret too.
    authorization = f"Bearer {service.token}".encode()
    assert any(authorization in record for record in service.proxy.sent)
    for record in service.proxy.sent:
        assert not any(secret in record for secret in known), "a request contains the secret key"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    if report.when == "call":
        item.failed = report.failed

"""The page of a service, served by `solinas web`."""

import signal
import subprocess
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from .conftest import SOLINAS, read_json


@contextmanager
def page_of(url, environment):
    """Serve the page of the service at a URL. Give its address."""
    command = [SOLINAS, "web", "--json", "--addr", "127.0.0.1:0"]
    environment = {**environment, "SOLINAS_SERVER": url}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            started = read_json(process)
            assert started["link"] == f"{started['address']}/#token={environment['SOLINAS_TOKEN']}"
            yield f"{started['address']}/"
        finally:
            process.send_signal(signal.SIGINT)
    assert process.returncode == 0


@pytest.fixture
def web(service):
    """Return the address of a page whose requests are passed on to the recording proxy of the service."""
    with page_of(service.url, service.environment) as address:
        yield address


HOSTILE_HEADERS = {
    "Content-Type": "text/html",
    "Content-Security-Policy": "script-src 'unsafe-inline'",
    "Set-Cookie": "a=b",
    "Clear-Site-Data": '"storage"',
    "Service-Worker-Allowed": "/",
    "Access-Control-Allow-Origin": "*",
    "Refresh": "0;url=https://example.org",
}


class Hostile(BaseHTTPRequestHandler):
    """A service that tries to change the rules of the page."""

    seen = None

    def do_GET(self):
        Hostile.seen = {name.lower() for name in self.headers}
        body = b'{"api": 1, "version": "0.1.0", "reports": true}'
        self.send_response(200)
        for name, value in HOSTILE_HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_a_service_cannot_change_the_rules_of_the_page(service):
    with ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as hostile:
        threading.Thread(target=hostile.serve_forever, daemon=True).start()
        with page_of(f"http://127.0.0.1:{hostile.server_port}", service.environment) as address:
            cookie = {"Cookie": "session=1", "Authorization": "Bearer t"}
            with urllib.request.urlopen(urllib.request.Request(f"{address}v1/x", headers=cookie)) as answer:
                names = {name.lower() for name in answer.headers}
                assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
            assert not names & {"set-cookie", "clear-site-data", "service-worker-allowed", "refresh"}
            assert not any(name.startswith("access-control") for name in names)
            assert "authorization" in Hostile.seen
            assert "cookie" not in Hostile.seen
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(urllib.request.Request(address, headers={"Host": "evil.example"}))
            assert refused.value.code == 421
            refused.value.close()
        hostile.shutdown()


def test_a_job_runs_from_the_page_of_the_users_own_program(visit, web):
    page = visit.page(url=web)
    page.get_by_label("First number").fill("1234")
    page.get_by_label("Second number").fill("99")
    page.get_by_label("Operation").select_option("add")
    page.get_by_role("button", name="Compute on ciphertexts").click()
    expect(page.locator(".answer")).to_have_text("1333")
    # The answer was awaited by a stream of events, and the list of jobs is another one.
    page.goto(f"{web}#/jobs")
    expect(page.locator("main")).to_contain_text("succeeded")


def test_the_page_says_that_the_service_is_away(visit, web, service):
    page = visit.page(url=web)
    expect(page.get_by_role("button", name="Make keys")).to_be_enabled()
    visit.expect("Failed to load resource: the server responded with a status of 503")
    service.kill()
    answer = page.request.get(f"{web}v1/usage", headers={"authorization": f"Bearer {service.token}"})
    assert answer.status == 503
    assert "cannot be reached" in answer.json()["detail"]
    assert answer.headers["retry-after"] == "1"


@pytest.fixture
def with_reports(service, tmp_path):
    """Start the service again with reports of a short run."""
    run, folder = tmp_path / "run.json", tmp_path / "report"
    service.solinas("paper", "wang2014-5.1", "--save", run)
    service.solinas("report", run, "--out", folder)
    service.process.terminate()
    service.end()
    service.command += ["--reports", folder]
    try:
        service.start()
        yield
    finally:
        del service.command[-2:]
        service.process.terminate()
    service.end()
    service.start()


def test_reports_open_without_scripts(visit, with_reports, web):
    page = visit.page(url=web)
    page.get_by_role("link", name="Reports of its speed").click()
    page.get_by_role("link", name="wang2014").first.click()
    expect(page.locator("table").first).to_be_visible()
    visit.axe(page)


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
def test_other_machines_do_not_reach_the_page(address, service):
    command = [SOLINAS, "web", "--addr", address]
    run = subprocess.run(command, env=service.environment, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "is reached by other machines" in run.stderr

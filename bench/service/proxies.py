"""The service behind nginx, HAProxy, Apache and Caddy: lines of the page "Run a service for others".

Each proxy shows the service under the path /fhe. It removes the path from the requests or passes it on, and it rewrites
the header `Location` to a whole address or leaves it. Behind each, the client of Solinas registers a key, sends a large
file in parts and computes, and an ordinary client of tus (tuspy) sends a file. HAProxy checks the service with its
default request. Needs the Debian packages nginx-light, haproxy, apache2 and caddy, and the Python package tuspy; a
missing proxy is an error unless --skip-missing is given.
"""

import io
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from common import Failed, Service, Table, arguments, digest_of, run
from tusclient.client import TusClient
from tusclient.exceptions import TusCommunicationError

import solinas as sl

PATIENCE = 20
"""Seconds until a proxy must answer."""


class Case(NamedTuple):
    """What a proxy does with paths and with `Location`."""

    keeps: bool
    rewrites: bool


def nginx(case: Case, port: int, backend: str) -> str:
    """Return the settings of nginx."""
    to = f"http://{backend}" if case.keeps else f"http://{backend}/"
    rewrite = f"~^(.*)$ http://127.0.0.1:{port}/fhe/v1/$1" if case.rewrites else "off"
    return f"""
daemon off; pid nginx.pid; error_log stderr; events {{}}
http {{
  access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fcgi; uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {{
    listen 127.0.0.1:{port};
    location /fhe/ {{
      proxy_pass {to}; proxy_set_header Host $host; proxy_redirect {rewrite};
      proxy_request_buffering off; proxy_buffering off; client_max_body_size 40m;
    }}
  }}
}}"""


def haproxy(case: Case, port: int, backend: str) -> str:
    """Return the settings of HAProxy, with its default check of the service."""
    path = "" if case.keeps else "http-request replace-path /fhe(/.*) \\1"
    rewrite = f"http-response replace-header Location (.*) http://127.0.0.1:{port}/fhe/v1/\\1" if case.rewrites else ""
    return f"""
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend front
  bind 127.0.0.1:{port}
  default_backend service
backend service
  {path}
  {rewrite}
  option httpchk
  server one {backend} check
"""


def apache(case: Case, port: int, backend: str) -> str:
    """Return the settings of Apache."""
    to = f"http://{backend}/fhe/" if case.keeps else f"http://{backend}/"
    rewrite = f'Header edit Location "^(.*)$" "http://127.0.0.1:{port}/fhe/v1/$1"' if case.rewrites else ""
    names = ("mpm_event", "authz_core", "proxy", "proxy_http", "headers")
    modules = "\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in names)
    return f"""
ServerRoot .
ServerName localhost
PidFile apache.pid
ErrorLog error.log
Listen 127.0.0.1:{port}
{modules}
ProxyPreserveHost On
ProxyPass /fhe/ {to}
ProxyPassReverse /fhe/ {to}
{rewrite}
"""


def caddy(case: Case, port: int, backend: str) -> str:
    """Return the settings of Caddy."""
    handle = "handle" if case.keeps else "handle_path"
    rewrite = f'header_down Location "^(.*)$" "http://127.0.0.1:{port}/fhe/v1/$1"' if case.rewrites else ""
    return f"""
{{
  admin off
  auto_https off
}}
http://127.0.0.1:{port} {{
  {handle} /fhe/* {{
    reverse_proxy {backend} {{
      {rewrite}
    }}
  }}
}}"""


PROXIES: dict[str, tuple[Callable[[Case, int, str], str], list[str]]] = {
    "nginx": (nginx, ["nginx", "-p", ".", "-c", "settings"]),
    "haproxy": (haproxy, ["haproxy", "-f", "settings"]),
    "apache2": (apache, ["apache2", "-X", "-d", ".", "-f", "settings"]),
    "caddy": (caddy, ["caddy", "run", "--adapter", "caddyfile", "--config", "settings"]),
}


@contextmanager
def running(name: str, case: Case, backend: str) -> Iterator[str]:
    """Run a proxy, and give the address of the service behind it."""
    write, command = PROXIES[name]
    program = shutil.which(command[0]) or shutil.which(command[0], path="/usr/sbin")
    if program is None:
        raise Failed(f"{command[0]} is missing: install its Debian package, or give --skip-missing")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="solinas-proxy-") as folder:
        (Path(folder) / "settings").write_text(write(case, port, backend))
        environment = {**os.environ, "HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder}
        process = subprocess.Popen(
            [program, *command[1:]], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
        )
        try:
            address = f"http://127.0.0.1:{port}/fhe"
            wait_for(f"{address}/healthz", name)
            yield address
        finally:
            process.kill()
            process.wait()


def wait_for(url: str, name: str) -> None:
    """Wait until the service answers behind a proxy."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError as error:
            if time.monotonic() > end:
                raise Failed(f"{name} does not show the service: {error}") from None
            time.sleep(0.05)


def compute(url: str, token: str, keys: tuple[sl.ClientKey, sl.ServerKey]) -> None:
    """Send a key in parts, register it, and compute, by the client of Solinas."""
    client, key = keys
    server = sl.connect(url, token).register(key)
    x, y = client.encrypt(sl.u8(200)), client.encrypt(sl.u8(57))
    if client.decrypt(server.run(x + y)) != (200 + 57) % 256:
        raise Failed("a sum is wrong")


def send_by_tus(url: str, token: str, data: bytes) -> None:
    """Send a file by an ordinary client of tus, in several parts."""
    client = TusClient(f"{url}/v1/uploads", headers={"Authorization": f"Bearer {token}"})
    digest = digest_of(data)
    uploader = client.uploader(file_stream=io.BytesIO(data), metadata={"digest": digest}, chunk_size=len(data) // 3 + 1)
    try:
        uploader.upload()
    except TusCommunicationError as error:
        raise Failed(f"an upload by tus was answered by {error.status_code}: {error.response_content!r}") from None
    request = urllib.request.Request(f"{url}/v1/blobs/{digest}", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request) as answer:
        if answer.read() != data:
            raise Failed("a file that was sent by tus has changed")


def remove_key(url: str, token: str, key: sl.ServerKey) -> None:
    """Remove a key, so that the next proxy sees its bytes again."""
    headers = {"Authorization": f"Bearer {token}"}
    with urllib.request.urlopen(
        urllib.request.Request(f"{url}/v1/keys/{key.key_id}", method="DELETE", headers=headers)
    ):
        pass


def main() -> None:
    """Try all proxies in all cases, and print a table."""
    parser = arguments(__doc__)
    parser.add_argument("--skip-missing", action="store_true", help="leave out proxies that are not installed")
    options = parser.parse_args()
    # The server key of the default set is larger than the service takes in one part.
    client, _ = keys = sl.keygen()
    table = Table()
    with Service(options.solinas, {}, "--path-prefix", "/fhe", "--log", "error") as service:
        backend = service.url.removeprefix("http://")
        for name, (_, command) in PROXIES.items():
            if options.skip_missing and not (shutil.which(command[0]) or shutil.which(command[0], path="/usr/sbin")):
                table.row(name, "not installed")
                continue
            for number, case in enumerate(
                Case(keeps, rewrites) for keeps in (False, True) for rewrites in (False, True)
            ):
                with running(name, case, backend) as url:
                    compute(url, service.token, keys)
                    send_by_tus(url, service.token, client.encrypt([number] * 5000, sl.U8).to_bytes())
                    remove_key(url, service.token, keys[1])
                path = "kept" if case.keeps else "removed"
                location = "rewritten" if case.rewrites else "as it is"
                table.row(f"{name}: path {path}, `Location` {location}", "key, sum, upload in parts, tus", "all")
        table.print(service)


if __name__ == "__main__":
    run(main)

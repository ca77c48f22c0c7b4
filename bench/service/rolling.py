"""Restarts of the service behind a balancer, while clients compute: line C9.

Each restart is that of an upgrade: SIGTERM, the end of the process, and a new process at another port. The balancer
passes connections on to the process that runs, and answers 503 while there is none. No call of a client may fail.
"""

import random
import signal
import socket
import threading
import time
from statistics import median
from typing import Any

from common import Failed, Service, Table, arguments, percentile, run
from tqdm import tqdm

import solinas as sl

AWAY = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
BUFFER = 1 << 16


@sl.program
def product(x: sl.U8, y: sl.U8) -> sl.U8:
    """One product of two numbers of 8 bits."""
    return x * y


class Balancer:
    """Passes connections on to the service, as a balancer of connections does."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.refused = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        host, port = self._service.url.removeprefix("http://").split(":")
        try:
            server = socket.create_connection((host, int(port)))
        except OSError:
            self.refused += 1
            with client:
                client.recv(BUFFER)
                client.sendall(AWAY)
            return
        threading.Thread(target=self._copy, args=(client, server), daemon=True).start()
        self._copy(server, client)

    @staticmethod
    def _copy(source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(BUFFER):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            # One side has ended the connection: the other one learns it.
            for side in (source, target):
                try:
                    side.shutdown(socket.SHUT_RDWR)
                except OSError:
                    side.close()


class Client(threading.Thread):
    """Computes products by one call after the other."""

    def __init__(self, url: str, token: str, keys: tuple[sl.ClientKey, sl.ServerKey], seed: int) -> None:
        super().__init__(daemon=True)
        self._url, self._token, self._keys, self._random = url, token, keys, random.Random(seed)
        self.calls = 0
        self.ended = False
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Compute until `ended`, or until a call fails."""
        try:
            while not self.ended:
                self._call()
                self.calls += 1
        except BaseException as failure:
            self.failure = failure

    def _call(self) -> None:
        secret, key = self._keys
        numbers = [self._random.randrange(256) for _ in range(8)]
        server = sl.connect(self._url, self._token).register(key)
        x, y = (secret.encrypt(values, sl.U8) for values in (numbers, numbers[::-1]))
        result = list(secret.decrypt(server.run(product(x, y))))
        if result != [a * b % 256 for a, b in zip(numbers, numbers[::-1], strict=True)]:
            raise Failed(f"a result is wrong: {result} for {numbers}")


def restarted(service: Service, clients: list[Client], options: Any) -> list[float]:
    """Restart the service again and again. Return the seconds from each SIGTERM until it was ready."""
    times = []
    for _ in tqdm(range(options.restarts), "restarts"):
        time.sleep(random.uniform(0, options.gap))
        begin = time.monotonic()
        service.stop(signal.SIGTERM)
        service.start()
        times.append(time.monotonic() - begin)
        for client in clients:
            if client.failure is not None:
                raise client.failure
    return times


def main() -> None:
    """Restart the service again and again, and print a table."""
    parser = arguments(__doc__)
    parser.add_argument("--restarts", type=int, default=100, help="restarts")
    parser.add_argument("--gap", type=float, default=4.0, help="most seconds between a start and the next SIGTERM")
    parser.add_argument("--clients", type=int, default=4, help="clients that compute all the time")
    parser.add_argument("--database", help="the address of an empty database of PostgreSQL; SQLite without it")
    options = parser.parse_args()
    random.seed(1)
    keys = sl.keygen()
    settings = ["--checkpoint-every", "1", "--log", "off"]
    settings += ["--database", options.database] if options.database else []
    with Service(options.solinas, {}, *settings) as service:
        balancer = Balancer(service)
        clients = [Client(balancer.url, service.token, keys, seed) for seed in range(options.clients)]
        for client in clients:
            client.start()
        times = restarted(service, clients, options)
        for client in clients:
            client.ended = True
        for client in clients:
            client.join()
            if client.failure is not None:
                raise client.failure
        table = Table()
        table.row("restarts", f"{options.restarts}", "100")
        table.row("SIGTERM until ready: median, p99", f"{median(times):.2f}, {percentile(times, 0.99):.2f} s")
        table.row("connections that the balancer answered by 503", f"{balancer.refused}")
        calls = sum(client.calls for client in clients)
        table.row(f"calls of {options.clients} clients, which all gave the right result", f"{calls}", "no failed call")
        table.print(service)


if __name__ == "__main__":
    run(main)

import pytest

import solinas as sl


def pair(*args, threads=2, memory=None, **options):
    """Return the client key and the server of new keys."""
    client, server_key = sl.keygen(*args, **options)
    return client, sl.Server(server_key, threads=threads, memory=memory)


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

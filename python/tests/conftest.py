import pytest

import solinas as sl


@pytest.fixture(scope="session")
def integers():
    """Return a key pair for integers in 2-bit blocks: fast, reproducible and insecure."""
    return sl.keygen("tfhe", params="integers-40", insecure_seed=1, threads=2)


@pytest.fixture(scope="session")
def gates():
    """Return a key pair for gates: fast, reproducible and insecure."""
    return sl.keygen("tfhe", params="gates-40", insecure_seed=2, threads=2)


@pytest.fixture(scope="session", params=["integers", "gates"])
def keys(request):
    return request.getfixturevalue(request.param)

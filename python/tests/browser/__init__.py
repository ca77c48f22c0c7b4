"""Tests of the page of the service in a browser. As a package, its conftest is not that of the other tests."""

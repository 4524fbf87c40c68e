"""The tests of tables read small ones, many times."""

import pytest

from tests.boundary.fuzz import one_database


@pytest.fixture(autouse=True, scope="module")
def quick():
    with one_database():
        yield

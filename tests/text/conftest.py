import sys

import pytest


@pytest.fixture(params=["orjson", "json"])
def json_library(request, monkeypatch):
    """The library that reads JSON: each test that uses this runs with either."""
    if request.param == "json":
        monkeypatch.setitem(sys.modules, "orjson", None)
    else:
        pytest.importorskip("orjson")
    return request.param

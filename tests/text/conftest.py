import sys

import pytest

from sparsemaps.records import jsonl


@pytest.fixture(params=["orjson", "json"])
def json_library(request, monkeypatch):
    """The library that reads JSON: each test that uses this runs with either."""
    jsonl._loader.cache_clear()
    if request.param == "json":
        monkeypatch.setitem(sys.modules, "orjson", None)
    else:
        pytest.importorskip("orjson")
    yield request.param
    jsonl._loader.cache_clear()

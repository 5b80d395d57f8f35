"""The server and the application that docs/train_and_serve.md shows."""

import asyncio
import contextlib
import http.client
import json
import runpy
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from _data.saved_models import LABELS, TEXTS

from sparsemaps import MinHash
from sparsemaps.linear import KernelClassifier

SERVER = Path(__file__).parents[2] / "docs" / "serving" / "server.py"


def saved(path, labels):
    model = KernelClassifier(MinHash(n_hashes=32, random_state=0), vectorizer="char:3")
    model.fit(TEXTS, labels).save(path)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "model"
    saved(path, LABELS)
    return path


@pytest.fixture(scope="module")
def port(model):
    with subprocess.Popen(
        [sys.executable, "-P", str(SERVER), str(model), "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        yield int(process.stdout.readline().rsplit(":", 1)[1].split("/")[0])
        process.kill()


def asked(port, body, *, path="/labels", **headers):
    with contextlib.closing(
        http.client.HTTPConnection("localhost", port, timeout=30)
    ) as connection:
        connection.request("GET" if body is None else "POST", path, body, headers)
        with connection.getresponse() as response:
            return response.status, json.loads(response.read())


def test_health_and_labels(port):
    assert asked(port, None, path="/health") == (200, {"status": "ok"})
    body = json.dumps({"texts": [TEXTS[0], TEXTS[4]]})
    assert asked(port, body) == (200, {"labels": ["pets", "money"]})
    assert asked(port, json.dumps({"texts": []})) == (200, {"labels": []})


@pytest.mark.parametrize(("path", "status"), [("/health", 200), ("/labels", 404)])
def test_heads(port, path, status):
    """They have the length of the body, without it; an open connection goes on with the next."""
    with socket.create_connection(("localhost", port), timeout=30) as connection:
        closes = b"Connection: close\r\n"
        for more in (b"", closes):
            connection.sendall(f"HEAD {path} HTTP/1.1\r\nHost: a\r\n".encode() + more + b"\r\n")
        answer = b"".join(iter(lambda: connection.recv(1000), b""))
    heads = answer.split(b"\r\n\r\n")
    assert heads.pop() == b""
    assert [int(head.split()[1]) for head in heads] == [status] * (2 if status == 200 else 1)
    assert all(b"\r\nContent-Length: " in head for head in heads)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"texts": ["\xff"]}', 400),
        (b"{", 400),
        (b"[" * 100_000, 400),
        (b"[]", 400),
        (b'{"texts": "a"}', 400),
        (b'{"texts": [1]}', 400),
        (b'{"texts": ["a\\ud800"]}', 400),
        (b"", 400),
    ],
)
def test_bodies_that_are_refused(port, body, status):
    assert asked(port, body)[0] == status
    assert asked(port, None, path="/health")[0] == 200


@pytest.mark.parametrize("length", ["-1", "x", "\u00b2", str(2**20 + 1), "9" * 5000])
def test_lengths_that_are_none(port, length):
    with socket.create_connection(("localhost", port), timeout=30) as connection:
        request = f"POST /labels HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n"
        connection.sendall(request.encode("latin-1"))
        assert connection.recv(100).split()[1] in (b"411", b"413")


def test_other_paths(port):
    assert asked(port, None, path="/")[0] == asked(port, b"{}", path="/")[0] == 404


def test_another_model_is_opened(port, model):
    saved(model, ["b"] * 4 + ["a"] * 4)
    body = json.dumps({"texts": [TEXTS[0], TEXTS[4]]})
    assert asked(port, body) == (200, {"labels": ["b", "a"]})
    whole = model.read_bytes()
    damaged = model.with_name("damaged")
    damaged.write_bytes(b"no model")
    damaged.replace(model)
    assert asked(port, body) == (200, {"labels": ["b", "a"]})
    model.unlink()
    assert asked(port, body) == (200, {"labels": ["b", "a"]})
    KernelClassifier(MinHash(n_hashes=32)).fit([[1, 0], [0, 1]], [0, 1]).save(model)  # of rows
    assert asked(port, body) == (200, {"labels": ["b", "a"]})
    model.write_bytes(whole)
    assert asked(port, body) == (200, {"labels": ["b", "a"]})
    for n_bytes in (0, len(whole) // 2):  # as a program that copies over the file
        with model.open("r+b") as file:
            file.truncate(n_bytes)
        assert asked(port, body) == (200, {"labels": ["b", "a"]})


def test_texts_of_several_labels(port, model):
    saved(model, [[int(label == one) for one in ("pets", "money")] for label in LABELS])
    body = json.dumps({"texts": [TEXTS[0], TEXTS[4]]})
    assert asked(port, body) == (200, {"labels": [[0], [1]]})


def test_clients_that_leave_within_a_request(port):
    for _ in range(200):  # more than may wait
        with socket.create_connection(("localhost", port), timeout=30) as connection:
            connection.sendall(b"POST /labels HTTP/1.1\r\nContent-Length: 9\r\n\r\n{")
    assert asked(port, None, path="/health") == (200, {"status": "ok"})


class Route:
    """Of FastAPI's class: a decorator leaves its function as it is."""

    def get(self, path):
        return lambda function: function

    head = post = get


class Refused(Exception):
    """Of FastAPI's HTTPException: the status, and what went wrong."""

    def __init__(self, status_code, detail):
        super().__init__(status_code, detail)


@pytest.fixture
def app(tmp_path, monkeypatch):
    """What app.py defines, with the parts of FastAPI that it uses."""
    saved(tmp_path / "model", LABELS)
    fake = SimpleNamespace(FastAPI=Route, HTTPException=Refused, Request=object)
    monkeypatch.setitem(sys.modules, "fastapi", fake)
    monkeypatch.setitem(sys.modules, "server", SimpleNamespace(**runpy.run_path(str(SERVER))))
    monkeypatch.setenv("MODEL", str(tmp_path / "model"))
    return runpy.run_path(str(SERVER.with_name("app.py")))


def answered(app, *parts):
    async def stream():
        for part in parts:
            yield part

    return asyncio.run(app["labels"](SimpleNamespace(stream=stream)))


def test_the_application(app):
    assert asyncio.run(app["health"]()) == {"status": "ok"}
    body = json.dumps({"texts": [TEXTS[0], TEXTS[4]]}).encode()
    assert answered(app, body[:9], body[9:]) == {"labels": ["pets", "money"]}
    with pytest.raises(Refused, match="400"):
        answered(app, b'{"texts": ["\xff"]}')
    with pytest.raises(Refused, match="413"):
        answered(app, *[b" " * 2**19] * 3)


def test_the_container_has_what_it_starts(port):
    """Each line names files that there are, and its check of health is a program that runs."""
    lines = SERVER.with_name("Containerfile").read_text().splitlines()
    words = [line.split() for line in lines]
    (copied,) = [line[1:-1] for line in words if line[0] == "COPY"]
    assert {*copied} == {"server.py", "app.py"} == {p.name for p in SERVER.parent.glob("*.py")}
    *_, check, start = [json.loads(line[line.index("[") :]) for line in lines if " [" in line[:20]]
    assert start[:2] == ["uvicorn", "app:app"]
    number = start[start.index("--port") + 1]
    assert ["EXPOSE", number] in words
    assert f":{number}/health" in check[-1]
    assert check[0] == "python"
    for place, status in (("/health", 0), ("/nowhere", 1)):
        program = check[-1].replace(f":{number}/health", f":{port}{place}")
        done = subprocess.run([sys.executable, *check[1:-1], program], capture_output=True)
        assert done.returncode == status, done.stderr

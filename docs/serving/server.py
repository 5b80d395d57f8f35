"""Labels of texts over HTTP: python server.py MODEL [PORT]."""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sparsemaps.linear import load_model

LARGEST = 2**20  # bytes of a request


class Served:
    """The model of a file, which is opened again when the file has changed.

    A model that is read (mmap_mode=None) outlives its file, whatever is written over it.
    """

    def __init__(self, path, mmap_mode=None):
        self.path, self.mmap_mode = path, mmap_mode
        self.model = self.seen = self.said = None
        self.newest()  # a file that holds no model is an error at the start

    def newest(self):
        """The model of the file, or the one before while the file holds none of texts."""
        try:
            found = os.stat(self.path)
            seen = found.st_ino, found.st_size, found.st_mtime_ns
            if seen != self.seen:
                self.seen = seen  # other threads go on with the model before
                model = load_model(self.path, mmap_mode=self.mmap_mode)
                model.predict([""])  # an error if it is a model of rows
                self.model = model
        except (OSError, ValueError) as error:
            if self.model is None:
                raise
            if str(error) != self.said:
                print(f"keeping the previous model: {error}", file=sys.stderr)
            self.said = str(error)
        return self.model

    def labels_of(self, texts):
        """The label of each text, or the list of its labels if texts may have several."""
        model = self.newest()
        if getattr(model, "multilabel_", False):
            return [model.classes_[row > 0].tolist() for row in model.decision_function(texts)]
        return model.predict(texts).tolist()


def texts_of(body):
    """The texts in the body of a request, {"texts": ["...", ...]}; else a ValueError."""
    found = json.loads(body.decode())  # bad UTF-8 and bad JSON are a ValueError too
    texts = found.get("texts") if isinstance(found, dict) else None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError('the body must be {"texts": ["...", ...]}')
    "".join(texts).encode()  # half of a surrogate pair, such as "\\ud800", is a ValueError
    return texts


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open
    disable_nagle_algorithm = True  # which lets each answer wait for 40 ms
    timeout = 10  # seconds that a client may be silent

    def answer(self, code, **content):
        body = json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if code >= 400:  # the rest of the request may be unread
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if self.command != "HEAD":  # which asks for the head of an answer alone
            self.wfile.write(body)

    def do_GET(self):
        if self.path == "/health":
            self.answer(200, status="ok")
        else:
            self.answer(404, error="ask GET /health or POST /labels")

    do_HEAD = do_GET

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if self.path != "/labels":
            self.answer(404, error="ask GET /health or POST /labels")
        elif not (length.isascii() and length.isdecimal()):
            self.answer(411, error="Content-Length must be given")
        elif len(length) > 10 or int(length) > LARGEST:
            self.answer(413, error=f"at most {LARGEST} bytes are taken, got {length[:10]}")
        else:
            body = self.rfile.read(int(length))
            if len(body) < int(length):  # the client has gone
                self.close_connection = True
                return
            try:
                texts = texts_of(body)
            except (ValueError, RecursionError) as error:
                self.answer(400, error=str(error))
            else:
                self.answer(200, labels=self.server.served.labels_of(texts))


class Server(ThreadingHTTPServer):
    request_queue_size = 128  # connections that wait to be accepted; the default is 5


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 8000
    server = Server(("localhost", port), Handler)
    server.served = Served(sys.argv[1])
    print(f"labels at http://localhost:{server.server_port}/labels", flush=True)
    server.serve_forever()

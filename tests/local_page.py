"""A running page for tests."""

import http.client
import json
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import urlsplit


class Client:
    """Requests to a page as its own script sends them, or as somebody else would."""

    def __init__(self, address, process):
        self.address, self.process = address, process
        parts = urlsplit(address)
        self.host, self.port, self.base = parts.hostname, parts.port, parts.path

    def send(self, method, path, body=None, headers=None, base=None):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            connection.request(method, (self.base if base is None else base) + path, body=body, headers=headers or {})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def ask(self, path, question=None):
        method, body = ("GET", None) if question is None else ("POST", json.dumps(question))
        status, _, content = self.send(method, path, body)
        return status, json.loads(content)


@contextmanager
def serving(folder, *options):
    """A page on a folder; ended at the end."""
    # As the installed command does, without modules of the folder it is started in.
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "tallymark", "serve", str(folder), "--no-open", "--port", "0", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
    )  # fmt: skip
    try:
        line = process.stdout.readline()
        address = re.search(r"http://\S+", line)
        assert address, line + process.stderr.read()
        yield Client(address[0], process)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()

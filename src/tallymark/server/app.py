"""The local page's server: a token in every address, no other page's requests, no file outside of the folder."""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tallymark.errors import InputError
from tallymark.server.folders import Folders
from tallymark.server.questions import is_text, python_of, words_of
from tallymark.server.runs import AT_ONCE, Runs, answer_of

#: What the page may load: itself. A report has scripts of its own, and runs in a frame that can reach nothing else.
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; font-src data:; frame-ancestors 'self'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".csv": "text/csv"}

#: Bytes of a question, and seconds to look at a file.
_LARGEST_QUESTION, _LOOK_SECONDS = 65_536, 120.0

#: What a look may be told of a file.
_STATED = ("encoding", "decimal", "separator", "sheet")

Answer = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Settings:
    """Where the page is, and its limits."""

    host: str
    port: int
    token: str
    upload_bytes: int
    run_seconds: float

    @property
    def address(self) -> str:
        """What a person opens."""
        return f"{self.origin}/{self.token}/"

    @property
    def origin(self) -> str:
        """The page's own origin."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def open_socket(host: str, port: int) -> socket.socket:
    """A socket at an address; port 0 is any that is free."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(kind, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        # A browser may ask before the server runs.
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise InputError(f"Cannot listen at {host}, port {port}: {error.strerror or error}. Try --port 0.") from None
    return listening


def new_token() -> str:
    """A secret that no other page can guess."""
    return secrets.token_urlsafe(24)


class Page:
    """The page's answers."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self.settings = settings
        self.folders = Folders(root, settings.upload_bytes)
        self.runs: Runs | None = None
        self._looking = asyncio.Semaphore(AT_ONCE)

    def application(self) -> Starlette:
        """The application that a server runs."""

        @asynccontextmanager
        async def life(_: Starlette) -> Any:
            self.runs = Runs(self.folders.scratch, self.folders.root, self.settings.run_seconds)
            try:
                yield
            finally:
                await self.runs.close()
                self.folders.close()

        routes = {
            ("GET", ""): self._index,
            ("GET", "page/{name}"): self._part,
            ("GET", "files"): self._files,
            ("POST", "upload"): self._upload,
            ("POST", "look"): self._look,
            ("POST", "run"): self._start,
            ("GET", "run/{key}"): self._state,
            ("POST", "run/{key}/cancel"): self._cancel,
            ("GET", "run/{key}/{name}"): self._result,
        }
        listed = [
            Route(f"/{{token}}/{path}", self._guarded(answer), methods=[method])
            for (method, path), answer in routes.items()
        ]
        application = Starlette(routes=listed, lifespan=life)
        application.router.redirect_slashes = False
        return application

    def _guarded(self, answer: Answer) -> Answer:
        """An answer for this page only: right address, right token, and no other page's script behind the request."""

        async def guarded(request: Request) -> Response:
            refused = self._refused(request)
            if refused is not None:
                return PlainTextResponse(refused, 403, headers=_HEADERS)
            try:
                response = await answer(request)
            except InputError as error:
                response = JSONResponse({"error": str(error)}, 400)
            except ClientDisconnect:
                response = PlainTextResponse("", 400)
            for name, value in _HEADERS.items():
                response.headers.setdefault(name, value)
            response.headers.setdefault("Content-Security-Policy", _PAGE_POLICY)
            return response

        return guarded

    def _refused(self, request: Request) -> str | None:
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        local = {self.settings.origin, f"http://localhost:{self.settings.port}"}
        if f"http://{host}" not in local:
            return "This page has another address."
        if not secrets.compare_digest(request.path_params["token"].encode(), self.settings.token.encode()):
            return "The address lacks the token; open the one that was printed."
        framed = request.url.path.endswith("report.html")
        if origin is not None and origin not in local and not (framed and origin == "null"):
            return "Another page sent this request."
        if request.headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
            return "Another page sent this request."
        return None

    async def _index(self, _: Request) -> Response:
        return _part("index.html")

    async def _part(self, request: Request) -> Response:
        return _part(request.path_params["name"])

    async def _files(self, _: Request) -> Response:
        limits = {"upload": self.settings.upload_bytes, "folder": self.folders.root.name}
        return JSONResponse({"files": await asyncio.to_thread(self.folders.listed), **limits})

    async def _upload(self, request: Request) -> Response:
        name = request.query_params.get("name", "")
        length = request.headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self.folders.limit:
            return JSONResponse({"error": self.folders.too_large(name)}, 413, headers={"Connection": "close"})
        return JSONResponse(await self.folders.keep(name, request.stream()))

    async def _look(self, request: Request) -> Response:
        asked = await _question(request)
        path = str(self.folders.path(asked.get("file")))
        stated = _stated(asked)
        given = [f"{name}={value}" for name, value in stated.items()]
        options = [f"--{option}" for option in given]
        try:
            async with self._looking:
                looked, first = await asyncio.gather(
                    answer_of(["-m", "tallymark", "look", path, "--json", *options], _LOOK_SECONDS),
                    answer_of(["-m", "tallymark.server.preview", path, *given], _LOOK_SECONDS),
                )
        except InputError as error:
            raise InputError(str(error).replace(path, Path(path).name)) from None
        # Messages name the file, not where it is on this machine.
        named = looked.replace(json.dumps(path)[1:-1], Path(path).name)
        return JSONResponse({"look": json.loads(named), "first": json.loads(first)})

    async def _start(self, request: Request) -> Response:
        asked = await _question(request)
        named = asked.get("files")
        paths = [str(self.folders.path(one)) for one in (named if isinstance(named, list) else [])]
        choices = asked.get("choices") if isinstance(asked.get("choices"), dict) else {}
        question = str(asked.get("question"))
        words = words_of(question, paths, choices or {})
        stated = _stated(asked)
        shown = {path: self.folders.shown(path) for path in paths}
        lines = python_of(question, [shown[path] for path in paths], choices or {}, stated)
        options = [f"--{name}={value}" for name, value in stated.items()]
        return JSONResponse({"run": self._runs.start([*words, *options], shown, lines)})

    @property
    def _runs(self) -> Runs:
        if self.runs is None:
            raise InputError("The page is closing.")
        return self.runs

    async def _state(self, request: Request) -> Response:
        return JSONResponse(self._runs[request.path_params["key"]].to_dict())

    async def _cancel(self, request: Request) -> Response:
        self._runs.cancel(request.path_params["key"])
        return JSONResponse({})

    async def _result(self, request: Request) -> Response:
        run, name = self._runs[request.path_params["key"]], request.path_params["name"]
        path = next((one for one in (run.report, run.tables, run.rows) if one.name == name and one.exists()), None)
        if path is None or run.state != "done":
            raise InputError(f"There is no {name} of this run.")
        headers = {"Content-Security-Policy": _REPORT_POLICY}
        if name != run.report.name or "save" in request.query_params:
            headers["Content-Disposition"] = f'attachment; filename="{name}"'
        media = _TYPES.get(path.suffix, "application/octet-stream")
        return FileResponse(path, media_type=media, headers=headers)


def _stated(asked: Mapping[str, Any]) -> dict[str, str]:
    """What was said of how the file is to be read."""
    stated = {name: asked[name] for name in _STATED if asked.get(name)}
    if bad := [name for name, value in stated.items() if not is_text(value)]:
        raise InputError(f"{bad[0]} is {stated[bad[0]]!r}, expected a text.")
    return stated


def _part(name: str) -> Response:
    """A file of the page, from the package."""
    folder = files("tallymark.server").joinpath("page")
    if name not in {one.name for one in folder.iterdir()}:
        raise InputError(f"The page has no part {name!r}.")
    return Response(folder.joinpath(name).read_bytes(), media_type=_TYPES.get(Path(name).suffix, "text/plain"))


async def _question(request: Request) -> dict[str, Any]:
    """The JSON object of a request."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST_QUESTION:
            raise InputError("The question is too long.")
    try:
        asked = json.loads(body)
    except (RecursionError, ValueError):
        asked = None
    if not isinstance(asked, dict):
        raise InputError("A question is one JSON object.")
    return asked

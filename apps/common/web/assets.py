"""Assets: scripts and style sheets of pages, joined and compressed once in each process, kept by browsers for good."""

import gzip
import re
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse

IMPORT = re.compile(r'^import (?:(\{[\w$, ]+\}) from )?"\./([\w-]+\.js)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
OTHER_FORM = re.compile(r"^(?:import|export)\b.*|^.*\bimport[(.].*", re.MULTILINE)
SHEET_IMPORT = re.compile(r'^@import "([\w/-]+\.css)";$', re.MULTILINE)
COMMENT = r"/\*(?:(?!\*/)[\s\S])*\*/"
BLANK_LINE_OR_INDENTATION = re.compile(rf"^[ \t]*(?://[^\n]*|{COMMENT}[ \t]*)?\n|^[ \t]+", re.MULTILINE)
GAP = rf"(?:\s|{COMMENT})"
TEXT_OR_GAP = re.compile(rf"(\"[^\"\n]*\"|'[^'\n]*')|{GAP}*;?{GAP}*(\}}){GAP}*|{GAP}*([{{}};,]){GAP}*|{GAP}+")


class CannotJoin(Exception):
    """A file has a form that is not understood here, or imports itself. The message says which."""


def bundle(path: Path) -> str:
    """The file with all that it imports, without comments and indentation, as browsers get it. Raises CannotJoin.

    A module becomes a function that returns what it exports, behind those of the modules that it imports. No name and
    no line of code is changed, so what a browser runs reads like its source.
    """
    files = [*imported(path), path]
    if path.suffix == ".css":
        return TEXT_OR_GAP.sub(_close, "\n".join(map(_rules, files))).strip()
    return BLANK_LINE_OR_INDENTATION.sub("", "\n".join(map(_function, files)))


def imported(path: Path) -> list[Path]:
    """Whatever the file imports, directly or not: each file once, and behind those that it imports itself."""
    found: dict[Path, None] = {}
    _collect(path, found, ())
    return [file for file in found if file != path]


def _collect(path: Path, found: dict[Path, None], importers: tuple[Path, ...]) -> None:
    if path in importers:
        raise CannotJoin(f"{path.name} imports itself, by way of {importers[-1].name}.")
    if path not in found:
        for file in _imports(path):
            _collect(file, found, (*importers, path))
        found[path] = None


def _imports(path: Path) -> Iterator[Path]:
    pattern, group = (SHEET_IMPORT, 1) if path.suffix == ".css" else (IMPORT, 2)
    return (path.parent / match[group] for match in pattern.finditer(path.read_text("utf-8")))


def _rules(path: Path) -> str:
    return SHEET_IMPORT.sub("", path.read_text("utf-8"))


def _function(path: Path) -> str:
    """A module as a function that is called at once, under a name when it exports something."""
    source = path.read_text("utf-8")
    names = EXPORT.findall(source)
    body = EXPORT.sub("", IMPORT.sub(_assignment, source))
    if other := OTHER_FORM.search(body):
        raise CannotJoin(f"{path.name}: this form of import or export cannot be joined: {other[0]}")
    if line := next((line for line in source.splitlines() if line.count("`") % 2), ""):
        raise CannotJoin(f"{path.name}: a text over several lines would lose its indentation: {line.strip()}")
    if not names:
        return f"(() => {{\n{body}\n}})();\n"
    return f"const {_name_of(path.name)} = (() => {{\n{body}\nreturn {{ {', '.join(names)} }};\n}})();\n"


def _assignment(match: re.Match[str]) -> str:
    names, file = match.groups()
    return f"const {names} = {_name_of(file)};" if names else ""


def _name_of(file: str) -> str:
    """With a dollar sign, which no name of ours has: a module may use any other name itself."""
    return "$" + file.removesuffix(".js").replace("-", "_")


def _close(match: re.Match[str]) -> str:
    """A text as it is, a sign without the gaps around it, or else one space."""
    return next((part for part in match.groups() if part), " ")


SOURCES = Path(settings.BASE_DIR) / "static"
ADDRESS = re.compile(r"/assets/([0-9a-f]{16})/((?:css|js)/[\w-]+(\.css|\.js))")
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
KEPT_SECONDS = 365 * 24 * 60 * 60


class Asset(NamedTuple):
    digest: str
    gzipped: bytes


def asset_url(name: str) -> str:
    """The address of `css/jobs.css`: it contains a digest, so that a browser never uses an old one."""
    return f"/assets/{_asset(name).digest}/{name}"


def answer_assets(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Answer for assets before any other middleware: none of the headers of pages means something for them.

    An address with the digest of another version is not found: an old page never gets a new script.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        match = ADDRESS.fullmatch(request.path_info)
        if match is None or request.method not in {"GET", "HEAD"}:
            return get_response(request)
        digest, name, kind = match.groups()
        asset = _asset(name) if (SOURCES / name).is_file() else None
        if asset is None or asset.digest != digest:
            return get_response(request)
        return _answer(request, asset, TYPES[kind])

    return middleware


def _answer(request: HttpRequest, asset: Asset, content_type: str) -> HttpResponse:
    takes_gzip = "gzip" in request.headers.get("Accept-Encoding", "")
    body = asset.gzipped if takes_gzip else gzip.decompress(asset.gzipped)
    answer = HttpResponse(body, content_type=content_type)
    if takes_gzip:
        answer["Content-Encoding"] = "gzip"
    answer["Content-Length"] = str(len(body))
    answer["Cache-Control"] = f"public, max-age={KEPT_SECONDS}, immutable"
    answer["Vary"] = "Accept-Encoding"
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


def _asset(name: str) -> Asset:
    """Read once per process, and at every request in development."""
    return _read(name) if settings.DEBUG else _cached(name)


def _read(name: str) -> Asset:
    body = bundle(SOURCES / name).encode()
    return Asset(sha256(body).hexdigest()[:16], gzip.compress(body, mtime=0))


_cached = cache(_read)

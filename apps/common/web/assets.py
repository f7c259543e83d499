"""Assets: scripts and style sheets of pages, joined and compressed once in each process, kept by browsers for good."""

import gzip
import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from apps.common.web.bundles import bundle

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

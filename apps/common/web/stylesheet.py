"""The style sheet of every page: one file per component on disk, served as one file."""

from functools import cache
from hashlib import sha256
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

SHEETS = (
    "tokens",
    "components/elements",
    "components/layout",
    "components/key",
    "components/key-button",
    "components/button",
    "components/text",
    "components/chip",
    "components/facts",
    "components/document",
    "components/progress",
    "components/notice",
    "components/table",
    "components/term",
    "components/scroll",
    "components/form",
    "components/foot",
    "components/drop",
    "components/choice",
    "components/checks",
    "components/thread",
    "components/actions",
    "components/chart",
    "components/dialog",
    "components/guideline",
    "components/bar",
    "components/finder",
    "components/page",
    "components/desk",
    "components/width",
    "components/print",
)
"""In the order of the cascade: of two equally specific rules, the later one wins."""
CSS = Path(settings.BASE_DIR) / "static" / "css"
KEPT_SECONDS = 365 * 24 * 60 * 60


def stylesheet_url() -> str:
    """The address contains a digest, so that a browser caches it for good and never uses an old one."""
    return reverse("stylesheet", args=[_stylesheet()[0]])


@require_safe
def stylesheet(request: HttpRequest, digest: str) -> HttpResponse:
    """All sheets in their order. Raises Http404 for a digest that is not that of this version."""
    current, body = _stylesheet()
    if digest != current:
        raise Http404("This style sheet belongs to another version.")
    answer = HttpResponse(body, content_type="text/css; charset=utf-8")
    answer["Cache-Control"] = f"public, max-age={KEPT_SECONDS}, immutable"
    answer["Content-Security-Policy"] = "default-src 'none'"
    return answer


def _stylesheet() -> tuple[str, bytes]:
    """Digest and content; read once per process, and at every request in development."""
    return _read() if settings.DEBUG else _cached()


def _read() -> tuple[str, bytes]:
    body = b"\n".join((CSS / f"{name}.css").read_bytes() for name in SHEETS)
    return sha256(body).hexdigest()[:16], body


_cached = cache(_read)

"""The fields of a problem (RFC 9457). Independent of DRF: the web server needs it before Django is loaded."""

from typing import Any

CONTENT_TYPE = "application/problem+json"


def facts_of(*, status: int, title: str, detail: str, code: str) -> dict[str, Any]:
    return {"type": f"urn:karat:problem:{code}", "title": title, "status": status, "detail": detail, "code": code}

"""Walking every page and endpoint that links lead to, after each thing that may have been said."""

import re

from apps.review.enums import VerdictChoice
from tests.review.factories import answer

FLAG = {"note": "SECRET-NOTE"}
SAID = {
    "nothing": lambda triple, person: None,
    "confirmed": lambda triple, person: answer(triple, person, VerdictChoice.CONFIRM, note="SECRET-NOTE"),
    "flagged": lambda triple, person: answer(triple, person, VerdictChoice.FLAG, **FLAG),
    "changed": lambda triple, person: (
        answer(triple, person, VerdictChoice.FLAG),
        answer(triple, person, VerdictChoice.CONFIRM),
    ),
}
TOKENS = re.compile(
    rb'name="(?:csrfmiddlewaretoken|key|started)" value="[^"]+"|"X-CSRFToken": "[^"]+"|data-csrf="[^"]+"'
)
LINKS = re.compile(r'(?:href|hx-get)="([^"#]+)"')


def bare(content: bytes) -> bytes:
    """A page without its one-time tokens."""
    return TOKENS.sub(b"", content)


def crawl(client, project) -> dict[str, tuple[int, bytes]]:
    """Every page and endpoint of the project that links lead to, from its home and its API."""
    home = f"/p/{project.slug}/"
    api = f"/api/v1/projects/{project.slug}/"
    waiting = [
        home,
        home + "review/",
        home + "review/next/",
        home + "review/board/",
        home + "triples/",
        home + "triples/mine/",
    ]
    waiting += [
        home + place for place in ("agreement/", "audit/", "jobs/", "versions/", "runs/", "judging/", "people/")
    ]
    waiting += [api + place for place in ("triples/", "review/queue/", "review/next/", "agreement/", "review/")]
    waiting += [f"{home}review/triples/{n}/" for n in range(1, 4)] + [f"{home}triples/{n}/bench/" for n in range(1, 4)]
    waiting += [f"{api}review/{n}/rounds/" for n in range(1, 4)]
    waiting += [f"{api}agreement/calibrations/{place}" for place in ("", "1/", "1/items/")]
    seen: dict[str, tuple[int, bytes]] = {}
    client.raise_request_exception = False
    while waiting:
        url = waiting.pop()
        if url in seen or not url.startswith((home, api)) or len(seen) > 400:
            continue
        response = client.get(url)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        seen[url] = (response.status_code, bare(body) + response.get("Location", "").encode())
        found = [*LINKS.findall(body.decode(errors="replace")), response.get("Location", "")]
        base = url.split("?")[0]
        waiting += [base + link if link.startswith("?") else link.replace("&amp;", "&") for link in found if link]
    return seen


class Rewind(Exception):
    """Undoes what was said, so that every case starts from the same rows."""

"""What the page of a public release shows: the finding, the checks, what goes and what stays."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from apps.accounts.selectors import Member, policy
from apps.goldsets import rules
from apps.goldsets.enums import PublicState, Split, StayKind
from apps.goldsets.execution.publishing import labels_of, order_of
from apps.goldsets.formats.public.card import SECTIONS, filled
from apps.goldsets.formats.public.files import ten_lines
from apps.goldsets.formats.public.licences import BY_KEY
from apps.goldsets.models import PublicRelease
from apps.goldsets.selectors import public

KIND_WORDS = {
    "triples": "Questions and answers",
    "queries": "Graded queries",
    "pairs": "Graded pairs",
    "passages": "Passages, full text",
}
FIELD_WORDS = {
    "title": ("title of a passage", "titles of passages"),
    "document_title": ("title of a document", "titles of documents"),
    "section": ("heading", "headings"),
    "intent": ("intent", "intents"),
    "description": ("description", "descriptions"),
    "domain": ("domain", "domains"),
    "difficulty": ("difficulty", "difficulties"),
    "query_type": ("type", "types"),
}


class Check(NamedTuple):
    """`state` is pass, warn or stop."""

    state: str
    title: str
    words: str
    fact: str = ""

    @property
    def icon(self) -> str:
        return "check" if self.state == "pass" else self.state


class KindCounts(NamedTuple):
    """How many of a kind the version has, go out, and stay in."""

    kind: str
    words: str
    inside: int
    going: int

    @property
    def staying(self) -> int:
        return self.inside - self.going


def public_facts(release: PublicRelease, member: Member, *, at: datetime) -> dict[str, Any]:
    counts = release.report["counts"]
    rows = [
        KindCounts(kind, words, counts[kind]["inside"], counts[kind]["going"]) for kind, words in KIND_WORDS.items()
    ]
    checks = checks_of(release)
    leads = list(public.other_leads(release))
    asked = release.asked if release.asked in leads else next(iter(leads), None)
    groups = public.stays_of(release)
    by_kind = {row.kind: row for row in rows}
    labels = labels_of(release.version, order_of(release))
    return {
        "rows": rows,
        "checks": checks,
        "done": sum(check.state == "pass" for check in checks),
        "finding": _finding(release, by_kind),
        "stay_groups": [(by_kind[kind], groups[kind]) for kind in StayKind if groups[kind]],
        "leads": leads,
        "to_ask": asked,
        "check_failed": rules.check_failure(release),
        "hits": release.report.get("hits", []),
        "allowed": policy(release.version.gold_set.project, "allowed_public"),
        "has_opened": public.has_opened(release, member.user),
        "sign_refusal": rules.busy_refusal(release) or rules.sign_refusal(release, member.user),
        "publish_refusal": rules.publish_refusal(release) or rules.busy_refusal(release),
        "ended": public.no_longer_public(release, at=at),
        "lines": [line.split("`") for line in ten_lines(labels, {row.kind: row.going for row in rows})],
        "file_name": labels.file_name,
        "licence": BY_KEY[release.licence],
        "card_sections": [(section.title, release.card.get(section.key, "")) for section in SECTIONS],
        "first_kind": "triples" if by_kind["triples"].going else "queries",
    }


def _finding(release: PublicRelease, rows: dict[str, KindCounts]) -> str:
    triples, queries = rows["triples"], rows["queries"]
    row, words = (triples, "Q&As") if triples.inside else (queries, "queries")
    how_many = f"{row.going:,} of {row.inside:,} {words}"
    if release.state == PublicState.PREPARED:
        return f"{how_many} can go out; one signature is missing."
    if release.state == PublicState.SIGNED:
        return f"{how_many} can go out; it is signed and waits to be released."
    return f"{how_many} are public."


def checks_of(release: PublicRelease) -> list[Check]:
    """What is missing first, then what to look at, then what is done."""
    checks = [_signature(release), _words(release), _emptied(release), _test(release)]
    checks += [_permissions(release), _people(release), _card(release)]
    order = {"stop": 0, "warn": 1, "pass": 2}
    return sorted((check for check in checks if check), key=lambda check: order[check.state])


def _signature(release: PublicRelease) -> Check:
    if release.signed_by is None:
        words = f"{release.prepared_by} prepared this release; someone else has to read the preview and sign."
        return Check("stop", "Second lead’s sign-off is missing.", words)
    return Check("pass", "A second lead has signed.", f"{release.signed_by} has read the preview and signed.")


def _words(release: PublicRelease) -> Check:
    count, found = release.report["words"], release.report["forbidden"]
    if found:
        words = f"“{found[1]}” is in {found[0]}. Change the title, who is credited or the data card, or let it go out."
        return Check("stop", "A text that must not go out is in a file.", words, f"1 of {count:,}")
    words = f"{count:,} internal words and names, and addresses, numbers and tokens: searched for in every text."
    return Check("pass", "No internal word, name, address or token is in any file.", words, f"0 of {count:,}")


def _emptied(release: PublicRelease) -> Check | None:
    emptied = release.report["emptied"]
    if not emptied:
        return None
    parts = [f"{number:,} {FIELD_WORDS[name][number != 1]}" for name, number in emptied.items()]
    words = f"A word, name or address that must not go out was in {', '.join(parts)}. They go out without it."
    total = sum(emptied.values())
    return Check("warn", "Some fields go out empty.", words, f"{total:,} {'field' if total == 1 else 'fields'}")


def _test(release: PublicRelease) -> Check | None:
    if Split.TEST not in release.splits:
        return None
    words = "Anybody can tune a system on it. Scores on test then say less about systems that know it."
    return Check("warn", "The test split goes out and is no longer sealed.", words)


def _permissions(release: PublicRelease) -> Check:
    counts = release.report["counts"]
    going = counts["triples"]["going"] + counts["queries"]["going"]
    words = "Every query and Q&A that goes out has a permission in force that says “public”."
    return Check("pass", "Nothing internal goes out.", words, f"{going:,} of {going:,}")


def _people(release: PublicRelease) -> Check:
    people = release.report["people"]
    named = f"Authors and reviewers become P1 to P{people}." if people > 1 else "Authors become P1."
    words = named if people else "No Q&A goes out, so nobody has to be renamed."
    return Check("pass", "No person is named.", words, "0 left")


def _card(release: PublicRelease) -> Check:
    number = filled(release.card)
    state = "pass" if number == len(SECTIONS) else "warn"
    words = f"{BY_KEY[release.licence].name}; card of {len(SECTIONS)} sections."
    title = "Licence and data card are filled in." if state == "pass" else "The data card has empty sections."
    return Check(state, title, words, f"{number} of {len(SECTIONS)}")

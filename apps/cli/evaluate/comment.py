"""The comment on a pull request (`karat eval --comment`): what the gates say, and the queries that were worst."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from apps.cli.evaluate.by_text import TextRun
from apps.cli.evaluate.misses import First, firsts_by_grades, firsts_by_text
from apps.cli.evaluate.released import ReleasedQuery, ReleaseSplit
from apps.cli.evaluate.scoring import Answered, Evaluated
from apps.common.errors import InputError
from apps.gates.core.comment import MOST_QUERIES, CheckedGate, CommentFacts, WorstQuery, comment_of, leading
from apps.gates.core.decisions import QueryValue, worst_first
from apps.gates.core.rule import GateRule, range_of
from apps.metrics.columns import Judged
from apps.metrics.expected.rules import Returned, counts_questions
from apps.retrieval.core.engines.base import BadParameters

DEV = "dev"


def add_comment(out: argparse._ArgumentGroup) -> None:
    """Add the options of the comment."""
    out.add_argument(
        "--comment", type=Path, metavar="FILE", help="also the comment for a pull request, in Markdown; with --gates"
    )
    out.add_argument("--server", default="", metavar="URL", help="address of Karat, for the link in the comment")
    out.add_argument("--project", default="", metavar="SLUG", help="the project there, for the link in the comment")


def check_comment(args: argparse.Namespace) -> None:
    """Raises BadParameters for options of a comment that do not go together."""
    if args.comment and not args.gates:
        raise BadParameters("--comment says what the gates say: name their file with --gates.")
    if bool(args.server) != bool(args.project):
        raise BadParameters("The link in the comment needs both --server and --project.")
    if args.server and not args.server.startswith(("http://", "https://")):
        raise BadParameters("--server begins with https:// or http://.")


def write_comment(
    args: argparse.Namespace, release: ReleaseSplit, judged: Judged | None, run: Answered, scored: Evaluated
) -> None:
    """Write the comment where it is wanted. Raises InputError for a file that cannot be written."""
    if not args.comment:
        return
    text = comment_of(comment_facts(release, judged, run, scored, link_to(release, args.server, args.project)))
    try:
        args.comment.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(str(args.comment), None, "", "", f"cannot be written: {error.strerror}.") from error


def link_to(release: ReleaseSplit, server: str, project: str) -> str:
    """The page of the version in Karat; "" where the address is not known."""
    if not (server and project and release.reference):
        return ""
    page = f"{quote(server.rstrip('/'), safe=':/[]%')}/p/{quote(project, safe='')}"
    return f"{page}/versions/{quote(release.reference)}/"


def comment_facts(
    release: ReleaseSplit, judged: Judged | None, run: Answered, scored: Evaluated, link: str = ""
) -> CommentFacts:
    """What the comment is made of. Queries of the test side are counted, and no fact has their name."""
    gates = [CheckedGate(*one) for one in scored.gates]
    facts = CommentFacts(scored.run.tag, release.name, gates, link=link)
    lead = leading(gates)
    if lead is None:
        return facts
    values = _values(lead.rule, scored)
    known = {one.question.id: one.asked for one in release.triples} | {one.query_id: one for one in release.asked}
    nameable = {name for name in known if _may_be_named(known[name], release)}
    wrong = [one for one in values if one.query_id in nameable and _can_be_better(lead.rule, one)]
    firsts = _firsts(lead.rule, release, judged, run, scored.text_run)
    worst = [_worst(one, known[one.query_id], firsts) for one in wrong[:MOST_QUERIES]]
    hidden = sum(one.query_id not in nameable for one in values)
    return facts._replace(worst=worst, queries=len(values), hidden=hidden)


def _values(rule: GateRule, scored: Evaluated) -> list[QueryValue]:
    evidence = scored.times if rule.measure is None else scored.evidence.get(rule.hit)
    return [] if evidence is None else worst_first(rule, evidence)


def _may_be_named(query: ReleasedQuery, release: ReleaseSplit) -> bool:
    """Those of dev, and every query of a version that has no sides."""
    return query.split == DEV or (not query.split and not any(one.split for one in release.asked))


def _can_be_better(rule: GateRule, one: QueryValue) -> bool:
    """Whether the query is worse than the best value that there is, or than in the baseline where that counts."""
    if rule.measure is None:
        return True
    is_low_good = rule.measure.entry.is_lower_better
    if rule.is_against_baseline:
        change = one.value - (one.baseline or 0.0)
        return change > 0 if is_low_good else change < 0
    low, high = range_of(rule)
    return not math.isclose(one.value, low if is_low_good else high, abs_tol=1e-12)


def _firsts(
    rule: GateRule, release: ReleaseSplit, judged: Judged | None, run: Answered, by_text: TextRun | None
) -> Mapping[str, First]:
    """What came first for each question by its id."""
    if counts_questions(rule.hit):
        return {name: First(next(iter(passages), None)) for name, passages in run.returned.items()}
    if by_text is not None:
        found = firsts_by_text(release, by_text)
    elif judged is not None and run.ranked is not None:
        found = firsts_by_grades(release, judged, run)
    else:
        return {}
    return {release.queries[place].query_id: first for place, first in found.items()}


def _worst(one: QueryValue, query: ReleasedQuery, firsts: Mapping[str, First]) -> WorstQuery:
    first = firsts.get(one.query_id, First())
    return WorstQuery(one.query_id, query.text, one.value, one.baseline, _words(first.passage), first.grade_words)


def _words(first: Returned | None) -> str:
    """The passage by its id, else its document and pages, with the beginning of its text."""
    if first is None:
        return ""
    pages = f"pages {first.pages[0]} to {first.pages[1]}" if first.pages and not first.id else ""
    place = ", ".join(filter(None, [first.id or first.document_id, pages]))
    return ": ".join(filter(None, [place, first.text]))

"""Context of the page of an edition: six kinds with what they touch, lists behind the counts, and the work."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.core.paginator import Paginator
from django.db.models import Exists

from apps.common.database.questions import Question, answer_to, joined
from apps.corpus.models import BlockVersion
from apps.editions import rules
from apps.editions.core.comparison import PassageChange
from apps.editions.enums import ChangeKind, Choice
from apps.editions.selectors.decisions import (
    ChangedPassage,
    changed_passages,
    choices_of,
    decided_question,
    ranked_changes,
)
from apps.editions.selectors.editions import Edition
from apps.editions.selectors.taken import (
    RoundAsBefore,
    TakenEdition,
    as_before_question,
    stays_question,
    taken_question,
    to_run_question,
)
from apps.editions.selectors.usage import (
    RestingVersion,
    Usage,
    live_question,
    resting_versions,
    rounds_on,
    usage_of,
    versions_on,
)
from apps.editions.selectors.work import Work, work_of
from apps.judging.core.workload import TimePerPair
from apps.judging.models import Round
from apps.judging.selectors import guidelines_in
from apps.judging.selectors.plans import Pace, pace_question
from apps.queries.models import Query
from apps.retrieval.models import Pool
from apps.triples.models import Triple

SHOWN = 30
MOST_SHOWN = 600
PAGE_SIZE = 50
LISTS = ("passages", "grades", "triples")


class KindRow(NamedTuple):
    """One kind of change: the counts of its passages and of what rests on them."""

    kind: ChangeKind
    passages: int
    grades: int
    triples: int
    versions: list[str]


class ListedPassage(NamedTuple):
    """A passage in the list behind a count. `block_id` is None before the edition is taken, for a new one."""

    name: str
    former_name: str
    title: str
    text: str
    block_id: int | None
    grades: int
    triples: int


def edition_context(edition: Edition, query: Mapping[str, str]) -> dict[str, Any]:
    """All of the page. `query` are the parameters of its URL: which list is open, how many changes are shown."""
    before = edition.before
    rounds, versions = rounds_on(before.corpus), versions_on(before.corpus)
    project = before.corpus.project
    questions: dict[str, Question[Any]] = {
        "live": live_question(project),
        "decided": decided_question(before.corpus),
        "stays": stays_question(before, rounds),
        "pace": pace_question(project),
        "has_guideline": Question({"any": Exists(guidelines_in(project))}, lambda found: bool(found["any"])),
        "as_before": as_before_question(project, rounds),
    }
    if edition.after is not None:
        questions |= {"taken": taken_question(edition.after), "to_run": to_run_question(before, edition.after)}
    asked = answer_to(project, joined(questions))
    frozen = [version for version in versions if not version.is_draft]
    usage = usage_of(edition, rounds, asked["live"], frozen)
    resting = resting_versions(frozen, usage, edition.kinds)
    ranked = ranked_changes(edition, usage)
    rest = Choice.CARRY if query.get("all") == Choice.CARRY else None
    weighty = [each for each in ranked if _has_grades(edition, usage, each)]
    shown = ranked[: _shown(query)]
    compared = list(dict.fromkeys([*weighty, *shown]))
    edition.read(compared, edition.of(ChangeKind.NEW))
    passages = changed_passages(edition, usage, compared, asked["decided"])
    choices = choices_of(passages, {}, rest)
    shown_passages = passages_in_order(passages, shown)
    work = work_of(edition, usage, choices)
    rows = _rows(edition, usage, resting)
    return {
        "edition": edition,
        "rows": rows,
        "changes": [(passage, choices[passage.old.pk] == Choice.CARRY) for passage in shown_passages],
        "any_decided": any(passage.decided for passage in passages),
        "changes_total": len(ranked),
        "changed": next(row for row in rows if row.kind == ChangeKind.CHANGED),
        "next_shown": _shown(query) + SHOWN,
        "rest": rest,
        "work": work,
        "stays": asked["stays"],
        "versions": [each.version for each in resting if each.kinds],
        "drafts": [version for version in versions if version.is_draft],
        "list": _open_list(edition, usage, query),
        **_round(asked["as_before"], work, asked["pace"], has_guideline=asked["has_guideline"]),
        "taken": asked.get("taken"),
        "to_run": asked.get("to_run"),
        **_made(asked.get("taken"), rounds),
    }


def _made(taken: TakenEdition | None, rounds: Iterable[Round]) -> dict[str, Any]:
    """What came of an edition that was taken: the rounds, which are among those of the corpus, and the pool."""
    if taken is None:
        return {}
    by_key: dict[int | None, Round] = {round_.pk: round_ for round_ in rounds}
    made = by_key.get(taken.after["round"])
    return {
        "made_round": made,
        "made_pool": made.pool if made else Pool.objects.filter(pk=taken.after["pool"]).first(),
        "carried_round": by_key.get(taken.after["carried_round"]),
    }


def passages_in_order(passages: Sequence[ChangedPassage], shown: Sequence[PassageChange]) -> list[ChangedPassage]:
    by_name = {passage.change.name: passage for passage in passages}
    return [by_name[change.name] for change in shown]


def _has_grades(edition: Edition, usage: Usage, change: PassageChange) -> bool:
    return edition.old_of(change).version_id in usage.grades


def _shown(query: Mapping[str, str]) -> int:
    wanted = query.get("changes", "")
    return min(int(wanted), MOST_SHOWN) if wanted.isdecimal() and len(wanted) < 6 else SHOWN


def _rows(edition: Edition, usage: Usage, resting: Sequence[RestingVersion]) -> list[KindRow]:
    several = len({each.version.gold_set_id for each in resting}) > 1
    rows = []
    for kind in ChangeKind:
        labels = [_label(each, several) for each in resting if kind in each.kinds]
        grades = sum(len(found) for version, found in usage.grades.items() if _kind(edition, version) == kind)
        triples = {pk for version, found in usage.triples.items() if _kind(edition, version) == kind for pk in found}
        rows.append(KindRow(kind, edition.counts[kind], grades, len(triples), labels))
    return rows


def _label(resting: RestingVersion, several: bool) -> str:
    return str(resting.version) if several else resting.version.label


def _kind(edition: Edition, version: int) -> ChangeKind:
    return edition.kinds.get(version, ChangeKind.SAME)


def _round(as_before: RoundAsBefore[str], work: Work, pace: Pace, *, has_guideline: bool) -> dict[str, Any]:
    """The round that would be made, its people, and how long it takes one person."""
    pairs = len(work.to_judge)
    judgements = as_before.plan(0).preview(pairs).judgements
    share = judgements / pairs if pairs else 1
    time = TimePerPair(pace.low * share, pace.high * share)
    return {
        "former_round": as_before.former,
        "people": as_before.people,
        "round_refusal": rules.round_refusal(has_guideline=has_guideline, people=len(as_before.people)),
        "time": time.of(pairs),
        "time_per_pair": time,
    }


def _open_list(edition: Edition, usage: Usage, query: Mapping[str, str]) -> dict[str, Any] | None:
    """The list behind a count: the kind and what of it, with one page of its rows."""
    kind, of = query.get("show", ""), query.get("of", "passages")
    if kind not in ChangeKind.values or of not in LISTS:
        return None
    chosen = ChangeKind(kind)
    build = {"passages": _passages, "grades": _pairs, "triples": _triples}[of]
    page, rows = build(edition, usage, chosen, query.get("page", ""))
    return {"kind": chosen, "of": of, "page": page, "rows": rows}


def _passages(edition: Edition, usage: Usage, kind: ChangeKind, number: str) -> tuple[Any, list[ListedPassage]]:
    if kind == ChangeKind.SAME:
        return _same_passages(edition, usage, number)
    page = Paginator(edition.of(kind), PAGE_SIZE).get_page(number)
    changes: list[PassageChange] = list(page)
    old = {change: edition.old_of(change) for change in changes if change.before is not None}
    versions = BlockVersion.objects.in_bulk([passage.version_id for passage in old.values()])
    texts = edition.new_texts([change.name for change in changes if change not in old])
    rows = []
    for change in changes:
        passage = old.get(change)
        text: Any = versions[passage.version_id] if passage else texts[change.name]
        former = change.before.name if change.before and change.before.name != change.name else ""
        stored = passage or edition.new.get(change.name)
        block = stored.block_id if stored else None
        rows.append(
            ListedPassage(change.name, former, text.title, text.text, block, *_counts(usage, passage and passage[1]))
        )
    return page, rows


def _same_passages(edition: Edition, usage: Usage, number: str) -> tuple[Any, list[ListedPassage]]:
    entries = edition.before.entries.exclude(version__in=list(edition.kinds)).order_by("position")
    page = Paginator(entries.select_related("version", "block"), PAGE_SIZE).get_page(number)
    rows = [
        ListedPassage(
            entry.block.outside_id,
            "",
            entry.version.title,
            entry.version.text,
            entry.block_id,
            *_counts(usage, entry.version_id),
        )
        for entry in page
    ]
    return page, rows


def _counts(usage: Usage, version: int | None) -> tuple[int, int]:
    if version is None:
        return 0, 0
    return len(usage.grades.get(version, ())), len(usage.triples.get(version, ()))


def _pairs(edition: Edition, usage: Usage, kind: ChangeKind, number: str) -> tuple[Any, list[dict[str, Any]]]:
    """Judged pairs by query and passage, without their grades: whoever still judges may see this."""
    versions = {version for version in usage.grades if _kind(edition, version) == kind}
    names = BlockVersion.objects.filter(pk__in=versions).values_list("block__outside_id", "pk", "block_id")
    pairs = sorted((query, *found) for found in names for query in usage.grades[found[1]])
    page = Paginator(pairs, PAGE_SIZE).get_page(number)
    queries = Query.objects.in_bulk({query for query, *_ in page})
    rows = [{"query": queries[query], "name": name, "block_id": block} for query, name, _, block in page]
    return page, rows


def _triples(edition: Edition, usage: Usage, kind: ChangeKind, number: str) -> tuple[Any, list[Triple]]:
    found = {pk for version, own in usage.triples.items() if _kind(edition, version) == kind for pk in own}
    page = Paginator(sorted(found), PAGE_SIZE).get_page(number)
    triples = Triple.objects.select_related("current").in_bulk(list(page))
    return page, [triples[pk] for pk in page]

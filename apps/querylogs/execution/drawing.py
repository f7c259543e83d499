"""From the file of a search log to what its page shows, and to the queries that are offered."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.accounts.models import Project
from apps.common.database.bulk import chunks
from apps.common.errors import InputError
from apps.common.text.wording import plural
from apps.common.text.words import words_of
from apps.corpus.core.documents import AS_DATA, HEADINGS_FIRST
from apps.corpus.core.table_plans import STOP, TableMessage, TableView
from apps.corpus.models import Block, Document, Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import snapshots_in
from apps.corpus.selectors.import_kinds import FileToImport, SettledChoice, settled_choice
from apps.corpus.selectors.search import words_found
from apps.metrics.by_text.index import RUN
from apps.queries.core.masking import MASK, Names, mask
from apps.queries.selectors import live_queries
from apps.querylogs.core.columns import (
    CLICKS,
    CONVERSATION,
    COUNT,
    HOW,
    MILLISECONDS,
    OBJECT,
    PASSAGES,
    PERSON,
    RESULTS,
    ROLES,
    SYSTEM,
    TEXT,
    TIME,
    Search,
)
from apps.querylogs.core.sampling import (
    Floats,
    Ints,
    Population,
    SamplePlan,
    as_rows,
    by_wording,
    draw,
    plan_sample,
    share_alike,
)
from apps.querylogs.enums import LEAST_PEOPLE, USUAL_PEOPLE, Plan
from apps.querylogs.execution.reading import (
    FEWEST_CLICKING,
    Codes,
    Groups,
    Reading,
    Wording,
    clicked_documents,
    histories,
    read_log,
    wordings,
)
from apps.querylogs.formats.logs import LogTable, open_log
from apps.querylogs.formats.traces import NO_TEXT, Results
from apps.querylogs.models import MaskedName, OfferedQuery
from apps.retrieval.execution.passage_location import open_texts

KIND = "log"
SHORT = 3
"""Words of so few letters are never in doubt."""
MOST_COUNTED = 2**31 - 1
"""The largest count that a row of the database has."""
HEADED = {HEADINGS_FIRST: True, AS_DATA: False}
Progress = Callable[[int], None]


class Drawn(NamedTuple):
    """The offered queries without their log, and the figures of the log."""

    offered: list[OfferedQuery]
    figures: dict[str, Any]


class _Opened(NamedTuple):
    table: LogTable
    settled: SettledChoice
    columns: list[str]


def names_of(project: Project) -> Names:
    """The names that every log of the project has masked."""
    return Names(MaskedName.objects.filter(project=project).values_list("name", flat=True))


def _opened(file: FileToImport) -> _Opened:
    """The log with the roles of its columns. Raises InputError, without any value of the file."""
    file.source.rewind()
    try:
        table = open_log(
            file.source, names_of(file.project), has_headings=HEADED.get(file.options.get("first_row", ""))
        )
        settled = settled_choice(
            file.project, KIND, ROLES, table.headings, table.sample, file.options, known=table.known
        )
    except InputError as error:
        raise InputError(error.file, error.line, "", "", error.message) from None
    return _Opened(table, settled, [settled.choice.columns[heading] for heading in table.headings])


def preview_log(file: FileToImport, progress: Progress) -> tuple[TableView, dict[str, Any]]:
    """The table with its first rows as they would be kept, and the figures of the log. Nothing else leaves the file."""
    opened = _opened(file)
    view = TableView(
        how=opened.table.how,
        headings=opened.table.headings,
        roles=ROLES,
        choice=opened.settled.choice,
        hows={heading: HOW[role] for heading, role in opened.settled.choice.columns.items() if role},
        is_remembered=opened.settled.is_remembered,
    )
    if TEXT not in opened.columns:
        view.messages.append(TableMessage(STOP, "Choose the column of the queries."))
        return view, {}
    codes = Codes(names_of(file.project))
    reading = read_log(opened.table, opened.columns, codes, progress)
    view.rows = reading.rows
    view.sample = _shown_rows(reading.samples, opened.columns)
    groups = reading.groups
    return view, _counts(reading, opened) | _returned(file.project, reading, opened.table.results) | {
        "rows": as_rows(groups.searches, groups.people, groups.outcomes, LEAST_PEOPLE),
        "examples": reading.examples,
    }


def _counts(reading: Reading, opened: _Opened) -> dict[str, Any]:
    columns = opened.columns
    return {
        "unused": dict(opened.table.left_out)
        | ({NO_TEXT: nameless} if (nameless := opened.table.results.nameless) else {}),
        "searches": reading.searches,
        "left_out": {**reading.left_out._asdict(), "total": reading.left_out.total},
        "queries": len(reading.groups.codes),
        "masked": dict(reading.masked),
        "masked_searches": reading.masked_searches,
        "has_people": PERSON in columns,
        "has_times": TIME in columns,
        "has_results": RESULTS in columns,
    }


BEGINNING, SHOWN_MISSING, FIRST = 60, 7, 5


def _returned(project: Project, reading: Reading, results: Results) -> dict[str, Any]:
    """What systems returned: the runs that it would be, the conversations, and how much of it is in the documents."""
    rankings = reading.rankings
    if not len(rankings.lists):
        return {}
    runs = []
    for number, name in enumerate(rankings.names):
        inside = (rankings.systems == number) & (rankings.queries >= 0)
        times = rankings.milliseconds[inside & ~np.isnan(rankings.milliseconds)]
        longest = max((len(results.listed(one)) for one in rankings.lists[inside].tolist()), default=0)
        runs.append(
            {
                "name": name,
                "queries": len(np.unique(rankings.queries[inside])),
                "depth": longest,
                "median": float(np.median(times)) if len(times) else None,
                "times": len(times),
            }
        )
    lengths = [len(searches) for searches in reading.kept.conversations()]
    follows = sum(lengths) - len(lengths)
    conversations = {"conversations": len(lengths), "searches": sum(lengths), "follow": follows}
    return {"runs": runs, "conversations": conversations, "located": _located_figures(project, reading, results)}


def _located_figures(project: Project, reading: Reading, results: Results) -> dict[str, Any]:
    """How many of the different passages are in the newest documents, by their id or their text, and which are not.

    Of those that are not, only such are shown that were returned for queries of USUAL_PEOPLE people, masked.
    """
    snapshot = newest_snapshot(project)
    if snapshot is None:
        return {"snapshot": None, "total": len(results)}
    by_id, by_text = located_in(snapshot, results)
    lost = ~(by_id | by_text)
    weight = np.zeros(len(results), np.int64)
    rankings, asked = reading.rankings, reading.groups.people >= USUAL_PEOPLE
    seen = set[tuple[int, int]]()
    for query, number in zip(rankings.queries.tolist(), rankings.lists.tolist(), strict=True):
        if query >= 0 and asked[query]:
            for one in results.listed(number)[:FIRST]:
                if lost[one] and (query, one) not in seen:
                    seen.add((query, one))
                    weight[one] += 1
    names = names_of(project)
    missing = []
    for number in np.argsort(-weight, kind="stable")[:SHOWN_MISSING].tolist():
        if weight[number]:
            text = results.passage(number).text
            begins = mask(" ".join(text.split())[:MASKED], names).text[:BEGINNING]
            reason = "not in your documents" if text else "id of no passage, no text sent"
            if text and len(words_of(text)) < RUN:
                reason = "too short to tell"
            missing.append({"begins": begins, "reason": reason, "queries": int(weight[number])})
    no_text = sum(not results.passage(number).text for number in np.flatnonzero(lost).tolist())
    return {
        "snapshot": snapshot.pk,
        "name": snapshot.name,
        "total": len(results),
        "by_id": int(by_id.sum()),
        "by_text": int((by_text & ~by_id).sum()),
        "lost": int(lost.sum()),
        "no_text": no_text,
        "missing": missing,
    }


MASKED = 2_000
"""Letters of a passage that are masked to show how it begins: what is masked may be longer than what is shown."""


def newest_snapshot(project: Project) -> Snapshot | None:
    """The snapshot that was frozen last, in which returned passages are located."""
    snapshot: Snapshot | None = snapshots_in(project).order_by("-pk").first()
    return snapshot


def located_in(snapshot: Snapshot, results: Results) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each different passage whether the snapshot has its id, and whether it has its text."""
    by_id, by_text = np.zeros(len(results), bool), np.zeros(len(results), bool)
    index = None
    for part in chunks(enumerate(results.passages()), TEXTS_AT_ONCE):
        ids = {one.id for _, one in part if one.id}
        known = set(blocks_known(snapshot, ids))
        texts = [(number, one.text) for number, one in part if one.id not in known and one.text]
        by_id[[number for number, one in part if one.id in known]] = True
        if texts:
            index = index or open_texts(snapshot)
            by_text[[number for number, _ in texts]] = index.locate([text for _, text in texts]).is_located
    return by_id, by_text


TEXTS_AT_ONCE = 5_000


def _shown_rows(samples: Sequence[tuple[str, Search]], columns: Sequence[str]) -> list[list[str]]:
    """Some searches as they would be kept: people by numbers of this page, the week instead of the time."""
    people: dict[str, int] = {}
    return [
        [_shown(role, text, search, people) if role else "not read" for role in columns] for text, search in samples
    ]


def _shown(role: str, text: str, search: Search, people: dict[str, int]) -> str:
    week = week_of(search.time or 0)
    return {
        TEXT: text,
        PERSON: f"person {people.setdefault(search.person, len(people) + 1)}" if search.person else "unknown",
        TIME: f"week of {week:%-d %b}" if week else "unknown",
        RESULTS: "unknown" if search.results < 0 else f"{search.results:,}",
        CLICKS: f"{search.clicks:,}",
        OBJECT: plural(len(search.objects), "document") if search.objects else "none",
        COUNT: f"{search.times:,}",
        CONVERSATION: "joined" if search.conversation else "none",
        SYSTEM: "a name" if search.system else "none",
        PASSAGES: "a list" if search.passages else "none",
        MILLISECONDS: "unknown" if search.milliseconds is None else f"{search.milliseconds:,.0f}",
    }.get(role, "not kept")


def week_of(seconds: int) -> date | None:
    """The Monday of the week of a time; None for 0, no time."""
    if not seconds:
        return None
    day = datetime.fromtimestamp(seconds, UTC).date()
    return day - timedelta(days=day.weekday())


class Sampled(NamedTuple):
    """The queries drawn: their places among the groups of the reading, each with its chance, stratum and words."""

    plan: SamplePlan
    places: Ints
    chances: Floats
    strata: Ints
    words: dict[int, Wording]


def drawn_from(
    reading: Reading,
    again: LogTable,
    columns: Sequence[str],
    codes: Codes,
    *,
    least: int,
    wanted: int,
    plan: Plan,
    seed: int,
) -> Sampled:
    """Draw from a log that was read with these codes; `again` is the same log, for the words of its queries."""
    groups = reading.groups
    asked = np.flatnonzero(groups.people >= least)
    population = Population(groups.searches[asked], groups.outcomes[asked], np.ones(len(asked), np.int64))
    sample = plan_sample(population, wanted, plan)
    own = groups.codes[asked].tolist()
    words = wordings(again, columns, codes, own)
    order = []
    for number, stratum in enumerate(sample.strata):
        inside = np.flatnonzero(sample.memberships == number)
        order.append(inside[by_wording([words[own[at]].text for at in inside], stratum.places, seed)])
    drawn = draw(sample.chances, sample.memberships, order, seed)
    return Sampled(sample, asked[drawn], sample.chances[drawn], sample.memberships[drawn], words)


def draw_log(file: FileToImport, progress: Progress = lambda done: None) -> Drawn:
    """Read the log and draw from it. Raises InputError where no column has the queries.

    The same file, options and list of names draw the same queries.
    """
    options, opened = file.options, _opened(file)
    columns = opened.columns
    if TEXT not in columns:
        raise file.source.error(None, "", "", "Choose the column of the queries.")
    codes = Codes(names_of(file.project))
    reading = read_log(opened.table, columns, codes, progress)
    sample = drawn_from(
        reading,
        opened.table._replace(rows=opened.table.again()) if opened.table.again else _opened(file).table,
        columns,
        codes,
        least=options["people"],
        wanted=options["wanted"],
        plan=Plan(options["plan"]),
        seed=options["seed"],
    )
    found = [sample.words[code] for code in reading.groups.codes[sample.places].tolist()]
    doubts = _doubts(file.project, [wording.text for wording in found])
    documents = _known_documents(file.project) if OBJECT in columns else set()
    fewest = FEWEST_CLICKING if PERSON in columns else 1
    clicked = clicked_documents(reading, sample.places, codes, documents, least=fewest)
    returned = _returned_for(
        file.project, reading, opened.table.results, sample.places, with_links=options.get("grades_back", False)
    )
    before = histories(reading, sample.places.tolist(), least=options["people"])
    offered = [
        OfferedQuery(
            position=number + 1,
            text=wording.text,
            masks=list(wording.masks),
            spellings=wording.spellings,
            doubts=doubts[number],
            clicked=[document for document, _ in by_clicks],
            chance=float(sample.chances[number]),
            returned=returned.get(int(sample.places[number]), {}),
            history=_history(reading, sample, before.get(int(sample.places[number]), ())),
            **_stratum(sample, number),
            **_counted(reading.groups, int(sample.places[number])),
        )
        for number, (wording, by_clicks) in enumerate(zip(found, clicked, strict=True))
    ]
    figures = _counts(reading, opened) | {"strata": strata_json(sample.plan)}
    if options.get("grades_back"):
        figures["grades_back"] = True
    return Drawn(offered, figures | {"alike": _alike(file.project, sample, reading.groups, options["people"])})


def _history(reading: Reading, sample: Sampled, before: Sequence[int]) -> list[str]:
    """The masked words of the queries before; none where one of them was asked by too few people to be kept."""
    words = [sample.words.get(int(reading.groups.codes[place])) for place in before if place >= 0]
    return [one.text for one in words if one] if all(words) and len(words) == len(before) else []


def _returned_for(
    project: Project, reading: Reading, results: Results, places: Ints, *, with_links: bool
) -> dict[int, dict[str, dict[str, Any]]]:
    """What each system returned last for the drawn queries, as it is kept: known ids, and masked texts.

    `with_links`: with the ids of trace and span, and where each passage stood in the list there.
    """
    rankings, names = reading.rankings, names_of(project)
    chosen = np.flatnonzero(np.isin(rankings.queries, places))
    last: dict[tuple[int, int], int] = {}
    for row in chosen[np.argsort(rankings.times[chosen], kind="stable")].tolist():
        last[int(rankings.queries[row]), int(rankings.systems[row])] = row
    wanted = {one for row in last.values() for one in results.listed(int(rankings.lists[row]))}
    known = _known_documents(project) if wanted else set()
    kept: dict[int, dict[str, str]] = {}
    for number in wanted:
        name, text, _ = results.passage(number)
        kept[number] = ({"id": name} if name in known else {}) | ({"text": mask(text, names).text} if text else {})
    found: dict[int, dict[str, dict[str, Any]]] = {}
    for (query, system), row in last.items():
        number = int(rankings.lists[row])
        passages = [kept[one] for one in results.listed(number)]
        took = float(rankings.milliseconds[row])
        told = found.setdefault(query, {})[rankings.names[system]] = {
            "passages": [one for one in passages if one],
            "unknown": sum(not one for one in passages),
            "milliseconds": None if np.isnan(took) else took,
        }
        if with_links and (link := results.link(number)):
            there = [place for one, place in zip(passages, results.places(number), strict=True) if one]
            told |= {**link._asdict(), "places": there}
    return found


def _alike(project: Project, sample: Sampled, groups: Groups, least: int) -> float | None:
    """The share of the searches that are like a query of the project, of those that enough people made."""
    asked = groups.people >= least
    texts = [sample.words[code].text for code in groups.codes[asked].tolist()]
    known = list(live_queries(project).values_list("text", flat=True))
    return share_alike(texts, groups.searches[asked], known)


def _stratum(sample: Sampled, number: int) -> dict[str, Any]:
    stratum = sample.plan.strata[int(sample.strata[number])]
    return {"band": stratum.band, "outcome": stratum.outcome}


def _counted(groups: Groups, place: int) -> dict[str, Any]:
    """What is counted of a query, by the names of its fields."""
    names = ("searches", "people", "nothing", "again", "clicks")
    weeks = {"first_week": week_of(int(groups.first[place])), "last_week": week_of(int(groups.last[place]))}
    return {name: min(MOST_COUNTED, int(getattr(groups, name)[place])) for name in names} | weeks


def _doubts(project: Project, texts: Sequence[str]) -> list[list[str]]:
    """For each text the words that no passage of the project has; none where nothing is frozen yet."""
    words = [
        [word for word in words_of(MASK.sub(" ", text)) if len(word) > SHORT and not word.isdecimal()] for text in texts
    ]
    known = words_found(project, sorted({word for own in words for word in own}))
    return [[word for word in own if word not in known] for own in words] if known else [[] for _ in words]


def strata_json(plan: SamplePlan) -> list[dict[str, Any]]:
    return [{**one._asdict(), "chances": list(one.chances)} for one in plan.strata]


def blocks_known(snapshot: Snapshot, ids: Iterable[str]) -> Iterator[str]:
    """Those of the ids that are of passages of the snapshot."""
    for part in chunks(ids, IDS_AT_ONCE):
        rows = SnapshotBlock.objects.filter(snapshot=snapshot, block__outside_id__in=part)
        yield from rows.values_list("block__outside_id", flat=True)


IDS_AT_ONCE = 500


def _known_documents(project: Project) -> set[str]:
    """The ids of documents and passages of the project: clicks on anything else are no hint."""
    documents = Document.objects.filter(corpus__project=project).values_list("outside_id", flat=True)
    blocks = Block.objects.filter(corpus__project=project).values_list("outside_id", flat=True)
    return {*documents.iterator(), *blocks.iterator()}

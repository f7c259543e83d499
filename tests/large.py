"""The set that Karat is for: the demo grown to 2,000 Q&As, 20,000 judged pairs and 20 runs.

The demo brings one thing of each kind that a page shows. Passages, queries, runs, the pool, rounds, versions, scores
and reports are made by the real actions; only grades and accepted Q&As, which would take minutes, are written in bulk.
"""

import itertools
import json
import random
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from django.db import connection
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import Project, User
from apps.common.database.bulk import chunks
from apps.corpus.actions.corpora import freeze_snapshot
from apps.corpus.enums import ImportMode
from apps.corpus.models import Import, Snapshot
from apps.evaluation.actions.scoring import request_evaluations
from apps.evaluation.models import Evaluation
from apps.goldsets.actions.public import log_public_look, prepare_public_release, publish_release, sign_public_release
from apps.goldsets.actions.versions import draft_version, freeze_version, release_version
from apps.goldsets.enums import PublicState, Split
from apps.goldsets.formats.public.files import Order
from apps.goldsets.models import GoldSet, PublicRelease, Version
from apps.judging.actions.rounds import close_round, open_round
from apps.judging.core.plan import Plan
from apps.judging.models import Guideline, Judgement, Round, Seat
from apps.metrics.expected.rules import TEXT
from apps.queries.enums import PermissionScope
from apps.queries.models import Permission, Query, Source
from apps.reports.actions import request_report
from apps.reports.models import BiasReport, StabilityReport
from apps.retrieval.actions.runs import request_run
from apps.retrieval.models import Pool, Run, System
from apps.retrieval.selectors.question_sets import QueryChoice
from apps.review.models import Resolution, ReviewSeat, Verdict
from apps.triples.actions.triples import retire_triple
from apps.triples.enums import RetireReason
from apps.triples.models import AskedRevision, ExpectedBlock, Revision, Triple
from tests.corpus.factories import import_text
from tests.editions.stories import begin_import
from tests.endpoints import ENDPOINTS
from tests.list_pages import LISTS
from tests.retrieval.factories import import_lines, make_pool, make_queries, trec
from tests.running_jobs import run_jobs
from tests.world import ROLE_HOLDERS, ROUTES, Things, World, build_world, latest

AT_ONCE = 1_000
SYLLABLES = ("ar", "chi", "ve", "lo", "ken", "dus", "ti", "gra", "mon", "sel", "pu", "rin")
WORDS = ["".join(parts) for parts in itertools.product(SYLLABLES, repeat=3)]
EVIDENCE = "It is kept for exactly {} days."


class Size(NamedTuple):
    """How many of each; `pairs` and `depth` are those of a query."""

    passages: int = 4_000
    queries: int = 500
    pairs: int = 40
    triples: int = 2_000
    runs: int = 20
    depth: int = 100


FULL = Size()
SMALL = Size(passages=400, queries=40, pairs=20, triples=60, runs=4, depth=40)


class LargeThings(Things):
    """The large one of each kind of which there are several."""

    @cached_property
    def version(self) -> Version:
        return Version.objects.filter(gold_set__project=self.project, state="released").latest("number")

    @cached_property
    def evaluations(self) -> list[Evaluation]:
        return list(Evaluation.objects.filter(version=self.version, hit="", slice=None, split="dev").order_by("pk"))

    finders = Things.finders | {
        "corpus:import pk": latest(Import, kind="corpus"),
        "evaluation:misses pk": lambda its: (
            Evaluation.objects.filter(version=its.version).exclude(hit__in=["", TEXT]).latest("pk").pk
        ),
        "reports:bias pk": latest(BiasReport),
        "reports:stability pk": latest(StabilityReport),
        "retrieval:pool pk": lambda its: Pool.objects.filter(project=its.project).latest("entry_count").pk,
        "retrieval:run pk": latest(Run),
    }


class LargeWorld(World):
    def things(self, project: Project) -> Things:
        return LargeThings(project)


def build_large(size: Size = FULL) -> LargeWorld:
    """Takes a few minutes in full. Needs a database without an open transaction."""
    demo = build_world()
    world = LargeWorld(demo.project, demo.other, demo.people)
    grow(world.project, size)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # as PostgreSQL does by itself after a minute
    return world


def grow(project: Project, size: Size) -> None:
    now, lead = timezone.now(), _person("lead")
    done = {"actor": lead, "at": now}
    texts = {f"L{n:05}": _text(n) for n in range(size.passages)}
    snapshot = _freeze(project, texts, lead)
    names = _queries(project, size)
    runs = [import_lines(project, snapshot, _ranking(names, size, n)).run for n in range(size.runs)]
    pool = make_pool(project, snapshot, name="Large", depth=size.pairs // 2, run_ids=[run.pk for run in runs])
    round_ = _judged(project, pool, lead)
    _write_triples(project, snapshot, size.triples)
    for triple in Triple.objects.filter(project=project, state="accepted", is_stale=True):
        out = {"reason": RetireReason.OUT_OF_SCOPE, "roles": frozenset({"lead"})}
        retire_triple(project=project, triple_id=triple.pk, lead=lead, at=now, **out)
    gold_set = GoldSet.objects.get(project=project)
    for _ in range(2):
        version = draft_version(gold_set_id=gold_set.pk, snapshot=snapshot, rounds=[round_], seed=7, **done)
        freeze_version(version_id=version.pk, **done)
        release_version(version_id=version.pk, **done)
    asked = _ask(project, snapshot, version, lead)
    chosen = [run.pk for run in runs]
    for split in Split.values:
        request_evaluations(project=project, run_ids=chosen, version_id=version.pk, split=split, measures="", **done)
    request_evaluations(
        project=project, run_ids=chosen[:1], version_id=version.pk, split=Split.DEV, hit=TEXT, measures="", **done
    )
    for split in Split.values:
        request_evaluations(
            project=project,
            run_ids=[run.pk for run in asked],
            version_id=version.pk,
            split=split,
            hit="evidence",
            measures="",
            **done,
        )
    analysed = {"project": project, "run_ids": chosen, "version_id": version.pk, **done}
    request_report(kind=BiasReport, **analysed, depth=5)
    request_report(kind=StabilityReport, **analysed)
    _finish()
    draft_version(gold_set_id=gold_set.pk, snapshot=snapshot, rounds=[round_], seed=8, **done)
    _publish(project, version, lead)
    plan = Plan(overlap=0.2, seed=11, judge_again=True)
    guideline = Guideline.objects.filter(project=project).latest("number")
    open_round(project=project, pool=pool, guideline=guideline, annotators=_annotators(project), plan=plan, **done)
    _finish()
    changed = {name: f"{text} It has changed." if n % 10 == 0 else text for n, (name, text) in enumerate(texts.items())}
    begin_import(snapshot.corpus, _lines(changed))


def _finish() -> None:
    assert [job.error for job in run_jobs() if job.state != "done" and job.kind != "retrieval.load"] == []


def _person(role: str) -> User:
    return User.objects.get(email=ROLE_HOLDERS[role])


def _annotators(project: Project) -> list[User]:
    return [User.objects.get(email=f"{name}@tarnwick.example") for name in ("mara", "sef", "ines")]


def _text(number: int) -> str:
    rng = random.Random(number)
    sentences = (f"The {rng.choice(WORDS)} of {' '.join(rng.choices(WORDS, k=8))} is due." for _ in range(6))
    return f"{EVIDENCE.format(number)} {' '.join(sentences)}"


def _lines(texts: dict[str, str]) -> str:
    rows = (
        {"block_id": name, "document_id": f"D{n // 20:04}", "title": f"Chapter {n // 20}", "text": text}
        for n, (name, text) in enumerate(texts.items())
    )
    return "\n".join(map(json.dumps, rows))


def _freeze(project: Project, texts: dict[str, str], lead: User) -> Snapshot:
    corpus = project.corpora.get()
    import_text(corpus, _lines(texts), mode=ImportMode.MERGE)
    return freeze_snapshot(corpus_id=corpus.pk, actor=lead, at=timezone.now(), name="Large")


def _queries(project: Project, size: Size) -> list[str]:
    rng = random.Random(1)
    texts = {f"LQ{n:04}": f"which {' '.join(rng.sample(WORDS, 5))} number {n}" for n in range(size.queries)}
    source = Source.objects.filter(project=project).earliest("pk")
    make_queries(project, texts, label="large", domain="large")
    Query.objects.filter(project=project, outside_id__in=texts).update(source=source)
    return [*texts]


def _ranking(names: list[str], size: Size, run: int) -> Iterator[str]:
    """The best of a query are the same for every run, in another order: together they make up its pool."""
    rows = []
    for number, name in enumerate(names):
        rng = random.Random(number * 1_000 + run)
        best = [(number * size.pairs + place) % size.passages for place in range(size.pairs)]
        rng.shuffle(best)
        rest = [(best[0] + size.pairs + place * 7) % size.passages for place in range(size.depth - size.pairs)]
        places = dict.fromkeys([*best, *rest])
        rows += [(name, f"L{block:05}", float(size.depth - rank)) for rank, block in enumerate(places)]
    return trec(rows, f"large{run}")


def _judged(project: Project, pool: Pool, lead: User) -> Round:
    """Every pair by two people, of which one in fifty differs by a grade, which the round's rule settles."""
    guideline = Guideline.objects.filter(project=project).latest("number")
    people = _annotators(project)
    now = timezone.now()
    round_ = open_round(
        project=project, actor=lead, pool=pool, guideline=guideline, annotators=people, plan=Plan(overlap=1.0), at=now
    )
    _finish()
    seats = list(Seat.objects.filter(round=round_).select_related("entry").order_by("entry", "number"))
    Judgement.objects.bulk_create(
        (
            Judgement(
                round=round_,
                seat=seat,
                entry_id=seat.entry_id,
                annotator=people[_turn(seat, people)],
                grade=_grade(seat),
                guideline=guideline,
                note="It names the day." if seat.entry_id % 10 == 0 else "",
                active_ms=8_000,
                away_ms=0,
                idempotency_key=f"large-{seat.pk}",
                given_at=now,
            )
            for seat in seats
        ),
        batch_size=AT_ONCE,
    )
    for turn, person in enumerate(people):
        for some in chunks([seat.pk for seat in seats if _turn(seat, people) == turn], AT_ONCE):
            # A transaction of its own each: PostgreSQL keeps a lock of every pair in a table of some thousand.
            Seat.objects.filter(pk__in=some).update(annotator=person, state="done")
    return close_round(round_id=round_.pk, actor=lead, at=now)


def _turn(seat: Seat, people: list[User]) -> int:
    return (seat.entry_id + seat.number) % len(people)


def _grade(seat: Seat) -> int:
    usual = (0, 0, 0, 1, 0, 2, 0, 3, 0, 1)[seat.entry_id % 10]
    return min(usual + (seat.entry_id % 50 == 7 and seat.number == 2), 3)


def _write_triples(project: Project, snapshot: Snapshot, count: int) -> None:
    """Accepted Q&As, each confirmed by two, as if written one after the other."""
    now = timezone.now()
    last = Triple.objects.filter(project=project).latest("number").number
    source = Source.objects.filter(project=project).earliest("pk")
    author = User.objects.get(email="jun@tarnwick.example")
    reviewers = [User.objects.get(email=f"{name}@tarnwick.example") for name in ("tobias", "hanna")]
    places = list(snapshot.entries.filter(block__outside_id__startswith="L").order_by("block__outside_id")[:count])
    more = {"project": project, "author": author, "snapshot": snapshot, "source": source}
    times = {"created_at": now, "changed_at": now, "resolved_at": now}
    triples = Triple.objects.bulk_create(
        Triple(number=last + n, state="accepted", round=1, resolution="consensus", domain="large", **more, **times)
        for n in range(1, len(places) + 1)
    )
    rng = random.Random(2)
    revisions = Revision.objects.bulk_create(
        Revision(
            triple=triple,
            number=1,
            author=author,
            snapshot=snapshot,
            question=f"{' '.join(rng.sample(WORDS, 6))} for how many days in case {n}?",
            answer=f"Exactly {n} days.",
            round=1,
            created_at=now,
            saved_at=now,
        )
        for n, triple in enumerate(triples)
    )
    ExpectedBlock.objects.bulk_create(
        ExpectedBlock(revision=revision, version_id=place.version_id, spans=[[0, len(EVIDENCE.format(n))]])
        for n, (revision, place) in enumerate(zip(revisions, places, strict=True))
    )
    for triple, revision in zip(triples, revisions, strict=True):
        triple.current, revision.submitted_at = revision, now
    Triple.objects.bulk_update(triples, ["current"], batch_size=AT_ONCE // 4)
    Revision.objects.bulk_update(revisions, ["submitted_at"], batch_size=AT_ONCE // 4)
    seats = ReviewSeat.objects.bulk_create(
        ReviewSeat(revision=revision, number=n, reviewer=person, opened_at=now, answered_at=now, closed_at=now)
        for revision in revisions
        for n, person in enumerate(reviewers, 1)
    )
    Verdict.objects.bulk_create(
        Verdict(
            revision_id=seat.revision_id,
            seat=seat,
            reviewer_id=seat.reviewer_id,
            choice="confirm",
            reasons=[],
            idempotency_key=f"large-{seat.pk}",
            given_at=now,
        )
        for seat in seats
    )
    asked = {"project": project, "is_asked": True, "created_by": author, "created_at": now, "locked_at": now}
    queries = Query.everything.bulk_create(
        Query(outside_id=triple.label, text=revision.question, **asked)
        for triple, revision in zip(triples, revisions, strict=True)
    )
    AskedRevision.objects.bulk_create(
        AskedRevision(revision=revision, query=query) for revision, query in zip(revisions, queries, strict=True)
    )
    Resolution.objects.bulk_create(
        Resolution(triple=triple, revision=revision, round=1, kind="consensus", resolved_at=now)
        for triple, revision in zip(triples, revisions, strict=True)
    )


def _ask(project: Project, snapshot: Snapshot, version: Version, lead: User) -> list[Run]:
    """Two systems on every question of the version."""
    systems = System.objects.filter(project=project, kind__in=["bm25", "tfidf"]).order_by("pk")[:2]
    choice = QueryChoice(questions=f"{version.gold_set.slug}/{version.label}")
    asked = {"project": project, "snapshot_id": snapshot.pk, "choice": choice, "actor": lead, "at": timezone.now()}
    runs = [request_run(system_id=system.pk, tag=f"large-{system.pk}", **asked) for system in systems]
    _finish()
    return runs


def _publish(project: Project, version: Version, lead: User) -> PublicRelease:
    now = timezone.now()
    Permission.objects.filter(source__project=project).update(scope=PermissionScope.PUBLIC)
    order = Order("Large", "Tarnwick", "CC-BY-4.0", ("dev", "test"))
    release = prepare_public_release(version_id=version.pk, order=order, actor=lead, at=now)
    _finish()
    other = next(each.user for each in project.memberships.filter(role="lead", ended_at=None) if each.user != lead)
    log_public_look(release=PublicRelease.objects.get(pk=release.pk), actor=other, at=now)
    sign_public_release(release_id=release.pk, actor=other, at=now)
    _finish()
    publish_release(release_id=release.pk, actor=lead, at=now)
    _finish()
    release.refresh_from_db()
    assert release.state == PublicState.RELEASED
    return release


class Page(NamedTuple):
    """A page as somebody opens it. `name` is that of its address, with what is chosen on it."""

    name: str
    standing: str
    url: str


def pages(world: World) -> Iterator[Page]:
    """Every address that answers to GET, once for each standing that may look, and what else the largest lists show."""
    for standing in ("lead", "annotator", "reviewer", "viewer", "operator"):
        for name in ROUTES:
            if standing in (ENDPOINTS[name].get or ()):
                yield Page(name, standing, world.url(name))
        if standing == "lead":
            yield from (Page(name, standing, url) for name, url in _more(world))


def _more(world: World) -> Iterator[tuple[str, str]]:
    project = world.project
    for title, (name, query) in LISTS.items():
        yield f"{title} ({name})", reverse(name, args=[project.slug]) + query
    draft = Version.objects.filter(gold_set__project=project, state="draft").latest("number")
    former = Version.objects.filter(gold_set__project=project, state="released").latest("number")
    for version in (draft, former):
        place = {"slug": project.slug, "gold_set": version.gold_set.slug, "number": version.number}
        yield f"{version.state} version", reverse("goldsets:version", kwargs=place)
    for split, kind in itertools.product(Split.values, ("queries", "pairs", "triples")):
        yield f"items {split} {kind}", reverse("goldsets:items", kwargs=place | {"split": split, "kind": kind})
    for split, hit in itertools.product(Split.values, ("", "evidence")):
        scored = Evaluation.objects.filter(version=former, split=split, hit=hit, slice=None).order_by("pk")
        first, last = scored.first(), scored.last()
        words = f"{split} {hit or 'grades'}"
        yield f"score {words}", reverse("evaluation:evaluation", args=[project.slug, first.pk])
        yield f"comparison {words}", reverse("evaluation:compare", args=[project.slug, first.pk, last.pk])
        board = reverse("evaluation:overview", args=[project.slug])
        yield f"leaderboard {words}", f"{board}?version={former.pk}&split={split}&hit={hit}"

"""How many statements a page sends to the database: the same on both databases, and for many rows as for few.

Each is a trip, and trips are what a page waits for. What opens and ends a transaction does not count; signing in does.
A page takes at most `MOST`, and two more where reading it is put on record or claims what is shown.
"""

from collections.abc import Mapping

import pytest
from django.db import connection, reset_queries
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.corpus.models import Import
from apps.evaluation.actions.scoring import request_evaluation
from apps.goldsets.enums import Split, VersionState
from apps.goldsets.models import Version
from apps.judging.actions.seats import claim_seats
from apps.judging.models import Round
from apps.triples.models import Triple
from tests.editions.stories import as_file, begin_import
from tests.endpoints import ENDPOINTS
from tests.factories import AT, lead_of, make_member
from tests.goldsets.factories import Bench, by_block, make_bench, make_source, make_version
from tests.goldsets.test_training import hashed, question, train
from tests.judging.factories import judge_all, make_round, people_of
from tests.list_pages import LISTS, make_crowded
from tests.retrieval.factories import import_lines, trec
from tests.review.factories import make_in_review, reviewers_of
from tests.running_jobs import run_jobs
from tests.triples.bench_fields import access, fields, row, rows
from tests.triples.bench_fields import url as address
from tests.triples.factories import make_team
from tests.world import ROUTES, World

MOST = 15
ON_RECORD = {
    "evaluation:compare",
    "evaluation-api:compare",
    "reports:comparison",
    "reports-api:comparison",
    "goldsets:export",
    "goldsets:public-preview",
    "goldsets-api:export",
    "goldsets-api:public-preview",
    "judging:judge",
}
CONTROL = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")
VERDICT, VERDICT_AND_NEXT, VERDICT_AGAIN = 14, 21, 13
UNDO, GRADE_AGAIN = 11, 5
AUTOSAVE, AUTOSAVE_OF_OTHER_BLOCKS, FIRST_AUTOSAVE = 12, 14, 17
IS_LOCKING = connection.vendor == "postgresql"
"""Which locks a person's place in a round, and their role, by a statement of its own."""
EXACT = {
    "triples": (7, 7),
    "triples in review": (7, 7),
    "stale triples": (7, 7),
    "my triples": (6, 6),
    "candidates": (5, 5),
    "my work": (15, 12),
    "the board": (15, 15),
    "stale, by age": (5, 5),
    "agreement": (8, 8),
    "agreement by query": (7, 7),
    "what to tighten": (7, 7),
    "pairs people differ on": (6, 6),
    "annotators": (7, 7),
    "quality log": (9, 9),
    "flag rates": (7, 7),
    "calibrations": (8, 8),
    "notifications": (9, 8),
    "home": (12, 12),
    "triples over the API": (5, 5),
    "my reviews over the API": (4, 0),
}
"""Statements of each list, for a person with every role and for a lead without a part; 0 where a lead may not look."""


class Statements(CaptureQueriesContext):
    def __init__(self) -> None:
        super().__init__(connection)

    def __enter__(self) -> "Statements":
        reset_queries()  # what Django remembers of them is limited, and a full log grows no longer
        return super().__enter__()

    def __exit__(self, *raised) -> None:
        super().__exit__(*raised)
        self.number = sum(not (query["sql"] or "").startswith(CONTROL) for query in self.captured_queries)


def statements_of(client: Client, url: str) -> int:
    """What the page takes once its figures are computed; 0 for somebody who may not look."""
    client.get(url)
    with Statements() as found:
        status = client.get(url).status_code
    return found.number if status == 200 else 0


def of_lists(project: Project, people: list[User]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for person in people:
        client = Client()
        client.force_login(person)
        for title, (name, query) in LISTS.items():
            url = reverse(name, args=[project.slug]) + query
            found[title] = (*found.get(title, ()), statements_of(client, url))
    return found


@pytest.mark.django_db
@pytest.mark.parametrize("size", [1, 2])
def test_home_and_each_list_take_exactly_these(size):
    assert of_lists(*make_crowded(size)) == EXACT


@pytest.mark.django_db
@pytest.mark.parametrize("waiting", [2, 6])
def test_a_verdict_takes_exactly_these_however_many_wait(waiting):
    project, client = make_team(), Client()
    triples = [make_in_review(project) for _ in range(waiting)]
    client.force_login(reviewers_of(triples[0])[0])

    def sent(triple, **more) -> int:
        url = reverse("review:verdict", args=[project.slug, triple.pk])
        body = {"revision": triple.current_id, "key": f"k{triple.pk}{more}", "choice": "confirm", **more}
        with Statements() as found:
            assert client.post(url, body).status_code == (200 if "straight" in more else 302)
        return found.number

    assert sent(triples[0], straight="1") == VERDICT_AND_NEXT + IS_LOCKING
    assert sent(triples[1]) == VERDICT + IS_LOCKING
    assert sent(triples[1], note="On second thoughts.") == VERDICT_AGAIN + IS_LOCKING


@pytest.mark.django_db
@pytest.mark.parametrize("blocks", [12, 24])
def test_undoing_a_grade_takes_exactly_these_however_many_are_left(blocks):
    round_, client = make_round(queries=1, blocks=blocks, annotators=1, overlap=0.0, at=timezone.now()), Client()
    (person,) = people_of(round_)
    client.force_login(person)
    seats = [seat.pk for seat in claim_seats(round_=round_, annotator=person, n=10, at=timezone.now())]

    def grade(seat: int, grade: int) -> None:
        body = {"seat": seat, "grade": grade, "idempotency_key": f"k{seat}-{grade}"}
        url = reverse("judging-api:judgements", args=[round_.project.slug, round_.pk])
        assert client.post(url, body, content_type="application/json").status_code == 201

    for seat in seats[:2]:
        grade(seat, 1)
    screen = reverse("judging:judge", args=[round_.project.slug, round_.pk])

    assert statements_of(client, f"{screen}?seat={seats[1]}") == UNDO + IS_LOCKING
    with Statements() as found:
        grade(seats[1], 2)
    assert found.number == GRADE_AGAIN + IS_LOCKING


@pytest.mark.django_db
def test_saving_the_bench_in_the_background_takes_exactly_these():
    project, client = make_team(), Client()
    author = make_member(project, Role.ANNOTATOR)
    client.force_login(author)

    def saved(triple: Triple | None, **sent) -> int:
        url = address("autosave", project, triple.pk) if triple else address("autosave-new", project)
        body = fields(project, **sent)
        with Statements() as found:
            assert client.post(url, body).status_code == 200
        return found.number

    assert saved(None) == FIRST_AUTOSAVE
    triple = Triple.objects.get()
    assert saved(triple, answer="Eight hours.", seen_version=1) == AUTOSAVE
    other = rows(row(access(project), spans="[[0, 5]]"))
    assert saved(triple, **other, seen_version=2) == AUTOSAVE_OF_OTHER_BLOCKS


OF_A_VERSION = (
    "goldsets:version",
    "goldsets:export",
    "goldsets:public",
    "reports:version",
    "reports:negatives",
    "editions:import",
)


def make_version_of(size: int) -> tuple[Version, Import]:
    """A released version and an import of its corpus, with `size` of whatever stands around them.

    That is: queries, Q&As, sources, rounds, versions before it, runs, scores on each split, and training manifests.
    """
    bench = make_bench(queries=6 * size, triples=size)
    for n in range(size):
        make_source(bench.project, f"Source {n}")
    rounds = [bench.round, *(_judged_round(bench) for _ in range(size - 1))]
    for _ in range(size):
        version = make_version(VersionState.RELEASED, bench, rounds=rounds)
    blocks = list(bench.snapshot.entries.values_list("block__outside_id", flat=True))
    names = version.queries.values_list("outside_id", flat=True)
    rows = [(name, block, 9.0 - place) for name in names for place, block in enumerate(blocks)]
    for n in range(size):
        run = import_lines(bench.project, bench.snapshot, trec(rows, f"run{n}")).run
        asked = {"run_id": run.pk, "version_id": version.pk, "actor": bench.lead, "at": AT}
        for split in Split.values:
            request_evaluation(project=bench.project, split=split, **asked)
        train(bench, question(f"elsewhere {n}"), hashed(f"words {n}"), name=f"Ranker {n}")
    run_jobs()
    return version, begin_import(bench.snapshot.corpus, as_file({block: f"Text {block}." for block in blocks}))


def _judged_round(bench: Bench) -> Round:
    round_ = make_round(bench.project, pool=bench.pool, annotators=2, overlap=1.0, judge_again=True)
    for place in round_.annotators.select_related("annotator").order_by("pk"):
        judge_all(round_, place.annotator, by_block, note="So.")
    return round_


def too_many(statements: Mapping[str, int]) -> dict[str, int]:
    return {name: number for name, number in statements.items() if number > MOST + 2 * (name in ON_RECORD)}


@pytest.mark.slow
@pytest.mark.django_db
def test_the_pages_of_a_version_take_as_many_statements_for_four_of_everything_as_for_two():
    """For somebody who may see all of it. Grades are read for an export by some thousand at a time."""
    found = []
    for size in (2, 4):
        version, item = make_version_of(size)
        gold_set = version.gold_set
        client = Client()
        client.force_login(lead_of(gold_set.project))
        of_version, by_key = [gold_set.slug, version.number], [version.pk]
        arguments = {"goldsets": of_version, "reports": by_key, "editions": [item.pk]}
        urls = {
            name: reverse(name, args=[gold_set.project.slug, *arguments[name.split(":")[0]]]) for name in OF_A_VERSION
        }
        found.append({name: statements_of(client, url) for name, url in urls.items()})

    assert found[0] == found[1]
    assert too_many(found[1]) == {}
    assert 0 not in found[1].values()


def most_of_anybody(world: World) -> dict[str, int]:
    """The most statements that anybody's reading of a page takes, by the name of the page."""
    most: dict[str, int] = {}
    for standing, asker in world.askers.items():
        for name in ROUTES:
            if standing not in (ENDPOINTS[name].get or ()):
                continue
            url = world.url(name)
            asker.answer("get", url, whole=True)
            with Statements() as found:
                asker.answer("get", url, whole=True)
            most[name] = max(most.get(name, 0), found.number)
    return most


@pytest.mark.slow
@pytest.mark.django_db
def test_every_page_of_the_demo_takes_at_most_fifteen(world):
    assert too_many(most_of_anybody(world)) == {}

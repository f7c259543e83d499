"""Who is asked about a question learns from no page, file or answer what systems returned for it."""

from copy import deepcopy

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.enums import Role
from apps.evaluation.actions.comparisons import DecisionRefused, decide_drop
from apps.goldsets.enums import VersionState
from apps.goldsets.models import VersionQuery
from apps.queries.models import Query
from apps.retrieval.selectors import blinding
from apps.retrieval.selectors.blinding import Hidden
from apps.review.models import CandidateBlock
from apps.triples.selectors.triples import asked_queries
from tests.evaluation.factories import make_scene
from tests.evaluation.factories import score as score_by_grades
from tests.evaluation.hits import places, run_that, score
from tests.factories import AT, lead_of, make_member
from tests.goldsets.factories import make_bench, make_version
from tests.review.candidates import member
from tests.review.candidates import say as say_also_right

pytestmark = pytest.mark.django_db
MEASURES = "RR Success@1 P@2"
API = "/api/v1/projects"


class World:
    """Three questions on which two runs differ; `label` is the one about which `asked` is asked, `free` is not."""

    def __init__(self):
        self.version = make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)
        self.project = self.version.gold_set.project
        runs = {"base": (3, 1, 2), "other": (2, 2, 1)}
        self.runs = [run_that(self.version, tag, places(self.version, *ranks)) for tag, ranks in runs.items()]
        self.pair = [score(self.version, run, measures=MEASURES) for run in self.runs]
        self.label = self.version.triples.order_by("label").first().label
        self.asked = make_member(self.project, Role.REVIEWER, Role.VIEWER, name="Asked")
        self.free = make_member(self.project, Role.VIEWER, name="Free")
        client = Client()
        client.force_login(lead_of(self.project))
        said = {"say": "also_right", "measure": "Success@1", "rank": 1}
        client.post(reverse("evaluation:miss-note", args=[self.project.slug, self.pair[0].pk, 1]), said, follow=True)
        self.candidate = CandidateBlock.objects.select_related("triple__project").get()

    @property
    def query(self):
        row = self.version.triples.get(label=self.label)
        return asked_queries([row.revision_id])[row.revision_id]

    def page(self, name, *args, **values):
        return reverse(name, args=[self.project.slug, *args]), values

    def api(self, *parts, **values):
        return "/".join([API, self.project.slug, "evaluation", *map(str, parts), ""]), values

    def read(self, person, address, values):
        self.client.force_login(person)
        answer = self.client.get(address, values, follow=True)
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        return answer.status_code, content.decode()


@pytest.fixture(scope="module")
def _world(module_rows):
    return World()


@pytest.fixture
def world(db, client, _world):
    world = deepcopy(_world)
    world.client = client
    return world


def pages_of(world):
    """Every address that shows values of single questions, and what on it tells of the question: its row, its name."""
    base, other = (one.pk for one in world.pair)
    results = f"More of the|/blocks/{world.version.snapshot.entries.first().block_id}/"
    return {
        "scores": (world.page("evaluation:evaluation", base), world.label),
        "scores by RR": (world.page("evaluation:evaluation", base, measure="RR"), world.label),
        "comparison": (world.page("evaluation:compare", base, other), world.label),
        "comparison by precision": (world.page("evaluation:compare", other, base, measure="P@2"), world.label),
        "drops over the API": (world.api("compare", other, base, "drops", measure="RR"), world.label),
        "comparison as CSV": (world.page("evaluation:export", base, other), world.label),
        "misses": (world.page("evaluation:misses", base, 1, measure="Success@1"), "Expected at rank 3"),
        "misses over the API": (world.api(base, "misses"), '"first_right_rank":3'),
        "report": (world.page("reports:evaluation", base), world.label),
        "report as Markdown": (world.page("reports:evaluation", base, format="md"), world.label),
        "report of the comparison": (world.page("reports:comparison", base, other), world.label),
        "report over the API": (world.api(base, "report", format="md"), world.label),
        "report of the comparison over the API": (world.api("compare", base, other, "report"), world.label),
        "results of the run": (world.page("retrieval:run", world.runs[0].pk, query=world.query.query_id), results),
        "results as a file": (world.page("retrieval:results", world.runs[0].pk), f'"qid":"{world.query.outside_id}"'),
        "reach of the run": (world.page("retrieval:reach", world.runs[0].pk), "Variety of a list"),
    }


def tells(answer, pattern):
    return any(one in answer[1] for one in pattern.split("|"))


def test_every_page_and_file_hides_the_question_from_who_is_asked_about_it_until_it_is_settled(world):
    pages = pages_of(world)
    read = {name: (world.read(world.free, *address), pattern) for name, (address, pattern) in pages.items()}
    assert {name for name, found in read.items() if not tells(*found)} == set()

    read = {name: (world.read(world.asked, *address), pattern) for name, (address, pattern) in pages.items()}

    assert {name for name, found in read.items() if tells(*found)} == set()
    assert {name for name, ((status, _), _) in read.items() if status != 200} == {"results as a file"}
    for person in (world.asked, make_member(world.project, Role.REVIEWER)):
        say_also_right(world.candidate, person, "reject")
    read = {name: (world.read(world.asked, *address), pattern) for name, (address, pattern) in pages.items()}
    assert {name for name, found in read.items() if not tells(*found)} == set()


def test_means_and_lists_of_runs_name_no_question_to_anybody(world):
    base, other = (one.pk for one in world.pair)
    addresses = [
        world.page("evaluation:overview", version=world.version.pk, split="dev", hit="block"),
        world.page("evaluation:trend", version=world.version.pk, split="dev", hit="block"),
        world.page("evaluation:ledger"),
        world.page("evaluation:slices", version=world.version.pk),
        world.page("reports:version", world.version.pk),
        world.api(),
        world.api(base),
        world.api("compare", base, other),
    ]
    for address in addresses:
        status, words = world.read(world.free, *address)
        assert (status, world.label in words) == (200, False), address


def test_the_pages_say_that_something_is_hidden_and_until_when(world):
    base, other = (one.pk for one in world.pair)
    for address in (world.page("evaluation:evaluation", base), world.page("evaluation:compare", base, other)):
        _, words = world.read(world.asked, *address)
        assert "One of these questions is not shown one by one." in words
        assert "hidden from you until that is settled" in words


def test_a_lead_who_is_asked_decides_on_no_drop_of_the_question(world):
    reviewing = make_member(world.project, Role.LEAD, Role.REVIEWER)
    decision = {
        "baseline": world.pair[1],
        "candidate": world.pair[0],
        "measure": "RR",
        "query_id": world.label,
        "decision": "accept",
        "explanation": "Read it.",
        "at": AT,
    }

    with pytest.raises(DecisionRefused, match="hidden from you"):
        decide_drop(**decision, member=member(world.project, reviewing))

    assert decide_drop(**decision, member=member(world.project, lead_of(world.project))).decision == "accept"


def test_scores_by_grades_hide_a_query_that_is_hidden_from_the_reader(client, monkeypatch):
    scene = make_scene(queries=6, test_share=0.0)
    base, other = (score_by_grades(scene, tag, measures="RR nDCG@10").pk for tag in ("better", "base"))
    hidden = VersionQuery.objects.get(version=scene.version, outside_id="Q03")
    slug = scene.project.slug
    addresses = [
        reverse("evaluation:evaluation", args=[slug, base]),
        reverse("evaluation:compare", args=[slug, base, other]),
        reverse("evaluation:export", args=[slug, base, other]),
        reverse("evaluation:query", args=[slug, base, other, hidden.pk]),
        reverse("reports:evaluation", args=[slug, base]),
        reverse("reports:comparison", args=[slug, base, other]),
    ]
    client.force_login(scene.lead)
    assert ["Q03" in client.get(address).content.decode() for address in addresses] == [True] * len(addresses)

    asked = Query.objects.filter(pk=hidden.query_id)
    monkeypatch.setattr(blinding, "query_checks", [lambda user, project: [Hidden(asked, "pk", "You are asked.")]])

    assert ["Q03" in client.get(address).content.decode() for address in addresses] == [False] * len(addresses)
    assert "You are asked." in client.get(reverse("reports:negatives", args=[slug, scene.version.pk])).content.decode()

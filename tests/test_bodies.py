"""What a body or a query may name, and what it may set: nothing of another project, and no field that is not asked for.

Bodies of the API are written down here, those of pages are the forms that the pages show. A test that another
project's id is refused means something only where the own id is taken: so each body is sent as it is, too.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.apps import apps
from django.db import DatabaseError, models, transaction
from django.db.models import F, Value
from django.db.models.functions import Cast, Concat
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve, reverse
from drf_spectacular.generators import SchemaGenerator

from apps.accounts.models import Project
from apps.corpus.imports.documents import CorpusImportForm
from apps.corpus.models import Snapshot
from apps.goldsets.models import Version
from apps.queries.models import Query
from apps.retrieval.models import Run, System
from apps.review.models import ReviewSeat
from apps.triples.forms.bench import BenchForm
from tests import database
from tests.endpoints import ENDPOINTS
from tests.fast_client import Asker, watching, without_words
from tests.test_matrix import ROUTES
from tests.world import ROLE_HOLDERS, Things, World, build_world, sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.once]

NOWHERE = 999_999_999
REFUSED = {400, 403, 404, 409, 422}


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, database_cache) -> Iterator[World]:
    with django_db_blocker.unblock(), database.world("two-demos", build_world, database_cache) as world:
        sign_in(world)
        yield world


# The API -------------------------------------------------------------------------------------------------------------


def own_runs(project: Project) -> list[int]:
    scored = Run.objects.filter(project=project, evaluations__isnull=False).distinct()
    return list(scored.order_by("pk").values_list("pk", flat=True)[:2])


def version_of(project: Project) -> int:
    return Version.objects.get(gold_set__project=project, state="released").pk


def system_of(project: Project, **known: str) -> System:
    return System.objects.filter(project=project, **known).earliest("pk")


def digest_of(project: Project) -> str:
    return Snapshot.objects.filter(corpus__project=project).latest("pk").digest


def query_of(project: Project) -> Query:
    return Query.objects.filter(project=project).earliest("pk")


def revision_of(project: Project) -> int:
    return ReviewSeat.objects.get(
        revision__triple=Things(project).review_screen__pk(), reviewer__email=ROLE_HOLDERS["reviewer"]
    ).revision_id


GATE = {"name": "Another", "figure": "nDCG@10", "at_least": 0.1}
REMOTE = {"url": "https://search.example/?q={{query}}", "method": "GET", "ids": "hits[*].id"}
BODIES: dict[str, Callable[[Project], dict[str, Any]]] = {
    "corpus-api:snapshots": lambda project: {"corpus": Things(project).corpus.slug, "name": "Again"},
    "judging-api:guidelines": lambda project: {
        "grades": [
            {"grade": grade, "name": f"G{grade}", "definition": "Given when it fits."} for grade in project.grades
        ],
    },
    "goldsets-api:gold-sets": lambda project: {"name": "Another set"},
    "goldsets-api:drafts": lambda project: {
        "snapshot": digest_of(project),
        "rounds": [Things(project).round.pk],
        "test_share": 0.25,
    },
    "goldsets-api:public": lambda project: {"title": "Handbook", "licence": "CC-BY-4.0", "splits": ["dev"]},
    "evaluation-api:list": lambda project: {"run": own_runs(project)[0], "version": version_of(project)},
    "reports-api:bias-reports": lambda project: {"runs": own_runs(project), "version": version_of(project)},
    "reports-api:stability-reports": lambda project: {"runs": own_runs(project), "version": version_of(project)},
    "reports-api:negative-effects": lambda project: {"run": own_runs(project)[0]},
    "gates-api:gates": lambda project: {
        "gold_set": Things(project).version.gold_set.slug,
        "system": Things(project).any__system_pk(),
        "baseline": own_runs(project)[0],
        "rule": {"name": "Another", "figure": "nDCG@10", "no_worse_than": "baseline"},
    },
    "gates-api:replace-gate": lambda project: {"rule": {"at_least": 0.01}},
    "gates-api:import-gates": lambda project: {
        "system": Things(project).any__system_pk(),
        "baseline": own_runs(project)[0],
        "text": '[[gate]]\nname = "Another"\nfigure = "nDCG@10"\nno_worse_than = "baseline"\n',
    },
    "evaluation-api:ledger": lambda project: {"tried": "another analyser"},
    "people-api:invitations": lambda project: {"people": [{"name": "Nadja Fink", "roles": ["annotator"]}]},
    "settings-api:settings": lambda project: {"escalation_days": 9},
    "queries-api:list": lambda project: {
        "query_id": "Q-another",
        "text": "how are keys rotated",
        "source": Things(project).project.sources.earliest("pk").slug,
    },
    "queries-api:change": lambda project: {
        "source": Things(project).project.sources.latest("pk").slug,
        "query_ids": [query_of(project).outside_id],
    },
    "queries-api:sources": lambda project: {"name": "Interviews in March", "kind": "interview"},
    "queries-api:source-edit": lambda project: {"target_share": 0.125},
    "queries-api:grant": lambda project: {"owner": "Legal", "scope": "public"},
    "queries-api:source": lambda project: {
        "source": Things(project).project.sources.earliest("pk").slug,
        "query_ids": [query_of(project).outside_id],
    },
    "retrieval-api:runs": lambda project: {
        "snapshot": digest_of(project),
        "tag": "pushed-again",
        "rows": [{"query_id": query_of(project).outside_id, "block_id": Things(project).block.outside_id, "score": 1}],
    },
    "retrieval-api:pools": lambda project: {
        "name": "Another pool",
        "snapshot": digest_of(project),
        "systems": [system_of(project, kind="bm25").pk],
        "source": project.sources.filter(queries__isnull=False).earliest("pk").slug,
    },
    "retrieval-api:grow-pool": lambda project: {"systems": [system_of(project, kind="bm25").pk], "depth": 50},
    "systems-api:systems": lambda project: {"name": "Another", "kind": "bm25", "parameters": {"k1": 0.77}},
    "systems-api:fusions": lambda project: {
        "name": "Fused",
        "systems": [system_of(project, kind="bm25").pk, system_of(project, name="Damped BM25").pk],
        "k": 61,
    },
    "systems-api:remote": lambda project: {"name": "Far", "kind": "http", "parameters": REMOTE},
    "systems-api:loaded": lambda project: {"snapshot": digest_of(project), "url": "https://other.example"},
    "systems-api:pace": lambda project: {"at_once": 2},
    "systems-api:run": lambda project: {
        "snapshot": digest_of(project),
        "source": project.sources.filter(queries__isnull=False).earliest("pk").pk,
    },
    "review-api:remind": lambda project: {"triples": [Things(project).review_screen__pk()]},
    "triples-api:retire-many": lambda project: {
        "triples": [Things(project).triples_retire__pk()],
        "reason": "out_of_scope",
    },
    "review-api:verdict": lambda project: {
        "revision_id": revision_of(project),
        "choice": "confirm",
        "idempotency_key": f"key-{project.pk}",
    },
}
# A corpus that has not changed since its newest snapshot is found, and not frozen again.
TAKEN_AS = {"corpus-api:snapshots": {409}}
# Their answers name no object: the reason is beside each.
WITHOUT_A_BODY = {
    "people-api:roles": "roles; see tests/accounts/test_people_api.py",
    "people-api:judge-myself": "none is read",
    "people-api:revoke-invitation": "none is read",
    "settings-api:scale": "grades, which somebody has given; see tests/dashboard/test_settings_api.py",
    "settings-api:archive": "none is read",
    "settings-api:bring-back": "none is read",
    "queries-api:edit": "words and a source, which both projects name alike; see tests/queries/test_query_api.py",
    "queries-api:retire": "a reason; see tests/queries/test_query_api.py",
    "queries-api:revoke": "a reason; see tests/queries/test_source_api.py",
    "jobs-api:job-retry": "none is read",
    "jobs-api:send-again": "none is read",
    "notifications-api:read-all": "how far, which only bounds one's own; see tests/jobs/test_api.py",
    "corpus-api:import-options": "its form is among the pages; see tests/corpus/test_import_api.py",
    "corpus-api:import-fix": "a name of the file's own preview",
    "corpus-api:import-columns": "headings of its own file; see tests/corpus/test_import_api.py",
    "corpus-api:import-confirm": "none is read",
    "corpus-api:import-discard": "none is read",
    "corpus-api:import-undo": "a word; see tests/corpus/test_import_api.py",
    "queries-api:import-options": "its form is among the pages; see tests/corpus/test_import_api.py",
    "queries-api:import-fix": "a name of the file's own preview",
    "queries-api:import-columns": "headings of its own file; see tests/corpus/test_import_api.py",
    "queries-api:import-confirm": "none is read",
    "queries-api:import-discard": "none is read",
    "queries-api:import-undo": "a word; see tests/corpus/test_import_api.py",
    "triples-api:import-options": "its form is among the pages; see tests/corpus/test_import_api.py",
    "triples-api:import-fix": "a name of the file's own preview",
    "triples-api:import-columns": "headings of its own file; see tests/corpus/test_import_api.py",
    "triples-api:import-discard": "none is read",
    "triples-api:import-undo": "a word; see tests/corpus/test_import_api.py",
    "judging-api:import-options": "its form is among the pages; see tests/corpus/test_import_api.py",
    "judging-api:import-fix": "a name of the file's own preview",
    "judging-api:import-columns": "headings of its own file; see tests/corpus/test_import_api.py",
    "judging-api:import-discard": "none is read",
    "judging-api:import-undo": "a word; see tests/corpus/test_import_api.py",
    "corpus-api:imports": "a file: its form is among the pages",
    "queries-api:imports": "a file: its form is among the pages",
    "corpus-api:redact": "a reason; see tests/corpus/test_import_api.py",
    "jobs-api:job-cancel": "none is read",
    "judging-api:close": "none is read",
    "triples-api:drafts": "ids that both projects use; see tests/triples/test_api.py",
    "triples-api:draft": "ids that both projects use; see tests/triples/test_api.py",
    "triples-api:adopt": "none is read",
    "triples-api:reject": "a reason; see tests/triples/test_api.py",
    "triples-api:withdraw": "none is read",
    "triples-api:reopen": "none is read",
    "triples-api:retire": "a reason; see tests/triples/test_api.py",
    "calibration-api:calibrations": "people, who are in both projects; see tests/calibration/test_calibration_api.py",
    "calibration-api:check": "none is read",
    "calibration-api:message": "a text; see tests/calibration/test_calibration_api.py",
    "calibration-api:close": "a note; see tests/calibration/test_calibration_api.py",
    "calibration-api:answer": "a verdict; see tests/calibration/test_calibration_api.py",
    "retrieval-api:run": "a note; see tests/retrieval/test_pool_api.py",
    "retrieval-api:missing": "none is read",
    "review-api:split": "claims, whose ids both projects use; see tests/review/test_split_api.py",
    "review-api:candidate-decide": "a decision and a reason; see tests/review/test_candidate_api.py",
    "review-api:candidate-withdraw": "none is read",
    "review-api:submit": "none is read",
    "review-api:begin": "none is read",
    "review-api:re-pin": "none is read",
    "review-api:message": "a text; see tests/review/test_dispute_api.py",
    "review-api:withdraw-flag": "a policy; see tests/review/test_dispute_api.py",
    "review-api:drop": "a reason; see tests/review/test_dispute_api.py",
    "review-api:adjudicate": "a decision and a reason; see tests/review/test_dispute_api.py",
    "judging-api:judge-again": "grades of an earlier version; see tests/judging/test_planning_api.py",
    "judging-api:keep": "none is read",
    "judging-api:plan": "annotators, who are in both projects; see tests/judging/test_planning_api.py",
    "judging-api:give-back": "a person, who is in both projects; see tests/judging/test_planning_api.py",
    "judging-api:release": "none is read",
    "judging-api:decide": "a grade and a reason; see tests/judging/test_planning_api.py",
    "judging-api:settle": "a mark of pairs; see tests/judging/test_planning_api.py",
    "judging-api:carry": "a mark of pairs; see tests/judging/test_planning_api.py",
    "judging-api:open-the-rest": "a reason; see tests/judging/test_rounds_api.py",
    "judging-api:judgements": "a seat, which belongs to a person; see tests/judging/test_api.py",
    "judging-api:imports": "a file: its form is among the pages",
    "judging-api:import-confirm": "none is read",
    "collections-api:imports": "a file: its form is among the pages",
    "collections-api:import-options": "see tests/judging/test_collection_imports.py",
    "collections-api:import-fix": "a name of the file's own preview",
    "collections-api:import-columns": "a collection has no columns",
    "collections-api:import-confirm": "none is read",
    "collections-api:import-discard": "none is read",
    "collections-api:import-undo": "a word; see tests/corpus/test_import_api.py",
    "judging-api:claim": "a member, who may be in both projects; see tests/judging/test_placeholders.py",
    "judging-api:end-claim": "none is read",
    "notifications-api:read": "none is read",
    "triples-api:import-confirm": "none is read",
    "systems-api:drop-loaded": "none is read",
    "systems-api:search-loaded": "a search, which both projects use; see tests/retrieval/test_loaded_pages.py",
    "review-api:pull": "none is read",
    "review-api:give-back": "none is read",
    "gates-api:retire-gate": "none is read",
    "triples-api:imports": "a file: its form is among the pages",
    "gates-api:revoke-badge": "none is read",
    "editions-api:import-decisions": "passages by ids that both use; see tests/editions/test_api.py",
    "editions-api:import-take": "a mark and choices; see tests/editions/test_api.py",
    "editions-api:snapshot-decisions": "passages by ids that both use; see tests/editions/test_api.py",
    "editions-api:snapshot-take": "a mark and choices; see tests/editions/test_api.py",
    "editions-api:run-again": "none is read",
    "goldsets-api:draw-slice": "a number; see tests/goldsets/test_slice_api.py",
    "goldsets-api:slice": "questions by ids that both use; see tests/goldsets/test_slice_api.py",
    "goldsets-api:slice-offers": "none is read",
    "goldsets-api:retire-training": "none is read",
    "goldsets-api:imports": "a file: its form is among the pages",
    "goldsets-api:import-options": "its form is among the pages; see tests/corpus/test_import_api.py",
    "goldsets-api:import-fix": "a name of the file's own preview",
    "goldsets-api:import-columns": "headings of its own file; see tests/corpus/test_import_api.py",
    "goldsets-api:import-confirm": "none is read",
    "goldsets-api:import-discard": "none is read",
    "goldsets-api:import-undo": "a word; see tests/corpus/test_import_api.py",
    "evaluation-api:decide": "a query by an id that both use; see tests/evaluation/api/test_drops.py",
    "evaluation-api:close": "a measure; see tests/evaluation/api/test_drops.py",
    "evaluation-api:judge-again": "a measure; see tests/evaluation/api/test_drops.py",
    "evaluation-api:unjudged": "a query by an id that both use; see tests/evaluation/api/test_drops.py",
    "evaluation-api:score-rest": "a split and a measure; see tests/evaluation/api/test_version_runs.py",
    "evaluation-api:run-again": "systems of earlier versions, which the world has none of;"
    " see tests/evaluation/api/test_version_runs.py",
    "reports-api:judge-next": "a number; see tests/reports/test_bias_pages.py",
    "goldsets-api:change": "of a draft, which the world has none of; see tests/goldsets/test_draft_api.py",
    "goldsets-api:freeze": "a changelog; see tests/goldsets/test_draft_api.py",
    "goldsets-api:release": "none is read",
    "goldsets-api:discard": "none is read",
    "goldsets-api:public-ask": "a lead, who leads both projects; see tests/goldsets/public/test_public_api.py",
    "goldsets-api:public-decide": "texts, which both projects may have; see tests/goldsets/public/test_found_texts.py",
    "goldsets-api:public-sign": "none is read",
    "goldsets-api:public-release": "none is read",
    "goldsets-api:public-withdraw": "a reason; see tests/goldsets/public/test_public_api.py",
    "evaluation-api:misses": "a label and a passage, which both projects use; see tests/evaluation/api/test_misses.py",
    "review-api:candidate-answer": "none is read",
    "review-api:reseat": "people, who are in both projects; see tests/review/seating",
}


def test_every_endpoint_of_the_api_that_writes_has_a_body_here():
    writes = {name for name, route in ROUTES.items() if route.startswith("api/") and ENDPOINTS[name].post}

    assert writes - {"api:not-found"} == set(BODIES) | set(WITHOUT_A_BODY)


def asker_of(world: World, name: str) -> Asker:
    """Somebody who may send it: a lead where leads may, who leads both projects."""
    who = ENDPOINTS[name].post or frozenset()
    standing = next(one for one in ("lead", "reviewer", "annotator", "operator", "anonymous") if one in who)
    return Asker(world.cookies[standing])


def send(asker: Asker, url: str, body: Mapping[str, Any]) -> tuple[int, list[tuple[str, Any]]]:
    """The status, and what was written, of a request whose effects are undone."""
    with watching() as written:
        status = asker.status("post", url, dict(body), content_type="application/json")
    return status, written.statements


@pytest.mark.parametrize("name", sorted(BODIES))
def test_the_api_takes_our_ids_and_refuses_those_of_another_project_in_a_body(world, name):
    asker, url = asker_of(world, name), world.url(name, ROUTES[name])
    ours, theirs = BODIES[name](world.project), BODIES[name](world.other)

    with without_words():
        own, _ = send(asker, url, ours)
        foreign = {
            key: send(asker, url, {**ours, key: theirs[key]})
            for key in ours
            if ours[key] != theirs[key] and key not in {"idempotency_key", "rows"}
        }

    assert own in TAKEN_AS.get(name, {200, 201, 202})
    assert {key: status for key, (status, _) in foreign.items() if status not in REFUSED} == {}
    assert {key: written for key, (_, written) in foreign.items() if written} == {}


@pytest.mark.parametrize(
    ("name", "key", "find"),
    [
        ("agreement-api:pairs", "round", lambda project: Things(project).round.number),
        ("agreement-api:differences", "round", lambda project: Things(project).round.number),
        ("agreement-api:improve", "round", lambda project: Things(project).round.number),
        ("agreement-api:person", "round", lambda project: Things(project).round.number),
        ("reports-api:negatives", "run", lambda project: own_runs(project)[0]),
        ("queries-api:list", "source", lambda project: Things(project).project.sources.earliest("pk").slug),
    ],
)
def test_a_query_of_the_api_reads_nothing_of_another_project(world, name, key, find):
    asker, url = Asker(world.cookies["lead"]), world.url(name, ROUTES[name])

    with without_words():
        own = asker.answer("get", url, {key: find(world.project)})
        foreign = asker.answer("get", url, {key: find(world.other)})
        nowhere = asker.answer("get", url, {key: NOWHERE})

    assert own.status_code == 200
    if find(world.project) == find(world.other):
        assert foreign.content == own.content, "a number or a name that each project gives for itself"
    else:
        assert foreign.status_code == nowhere.status_code
        assert foreign.status_code != 200 or foreign.content == nowhere.content


# Pages ---------------------------------------------------------------------------------------------------------------


@dataclass
class Form:
    """A form of a page: where it is sent, what it sends as it stands, and every value that its fields offer."""

    name: str
    url: str
    sent: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    offered: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


class Forms(HTMLParser):
    """The forms of a page that post, and the fields that belong to them."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url, self.found = url, []
        self.form: Form | None = None
        self.select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if tag == "form":
            self._begin(given)
        elif self.form is not None and (name := given.get("name", self.select if tag == "option" else "")):
            self._take(tag, name, given)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None
        if tag == "select":
            self.select = ""

    def _begin(self, given: dict[str, str]) -> None:
        self.form = None
        if given.get("method", "get").lower() != "post":
            return
        url = given.get("action") or self.url
        try:
            self.form = Form(resolve(urlsplit(url).path).view_name, url)
        except Resolver404:
            return
        self.found.append(self.form)

    def _take(self, tag: str, name: str, given: dict[str, str]) -> None:
        assert self.form is not None
        if tag == "select":
            self.select = name
            self.form.offered[name] |= set()
        elif tag == "option":
            self._offer(name, given.get("value", ""), is_sent="selected" in given)
        elif tag == "input" and given.get("type") in {"radio", "checkbox"}:
            self._offer(name, given.get("value", "on"), is_sent="checked" in given)
        elif tag in {"input", "textarea", "button"} and given.get("type") != "file":
            self._offer(name, given.get("value", ""), is_sent=tag != "button" and given.get("type") != "submit")

    def _offer(self, name: str, value: str, *, is_sent: bool) -> None:
        assert self.form is not None
        self.form.offered[name].add(value)
        if is_sent:
            self.form.sent[name].append(value)


def pages_of(project: Project, world: World) -> Iterator[tuple[Asker, str]]:
    """Every page of a project, each read by one who may, leads first."""
    askers = {standing: Asker(world.cookies[standing]) for standing in ("lead", "reviewer", "annotator")}
    for name, route in sorted(ROUTES.items()):
        if "<slug:slug>" in route and not route.startswith("api/"):
            standing = next((one for one in askers if one in (ENDPOINTS[name].get or ())), None)
            if standing:
                yield askers[standing], reverse(name, kwargs=world.kwargs(name, route, project))


def forms_of(project: Project, world: World) -> dict[str, Form]:
    """The forms that post of all pages, by the endpoint they are sent to; what several offer is put together."""
    found: dict[str, Form] = {}
    for asker, url in pages_of(project, world):
        answer = asker.answer("get", url)
        if answer.status_code != 200 or not answer.get("Content-Type", "").startswith("text/html"):
            continue
        parser = Forms(url)
        parser.feed(answer.content.decode())
        for form in parser.found:
            known = found.setdefault(form.name, form)
            for name, values in form.offered.items():
                known.offered[name] |= values
    return found


@pytest.fixture(scope="module")
def forms(world, django_db_blocker) -> tuple[dict[str, Form], dict[str, Form]]:
    """Our forms and theirs."""
    with django_db_blocker.unblock():
        return forms_of(world.project, world), forms_of(world.other, world)


ID = re.compile(r"\d+")
# Numbers that are no ids of anything: counts, grades, days, and the token against forgery.
NO_ID = {"csrfmiddlewaretoken", "key"}


def foreign_ids(ours: Form, theirs: Form) -> Iterator[tuple[str, str]]:
    """Each field with an id that only the other project's form offers."""
    for name, offered in sorted(theirs.offered.items()):
        alien = sorted(value for value in offered - ours.offered.get(name, set()) if ID.fullmatch(value))
        if alien and name not in NO_ID:
            yield name, alien[0]


@pytest.mark.slow
def test_an_id_of_another_project_in_a_form_is_answered_like_one_that_is_nowhere(world, forms):
    ours, theirs = forms
    asked, wrong = 0, {}

    with without_words():
        for endpoint in sorted(ours.keys() & theirs.keys()):
            if not ENDPOINTS[endpoint].post:
                continue  # a form whose buttons say where it goes
            form = ours[endpoint]
            asker = asker_of(world, endpoint)
            for name, alien in foreign_ids(form, theirs[endpoint]):
                answers = []
                for value in (alien, str(NOWHERE)):
                    with watching() as written:
                        status = asker.status("post", form.url, {**form.sent, name: [value]})
                    answers.append((status, [sql for sql, _ in written.statements]))
                asked += 1
                if answers[0] != answers[1]:
                    wrong[f"{endpoint} {name}={alien}"] = [status for status, _ in answers]

    assert wrong == {}
    assert asked >= 20, "forms offer too few ids: this test would find nothing"


# Fields that nobody asked for ----------------------------------------------------------------------------------------

VOLATILE = re.compile(
    r"[0-9a-f]{4}(?: [0-9a-f]{4}){3}"
    r"|<memory at \w+>|\d{4}-\d\d-\d\d[T ][\d:.]+\S*|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32,}|[\w-]{40,}"
)


def hostile_values() -> dict[str, str]:
    """A value for every field of every model: another person's id, another state, a right, a time long past."""
    found: dict[str, str] = {}
    for model in apps.get_models():
        if not model.__module__.startswith("apps."):
            continue
        for one in model._meta.concrete_fields:
            value = "lead"
            if isinstance(one, models.BooleanField):
                value = "true"
            elif isinstance(one, models.ForeignKey | models.IntegerField | models.AutoField | models.FloatField):
                value = "1"
            elif isinstance(one, models.DateTimeField):
                value = "2000-01-01T00:00:00Z"
            found |= {one.name: value, one.attname: value}
    return {**found, "pk": "1", "is_staff": "true", "role": "lead", "scopes": "runs:write"}


def api_fields() -> dict[str, set[str]]:
    """By path and method, the fields that the description of the API names."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    parts, found = schema["components"]["schemas"], {}
    for path, operations in schema["paths"].items():
        content = operations.get("post", {}).get("requestBody", {}).get("content", {})
        for kind in content.values():
            part = parts.get(kind["schema"].get("$ref", "").rsplit("/", 1)[-1], {})
            found.setdefault(path, set()).update(part.get("properties", {}))
    return found


def effect(statements: list[tuple[str, Any]]) -> list[str]:
    """What was written, apart from times and random words."""
    return [VOLATILE.sub("…", f"{sql} {params!r}") for sql, params in statements]


def writers() -> list[str]:
    return sorted(name for name in ROUTES if ENDPOINTS[name].post and name != "api:not-found")


# Fields that an endpoint takes beside those its form shows, because a script of the page sends them.
TAKEN: dict[str, set[str]] = {
    "accounts:new-project": {"name"},
    "corpus:import-options": set(CorpusImportForm.base_fields),
    "evaluation:miss-note": {"say", "block", "quote", "text"},
    "evaluation:score": {"hit", "slice"},
    "goldsets:draw-slice": {"quarter", "size"},
    "judging:give-back": {"person"},
    "review:remind": {"triple", "one"},
    "triples:save-new": {*BenchForm.base_fields, "block"},
}


@pytest.fixture(scope="module")
def described() -> dict[str, set[str]]:
    return api_fields()


@pytest.mark.slow
@pytest.mark.parametrize("app", sorted({name.split(":")[0] for name in writers()}))
def test_no_endpoint_sets_a_field_that_it_does_not_declare(world, forms, described, app):
    hostile, wrong = hostile_values(), {}

    with without_words():
        for name in writers():
            if name.split(":")[0] != app:
                continue
            url, plain, known, kind = own_request(world, forms[0], described, name)
            extra = {key: value for key, value in hostile.items() if key not in known}
            effects = []
            for body in (plain, {**plain, **extra}):
                with watching() as written:
                    status = asker_of(world, name).status("post", url, body, **kind)
                effects.append((status, effect(written.statements)))
            if effects[0] != effects[1] and effects[1][0] != 400:
                wrong[name] = effects

    assert wrong == {}


def own_request(
    world: World, forms: dict[str, Form], described: dict[str, set[str]], name: str
) -> tuple[str, dict[str, Any], set[str], dict[str, Any]]:
    """Where to send what as people do, the fields that the endpoint asks for, and how it is sent."""
    url = world.url(name, ROUTES[name])
    if ROUTES[name].startswith("api/"):
        plain = BODIES[name](world.project) if name in BODIES else {}
        path = f"/{ROUTES[name]}".replace("<slug:slug>", "{slug}")
        known = next((keys for at, keys in described.items() if _same_path(at, path)), set())
        return url, plain, known | set(plain), {"content_type": "application/json"}
    form = forms.get(name)
    known = (set(form.offered) if form else set()) | TAKEN.get(name, set())
    return (form.url, dict(form.sent), known, {}) if form else (url, {}, known, {})


def _same_path(described: str, route: str) -> bool:
    return re.sub(r"\{[^}]+\}", "*", described) == re.sub(r"\{[^}]+\}|<[^>]+>", "*", route)


# What people write, and what they ask for ----------------------------------------------------------------------------

MARKUP = "<i>7</i>"
WORDS = {"name", "title", "label", "note", "tag", "commit", "origin", "filename", "reason", "explanation", "verdict"}
WORDS |= {"question", "answer", "text", "intent", "description", "owner", "evidence", "tried", "configuration", "body"}


def write_markup_everywhere() -> int:
    """Put markup into every field of words that may still change; guards and uniqueness keep some. How many took it."""
    taken = 0
    for model in apps.get_models():
        for one in model._meta.concrete_fields:
            if not model.__module__.startswith("apps.") or one.name not in WORDS or one.choices:
                continue
            if isinstance(one, models.CharField | models.TextField) and not isinstance(one, models.SlugField):
                rows = model._default_manager.annotate(marked=Concat(Cast("pk", models.TextField()), Value(MARKUP)))
                with suppress(DatabaseError), transaction.atomic():
                    taken += rows.update(**{one.name: F("marked")}) > 0
    return taken


def test_what_people_wrote_is_shown_and_not_obeyed(world):
    shown = 0

    assert write_markup_everywhere() >= 15
    for asker, url in pages_of(world.project, world):
        answer = asker.answer("get", url)
        if answer.get("Content-Type", "").startswith("text/html"):
            assert answer.status_code < 500, url
            assert MARKUP.encode() not in answer.content, url
            shown += b"&lt;i&gt;7" in answer.content

    assert shown >= 50


@pytest.mark.slow
def test_a_form_that_comes_back_shows_what_was_sent_and_does_not_obey_it(world, forms):
    shown = 0

    for name, form in sorted(forms[0].items()):
        if not ENDPOINTS[name].post:
            continue
        answer = asker_of(world, name).answer("post", form.url, dict.fromkeys(form.offered, MARKUP))
        if not answer.streaming and answer.get("Content-Type", "").startswith("text/html"):
            assert answer.status_code < 500, name
            assert MARKUP.encode() not in answer.content, name
            shown += b"&lt;i&gt;7" in answer.content

    assert shown >= 10


PATHS = {
    "project__slug": "theirs",
    "created_by__password__startswith": "a",
    "actor__password__regex": "^a",
    "ordering": "created_by__password",
    "order_by": "project__slug",
    "o": "-created_by__password",
    "fields": "password",
}


def test_no_filter_and_no_order_reaches_along_a_relation(world):
    lead = Asker(world.cookies["lead"])
    read = [name for name, route in sorted(ROUTES.items()) if route.startswith("api/v1/p") and "lead" in reads(name)]

    wrong = []
    for name in read:
        url = world.url(name, ROUTES[name])
        plain, asked = (lead.answer("get", url, query, whole=True) for query in ({}, PATHS))
        if asked.status_code not in ({400} if is_list_page(plain) else {plain.status_code, 400}):
            wrong.append((name, asked.status_code))
        elif asked.status_code == 200 and not asked.streaming and asked.content != plain.content:
            wrong.append((name, "other rows"))

    assert wrong == []
    assert len(read) >= 30


def is_list_page(answer: HttpResponseBase) -> bool:
    """Whether it is one page of a list."""
    if answer.get("Content-Type") != "application/json" or answer.streaming:
        return False
    body = json.loads(answer.content)
    return isinstance(body, dict) and {"next", "previous", "results"} <= body.keys()


def reads(name: str) -> frozenset[str]:
    return ENDPOINTS[name].get or frozenset()

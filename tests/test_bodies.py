"""What a body or a query of the API may name: nothing of another project.

A test that another project's id is refused means something only where the own id is taken: so each body is sent as it
is, too. The bodies of pages are their forms: `test_forms.py`.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.http.response import HttpResponseBase

from apps.accounts.models import Project
from apps.corpus.models import Snapshot
from apps.goldsets.models import Version
from apps.queries.models import Query
from apps.retrieval.models import Run, System
from apps.review.models import ReviewSeat
from tests.endpoints import ENDPOINTS, WITH_IMPORTS
from tests.fast_client import Asker, watching, without_words
from tests.world import OF_PROJECTS, ROLE_HOLDERS, ROUTES, Things, World, is_of_the_api

pytestmark = [pytest.mark.django_db, pytest.mark.once]

NOWHERE = 999_999_999
REFUSED = {400, 403, 404, 409, 422}


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
        revision__triple=Things(project).under_review(), reviewer__email=ROLE_HOLDERS["reviewer"]
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
        "system": Things(project).gate.system_id,
        "baseline": own_runs(project)[0],
        "rule": {"name": "Another", "figure": "nDCG@10", "no_worse_than": "baseline"},
    },
    "gates-api:replace-gate": lambda project: {"rule": {"at_least": 0.01}},
    "gates-api:import-gates": lambda project: {
        "system": Things(project).gate.system_id,
        "baseline": own_runs(project)[0],
        "text": '[[gate]]\nname = "Another"\nfigure = "nDCG@10"\nno_worse_than = "baseline"\n',
    },
    "evaluation-api:ledger": lambda project: {"tried": "another analyser"},
    "people-api:invitations": lambda project: {"people": [{"name": "Nadja Fink", "roles": ["annotator"]}]},
    "settings-api:settings": lambda project: {"escalation_days": 9},
    "queries-api:list": lambda project: {
        "query_id": "Q-another",
        "text": "how are keys rotated",
        "source": project.sources.earliest("pk").slug,
    },
    "queries-api:change": lambda project: {
        "source": project.sources.latest("pk").slug,
        "query_ids": [query_of(project).outside_id],
    },
    "queries-api:failures": lambda project: {"text": "where is the spare key", "has_consent": True},
    "queries-api:decide": lambda project: {"step": "take"},
    "queries-api:variants": lambda project: {"query_ids": [query_of(project).outside_id], "kinds": ["lower"]},
    "queries-api:balance": lambda project: {"domain": {"security": 0.5}},
    "queries-api:sets": lambda project: {
        "name": "Hard ones",
        "difficulty": "hard",
        "source": project.sources.earliest("pk").slug,
    },
    "queries-api:set-draw": lambda project: {"name": "Pilot", "of": "set:live-queries", "number": 2},
    "queries-api:settle": lambda project: {"query_ids": [query_of(project).outside_id]},
    "queries-api:sources": lambda project: {"name": "Interviews in March", "kind": "interview"},
    "queries-api:source-edit": lambda project: {"target_share": 0.125},
    "queries-api:grant": lambda project: {"owner": "Legal", "scope": "public"},
    "queries-api:source": lambda project: {
        "source": project.sources.earliest("pk").slug,
        "query_ids": [query_of(project).outside_id],
    },
    "querylogs-api:decide": lambda project: {"step": "reject", "note": "no search of ours"},
    "querylogs-api:runs": lambda project: {"snapshot": ""},
    "querylogs-api:names": lambda project: {"names": ["Another name"]},
    "querylogs-api:fetch": lambda project: {
        "server": "phoenix",
        "address": "https://phoenix.example",
        "project_name": "assistant",
        "since": "2026-08-04",
        "until": "2026-08-05",
        "source": project.sources.earliest("pk").slug,
        "seed": 1,
    },
    "goldsets-api:send-grades": lambda project: {"server": "phoenix", "address": "https://phoenix.example"},
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
    "review-api:remind": lambda project: {"triples": [Things(project).under_review()]},
    "review-api:bulk-preview": lambda project: {
        "kind": "describe",
        "triples": [Things(project).value("triples:retire", "pk")],
        "domain": "another",
    },
    "triples-api:retire-many": lambda project: {
        "triples": [Things(project).value("triples:retire", "pk")],
        "reason": "out_of_scope",
    },
    "review-api:verdict": lambda project: {
        "revision_id": revision_of(project),
        "choice": "confirm",
        "idempotency_key": f"key-{project.pk}",
    },
}
# A corpus that has not changed since its newest snapshot is found, and not frozen again.
TAKEN_AS = {"corpus-api:snapshots": {409}, "querylogs-api:runs": {409}, "goldsets-api:send-grades": {409}}
WITHOUT_A_BODY = {
    "none is read": (
        "people-api:judge-myself people-api:revoke-invitation settings-api:archive settings-api:bring-back "
        "jobs-api:job-retry jobs-api:send-again jobs-api:job-cancel judging-api:close triples-api:adopt "
        "triples-api:withdraw triples-api:reopen calibration-api:check retrieval-api:missing "
        "review-api:candidate-withdraw review-api:submit review-api:begin review-api:re-pin judging-api:keep "
        "judging-api:release judging-api:open-difference judging-api:end-claim "
        "notifications-api:read systems-api:drop-loaded review-api:pull "
        "review-api:give-back gates-api:retire-gate gates-api:revoke-badge editions-api:run-again "
        "goldsets-api:slice-offers goldsets-api:retire-training goldsets-api:release goldsets-api:discard "
        "goldsets-api:public-sign goldsets-api:public-release review-api:candidate-answer review-api:bulk-undo "
        "querylogs-api:close querylogs-api:name-remove querylogs-api:received "
        "queries-api:set-freeze queries-api:set-delete"
    ),
    "roles": "people-api:roles",
    "grades, which somebody has given": "settings-api:scale",
    "words and a source, which both projects name alike": "queries-api:edit",
    "a reason": (
        "queries-api:retire queries-api:revoke corpus-api:redact triples-api:reject triples-api:retire "
        "review-api:drop judging-api:open-the-rest goldsets-api:public-withdraw review-api:take-elsewhere"
    ),
    "how far, which only bounds one’s own": "notifications-api:read-all",
    "ids that both projects use": "triples-api:drafts triples-api:draft",
    "a query and a passage, whose ids both projects use": "judging-api:vote judging-api:decide-unanswerable",
    "people, who are in both projects": "calibration-api:calibrations review-api:reseat",
    "a text": "calibration-api:message review-api:message",
    "a note": "calibration-api:close retrieval-api:run",
    "a verdict": "calibration-api:answer",
    "claims, whose ids both projects use": "review-api:split",
    "a decision and a reason": "review-api:candidate-decide review-api:adjudicate",
    "whoever is named, and where that is written": "goldsets-api:public-texts",
    "a policy": "review-api:withdraw-flag",
    "grades of an earlier version": "judging-api:judge-again",
    "annotators, who are in both projects": "judging-api:plan judging-api:new-pilot",
    "a person, who is in both projects": "judging-api:give-back",
    "a grade and a reason": "judging-api:decide judging-api:decide-many",
    "a mark of pairs": "judging-api:settle judging-api:carry",
    "a seat, which belongs to a person": "judging-api:judgements",
    "a grade, and what the judge has seen": "judging-api:answer-difference",
    "a member, who may be in both projects": "judging-api:claim",
    "a search, which both projects use": "systems-api:search-loaded",
    "passages by ids that both use": "editions-api:import-decisions editions-api:snapshot-decisions",
    "a digest of what was shown": "review-api:bulk",
    "a mark and choices": "editions-api:import-take editions-api:snapshot-take",
    "a number": "goldsets-api:draw-slice reports-api:judge-next review-api:draw-elsewhere",
    "questions by ids that both use": "goldsets-api:slice",
    "a query by an id that both use": "evaluation-api:decide evaluation-api:unjudged",
    "a measure": "evaluation-api:close evaluation-api:judge-again evaluation-api:plan",
    "a split and a measure": "evaluation-api:score-rest",
    "systems of earlier versions, which the world has none of": "evaluation-api:run-again",
    "of a draft, which the world has none of": "goldsets-api:change",
    "a changelog": "goldsets-api:freeze",
    "a lead, who leads both projects": "goldsets-api:public-ask",
    "texts, which both projects may have": "goldsets-api:public-decide",
    "a label and a passage, which both projects use": "evaluation-api:misses",
}
"""Why a body names no object of a project, and of which endpoints this is so."""
OF_IMPORTS = {
    "a file, or words of its own preview": "imports import-options import-fix import-columns",
    "none is read": "import-confirm import-discard",
    "a word": "import-undo",
}
"""The same of the endpoints that each kind of import has."""


def test_every_endpoint_of_the_api_that_writes_has_a_body_here():
    writes = {name for name in ROUTES if is_of_the_api(name) and ENDPOINTS[name].post}
    without = {name for names in WITHOUT_A_BODY.values() for name in names.split()}
    without |= {f"{kind}:{name}" for kind in WITH_IMPORTS for names in OF_IMPORTS.values() for name in names.split()}

    assert writes - {"api:not-found"} == set(BODIES) | without


def asker_of(world: World, name: str) -> Asker:
    """Somebody who may send it: a lead where leads may, who leads both projects."""
    who = ENDPOINTS[name].post or frozenset()
    standing = next(one for one in ("lead", "reviewer", "annotator", "operator", "anonymous") if one in who)
    return world.askers[standing]


def send(asker: Asker, url: str, body: Mapping[str, Any]) -> tuple[int, list[tuple[str, Any]]]:
    """The status, and what was written, of a request whose effects are undone."""
    with watching() as written:
        status = asker.status("post", url, dict(body), content_type="application/json")
    return status, written.statements


@pytest.mark.parametrize("name", sorted(BODIES))
def test_the_api_takes_our_ids_and_refuses_those_of_another_project_in_a_body(world, name):
    asker, url = asker_of(world, name), world.url(name)
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
        ("queries-api:list", "source", lambda project: project.sources.earliest("pk").slug),
    ],
)
def test_a_query_of_the_api_reads_nothing_of_another_project(world, name, key, find):
    asker, url = world.askers["lead"], world.url(name)

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
    lead = world.askers["lead"]
    read = [name for name in OF_PROJECTS if is_of_the_api(name) and "lead" in reads(name)]

    wrong = []
    for name in read:
        url = world.url(name)
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

"""Two whole projects, made by the demo's walk through the real actions, and people of every standing towards one."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Model
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from apps.accounts.actions.invitations import invite
from apps.accounts.actions.projects import set_roles
from apps.accounts.actions.secrets import save_secret
from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Role, Scope
from apps.accounts.models import PLACEHOLDER_DOMAIN, Invitation, Project, User
from apps.accounts.selectors import secrets_in
from apps.corpus.actions.imports import confirm_import, start_import
from apps.corpus.enums import FREEZE
from apps.corpus.models import Block, BlockVersion, Corpus, Import, Snapshot
from apps.dashboard.actions.projects import request_demo
from apps.evaluation.actions.scoring import request_evaluation
from apps.evaluation.models import Evaluation
from apps.gates.actions import make_badge
from apps.gates.models import Badge, Gate
from apps.goldsets.actions.training import add_training_manifest
from apps.goldsets.core.training import Entry
from apps.goldsets.enums import EntryKind
from apps.goldsets.models import TrainingManifest, Version
from apps.jobs.actions.jobs import enqueue
from apps.jobs.actions.webhooks import add_webhook, try_webhook
from apps.jobs.models import Job, Notification, Outbox, Upload, Webhook
from apps.judging.models import Guideline, Round, RoundAnnotator
from apps.metrics.expected.rules import TEXT
from apps.queries.actions.failures import report_failure
from apps.queries.actions.sets import save_set
from apps.queries.models import FailureReport, Permission, Query, SavedSet, Source
from apps.queries.selectors import QueryFilters
from apps.querylogs.actions import add_names
from apps.querylogs.models import MaskedName, QueryLog
from apps.reports.actions import request_report
from apps.reports.models import BiasReport, StabilityReport
from apps.retrieval.actions.intake import push_run, upload_run
from apps.retrieval.actions.systems import create_remote_system, load_snapshot
from apps.retrieval.models import LoadedIndex, Pool, Run, System
from apps.review.actions.candidate_blocks import propose_block
from apps.review.enums import BulkKind
from apps.review.models import BulkStep, CandidateBlock, ReviewSeat
from apps.triples.models import Triple
from tests.factories import make_user
from tests.fast_client import Asker
from tests.judging.archives import zipped
from tests.review.bulk.walking import chosen
from tests.review.bulk.walking import do as do_in_bulk
from tests.running_jobs import run_jobs

SECRET = "sesame-12345"
ROLE_HOLDERS = {
    "viewer": "ola@tarnwick.example",
    "annotator": "mara@tarnwick.example",
    "reviewer": "tobias@tarnwick.example",
    "lead": "petra@tarnwick.example",
}


def endpoints() -> Iterator[tuple[str, str]]:
    """Name and route of every pattern the resolver knows."""

    def walk(resolver: URLResolver, namespace: str, prefix: str) -> Iterator[tuple[str, str]]:
        for pattern in resolver.url_patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLPattern):
                yield f"{namespace}:{pattern.name}" if namespace else str(pattern.name), route
            else:
                yield from walk(pattern, pattern.namespace or namespace, route)

    return walk(get_resolver(), "", "")


ROUTES = dict(endpoints())
OF_PROJECTS = sorted(name for name, route in ROUTES.items() if "<slug:slug>" in route)


def namespaces(names: Iterable[str]) -> dict[str, list[str]]:
    """The names of endpoints by what stands before the colon."""
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        found.setdefault(name.rpartition(":")[0], []).append(name)
    return found


def is_of_the_api(name: str) -> bool:
    return ROUTES[name].startswith("api/")


def arguments_of(name: str) -> list[str]:
    """The arguments in the address of an endpoint."""
    return re.findall(r"<(?:\w+:)?(\w+)>", ROUTES[name])


@dataclass
class World:
    """`project` is the one the matrix asks about; `other` stands beside it with lookalike objects."""

    project: Project
    other: Project
    people: dict[str, User | None] = field(default_factory=dict)
    askers: dict[str, Asker] = field(default_factory=dict)

    def kwargs(self, name: str, project: Project | None = None) -> dict[str, Any]:
        """Arguments for an endpoint of `project` (ours by default): its slug, and an object of every kind it names."""
        things = self.things(project or self.project)
        return {argument: things.value(name, argument) for argument in arguments_of(name)}

    def things(self, project: Project) -> "Things":
        return Things(project)

    def url(self, name: str) -> str:
        return reverse(name, kwargs=self.kwargs(name))


class Things:
    """One object of each kind in a project."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def value(self, name: str, argument: str) -> Any:
        """What an endpoint is given for an argument of its address: the first that `finders` has for it."""
        found = next(self.finders[key] for key in _keys(name, argument) if key in self.finders)
        return found(self) if callable(found) else found

    @cached_property
    def corpus(self) -> Corpus:
        return Corpus.objects.get(project=self.project)

    @cached_property
    def snapshot(self) -> Snapshot:
        return self.corpus.snapshots.order_by("-number").first()

    @cached_property
    def block(self) -> Block:
        return self.corpus.blocks.order_by("pk").first()

    @cached_property
    def round(self) -> Round:
        return Round.objects.filter(project=self.project).exclude(kind="imported").latest("number")

    @cached_property
    def version(self) -> Version:
        return Version.objects.filter(gold_set__project=self.project, state="released").get()

    @cached_property
    def evaluations(self) -> list[Evaluation]:
        return list(Evaluation.objects.filter(project=self.project).order_by("pk"))

    @cached_property
    def gate(self) -> Gate:
        return Gate.objects.filter(gold_set__project=self.project).earliest("pk")

    def under_review(self) -> int:
        """A Q&A that the reviewer of the matrix is asked about."""
        seats = ReviewSeat.objects.filter(revision__triple__project=self.project, verdicts=None)
        seat = seats.filter(revision__triple__state="in_review", reviewer__email=ROLE_HOLDERS["reviewer"]).first()
        return seat.revision.triple_id

    def placeholder(self) -> int:
        """A name in an imported file that is nobody's yet."""
        rows = RoundAnnotator.objects.filter(round__project=self.project, round__kind="imported")
        return rows.filter(annotator__email__endswith=PLACEHOLDER_DOMAIN).earliest("pk").annotator_id

    finders: dict[str, Any]


def _keys(name: str, argument: str) -> Iterator[str]:
    """What may have a finder: the endpoint, one that its name begins with, that page for its API, the app, anything."""
    namespace, _, page = name.rpartition(":")
    words = page.split("-")
    beginnings = ["-".join(words[:length]) for length in range(len(words), 0, -1)]
    for app in (namespace, namespace.removesuffix("-api")):
        yield from (f"{app}:{beginning} {argument}" for beginning in beginnings)
    yield from (f"{namespace} {argument}", f"{namespace.removesuffix('-api')} {argument}", argument)


def first(model: type[Model], of: str = "project", **known: Any) -> Callable[[Things], int]:
    """Finds the key of the oldest such row; `of` is the way from it to its project."""
    return lambda its: model._default_manager.filter(**{of: its.project}, **known).earliest("pk").pk


def with_leaks(its: Things) -> int:
    """The key of an evaluation by what a role may not see."""
    rows = Evaluation.objects.filter(project=its.project, scores__measure__startswith="Leaks")
    return rows.earliest("pk").pk


def latest(model: type[Model], **known: Any) -> Callable[[Things], int]:
    return lambda its: model._default_manager.filter(project=its.project, **known).latest("pk").pk


def person(email: str) -> Callable[[Things], int]:
    return lambda its: User.objects.get(email=email).pk


Things.finders = {
    # Arguments that mean the same everywhere
    "slug": lambda its: its.project.slug,
    "baseline": lambda its: its.evaluations[0].pk,
    "block_id": lambda its: its.block.pk,
    "candidate": lambda its: its.evaluations[1].pk,
    "corpus_slug": lambda its: its.corpus.slug,
    "entry": lambda its: its.round.pool.entries.earliest("pk").pk,
    "first": person("mara@tarnwick.example"),
    "gold_set": lambda its: its.version.gold_set.slug,
    "invitation_id": first(Invitation, used_at=None, revoked_at=None),
    "kind": "queries",
    "number": lambda its: its.version.number,
    "part": "canary",
    "person": person("sef@tarnwick.example"),
    "place": 1,
    "reason": "internal",
    "record": 1,
    "rest": "v1/nowhere",
    "second": person("sef@tarnwick.example"),
    "secret_id": lambda its: secrets_in(its.project).first().pk,
    "split": "dev",
    "system_pk": lambda its: its.gate.system_id,
    "token": "a-token-that-nobody-has",
    "token_id": lambda its: its.project.tokens.first().pk,
    "user_id": person(ROLE_HOLDERS["viewer"]),
    "version_pk": lambda its: its.version.pk,
    "visit_id": 1,  # nobody's: a session belongs to a person
    # What is different in one app, or on one page and those whose names begin with its name
    "badges token": lambda its: Badge.objects.filter(gold_set__project=its.project).earliest("pk").token,
    "calibration number": 1,
    "collections:import pk": first(Import, kind="collection"),
    "corpus pk": lambda its: its.snapshot.pk,
    "corpus-api:freeze pk": first(Job, kind=FREEZE),
    "corpus:block pk": lambda its: its.block.pk,
    "corpus:import pk": first(Import, kind="corpus"),
    "corpus:import-new kind": "corpus",
    "corpus:redact pk": first(BlockVersion, "block__corpus__project"),
    "dashboard:clear-storage kind": "figures",
    "dashboard:manual-file name": "glossary.md",
    "editions pk": lambda its: its.snapshot.pk,
    "editions:import pk": lambda its: its.value("corpus:import", "pk"),
    "editions:take-import pk": lambda its: its.value("corpus:import", "pk"),
    "evaluation pk": lambda its: its.evaluations[0].pk,
    "evaluation:leaks pk": with_leaks,
    "evaluation:ledger pk": lambda its: its.evaluations[0].run_id,
    "evaluation:miss pk": lambda its: its.value("evaluation:misses", "pk"),
    "evaluation:misses pk": lambda its: (
        Evaluation.objects.filter(project=its.project).exclude(hit__in=["", TEXT]).earliest("pk").pk
    ),
    "evaluation:not-located pk": latest(Evaluation, hit=TEXT),
    "evaluation:returned pk": latest(Evaluation, hit=TEXT),
    "evaluation:returned query_pk": lambda its: its.value("evaluation:query", "pk"),
    "evaluation:query pk": lambda its: its.version.queries.filter(split="dev").earliest("pk").pk,
    "gates pk": lambda its: its.gate.pk,
    "goldsets:import pk": first(Import, kind="training"),
    "goldsets:retire-training pk": first(TrainingManifest),
    "jobs pk": first(Job),
    "jobs:change-secret pk": first(Webhook),
    "jobs:enable-webhook pk": first(Webhook),
    "jobs:end-webhook pk": first(Webhook),
    "jobs:send-again pk": first(Outbox, kind="webhook"),
    "jobs:try-webhook pk": first(Webhook),
    "judging pk": lambda its: its.round.pk,
    "judging number": lambda its: Guideline.objects.filter(project=its.project).first().number,
    "judging:carry pk": first(Pool),
    "judging:claim pk": Things.placeholder,
    "judging:end-claim pk": Things.placeholder,
    "judging:import pk": latest(Import, kind="judgements"),
    "judging:unanswerable pk": first(Query),
    "judging:unanswerable snapshot": lambda its: its.snapshot.pk,
    "notifications pk": first(Notification),
    "queries pk": first(Query),
    "queries:decide pk": first(FailureReport),
    "queries:grant pk": first(Source),
    "queries:import pk": first(Import, kind="queries"),
    "queries:revoke pk": first(Permission, "source__project"),
    "queries:set pk": latest(SavedSet),
    "queries:source pk": first(Source),
    "querylogs pk": first(QueryLog),
    "querylogs position": 1,
    "querylogs:import pk": first(Import, kind="log"),
    "querylogs:name-remove pk": first(MaskedName),
    "reports pk": lambda its: its.evaluations[0].pk,
    "reports:bias pk": first(BiasReport),
    "reports:judge-next pk": lambda its: its.value("reports:bias", "pk"),
    "reports:stability pk": first(StabilityReport),
    "retrieval pk": first(Upload, kind="run"),
    "retrieval:drop-loaded pk": first(LoadedIndex),
    "retrieval:grow-pool pk": lambda its: its.value("retrieval:pool", "pk"),
    "retrieval:loaded-index pk": first(LoadedIndex),
    "retrieval:missing pk": lambda its: its.value("retrieval:pool", "pk"),
    "retrieval:pace pk": first(System, kind="http"),
    "retrieval:passages-csv pk": lambda its: its.snapshot.pk,
    "retrieval:pool pk": first(Pool),
    "retrieval:provenance pk": lambda its: its.value("retrieval:pool", "pk"),
    "retrieval:push pk": first(Job, kind="retrieval.take_file"),
    "retrieval:reach pk": first(Run),
    "retrieval:results pk": first(Run),
    "retrieval:run pk": first(Run),
    "retrieval:search-loaded pk": first(LoadedIndex),
    "retrieval:sheet pk": lambda its: its.value("retrieval:pool", "pk"),
    "retrieval:system pk": first(System),
    "review pk": first(Triple, state="disputed"),
    "review-api pk": Things.under_review,
    "review candidate_pk": first(CandidateBlock, "triple__project"),
    **{f"review:bulk-{name} pk": first(BulkStep) for name in ("left", "stop", "undo")},
    **{f"review-api:bulk-{name} pk": first(BulkStep) for name in ("step", "undo")},
    "review:candidate pk": first(CandidateBlock, "triple__project"),
    "review:draw-elsewhere pk": first(Import, kind="triples"),
    "review:elsewhere pk": first(Import, kind="triples"),
    "review:screen pk": Things.under_review,
    "review:skip pk": Things.under_review,
    "review:take-elsewhere pk": first(Import, kind="triples"),
    "review:verdict pk": Things.under_review,
    "server-webhook pk": first(Outbox, kind="webhook"),  # the project's: the settings name no webhook of the server
    "systems pk": lambda its: its.value("retrieval:system", "pk"),
    "systems:drop-loaded pk": first(LoadedIndex),
    "systems:loaded-index pk": first(LoadedIndex),
    "systems:pace pk": first(System, kind="http"),
    "systems:search-loaded pk": first(LoadedIndex),
    "triples pk": first(Triple, state="draft", is_machine_written=False),
    "triples-api pk": first(Triple, state="accepted"),
    "triples:adopt pk": first(Triple, is_machine_written=True),
    "triples:candidate pk": first(Triple, is_machine_written=True),
    "triples:draft pk": first(Triple, state="draft", is_machine_written=False),
    "triples:import pk": first(Import, kind="triples"),
    "triples:reject pk": first(Triple, is_machine_written=True),
    "triples:retire pk": first(Triple, state="accepted"),
    "triples:withdraw pk": first(Triple, state="draft", is_machine_written=False),
}


def build_world() -> World:
    """Takes some ten seconds. Needs a database without an open transaction."""
    now = timezone.now()
    host = make_user("Host", is_operator=True)
    projects = []
    for name in ("Ours", "Theirs"):
        job = request_demo(host=host, name=name, at=now)
        failed = [done.error for done in run_jobs() if done.state != "done"]
        assert failed == []
        projects.append(job.project)
    ours, theirs = projects
    world = World(project=ours, other=theirs)
    world.people = _people(ours, theirs, host)
    for project in projects:
        _add_what_the_demo_lacks(project, host)
    return world


def sign_in(world: World) -> None:
    """Let everybody in the world ask."""
    for standing, person in world.people.items():
        client = Client()
        if person is not None:
            client.force_login(person)
        world.askers[standing] = Asker(client.cookies)


def _people(ours: Project, theirs: Project, host: User) -> dict[str, User | None]:
    now = timezone.now()
    people: dict[str, User | None] = {"anonymous": None, "stranger": make_user("Stranger")}
    for role, email in ROLE_HOLDERS.items():
        people[role] = User.objects.get(email=email)
    former = make_user("Former")
    set_roles(project=ours, user=former, roles=list(Role.values), actor=host, at=now)
    set_roles(project=ours, user=former, roles=[], actor=host, at=now)
    people["former"] = former
    people["other_lead"] = make_user("Other lead")
    set_roles(project=theirs, user=people["other_lead"], roles=[Role.LEAD], actor=host, at=now)
    people["operator"] = make_user("Operator", is_operator=True)
    return people


def _add_candidates(project: Project, lead: User, snapshot: Snapshot) -> None:
    """A file of two that a machine wrote, taken in, and one that waits to be confirmed."""
    now = timezone.now()
    block = snapshot.entries.order_by("position").first().block.outside_id
    options = {"format": "jsonl", "corpus": "", "machine": "model-x, prompt 3"}
    for name, questions in (("taken.jsonl", ("What?", "Where?")), ("waiting.jsonl", ("When?",))):
        lines = "".join(
            f'{{"question": "{word}", "expected_block": {{"block_id": "{block}"}}, "expected_answer": "So."}}\n'
            for word in questions
        )
        file = SimpleUploadedFile(name, lines.encode())
        item = start_import(project=project, kind="triples", file=file, options=options, actor=lead, at=now)
        if len(questions) > 1:
            confirm_import(import_id=item.pk, actor=lead, at=now)


def _propose_a_passage(project: Project, lead: User) -> None:
    """A passage that may be right as well, of which the reviewers of an accepted Q&A are asked."""
    reviewer = User.objects.get(email=ROLE_HOLDERS["reviewer"])
    accepted = Triple.objects.filter(project=project, state="accepted", is_stale=False, current__needs_all_blocks=False)
    triple = accepted.exclude(author=reviewer).exclude(author=lead).earliest("pk")
    expected = triple.revision.expected_blocks.values("version")
    entry = triple.revision.snapshot.entries.exclude(version__in=expected).earliest("position")
    propose_block(project=project, triple_id=triple.pk, version=entry.version, person=lead, at=timezone.now())


def _act_on_many(project: Project, lead: User) -> None:
    """A bulk step that is done, and can be undone."""
    triple = Triple.objects.filter(project=project, state="accepted").earliest("pk")
    do_in_bulk(project, BulkKind.DESCRIBE, chosen([triple]), lead=lead, at=timezone.now(), domain="bulk")


def _draw_from_a_log(project: Project, lead: User) -> None:
    """A search log whose queries wait to be read, one that waits to be drawn from, and a name that is masked."""
    rows = b"".join(b"open the %d. door,u%d\n" % (number % 12, person) for number in range(12) for person in range(6))
    options = {
        "name": "Searches",
        "source": "",
        "people": 5,
        "wanted": 10,
        "plan": "balanced",
        "seed": 1,
        "first_row": "",
    }
    now = timezone.now()
    asked: dict[str, Any] = {"project": project, "kind": "log", "options": options, "actor": lead, "at": now}
    item = start_import(file=SimpleUploadedFile("searches.csv", b"query,user\n" + rows), **asked)
    confirm_import(import_id=item.pk, actor=lead, at=now)
    start_import(file=SimpleUploadedFile("more-searches.csv", b"query,user\n" + rows), **asked)
    add_names(project=project, names=["Brightwater"], actor=lead, at=now)


def _start_a_collection(project: Project, lead: User) -> None:
    """A collection that waits for its confirmation."""
    files = {
        "corpus.jsonl": b'{"_id": "d1", "text": "Doors shut."}\n',
        "queries.jsonl": b'{"_id": "Q902", "text": "which doors shut"}\n',
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nQ902\td1\t1\n",
    }
    file = SimpleUploadedFile("doors.zip", zipped(files))
    options = {"corpus": "+", "name": "Doors", "mode": "replace", "splits": "", "grades": "", "skip_unknown": False}
    start_import(project=project, kind="collection", file=file, options=options, actor=lead, at=timezone.now())


def _score_otherwise(project: Project, lead: User) -> None:
    """A run of the demo by text, and on the Q&As of its version, of which most were never asked: they are misses."""
    scored = Evaluation.objects.filter(project=project, hit="").earliest("pk")
    for hit, measures in ((TEXT, "nDCG@10 TokenRecall@10"), ("evidence", "Success@1 RR")):
        request_evaluation(
            project=project,
            run_id=scored.run_id,
            version_id=scored.version_id,
            hit=hit,
            measures=measures,
            actor=lead,
            at=timezone.now(),
        )
    run_jobs()


def request_bias(project: Project, lead: User) -> None:
    """A bias report and a stability report on what the demo has scored, computed."""
    scored = Evaluation.objects.filter(project=project).order_by("pk")
    asked: dict[str, Any] = {
        "project": project,
        "run_ids": list(scored.values_list("run_id", flat=True).distinct()),
        "version_id": scored.first().version_id,
        "actor": lead,
        "at": timezone.now(),
    }
    request_report(kind=BiasReport, **asked, depth=5)
    request_report(kind=StabilityReport, **asked)
    run_jobs()


def _add_what_the_demo_lacks(project: Project, host: User) -> None:
    now = timezone.now()
    lead = User.objects.get(email=ROLE_HOLDERS["lead"])
    snapshot = Snapshot.objects.filter(corpus__project=project).order_by("-number").first()
    options = {"format": "jsonl", "ids": "file", "mode": "merge", "corpus": snapshot.corpus.slug, "name": ""}
    file = SimpleUploadedFile("more.jsonl", b'{"block_id": "X-1", "document_id": "x", "title": "X", "text": "More."}\n')
    start_import(project=project, kind="corpus", file=file, options=options, actor=lead, at=now)
    file = SimpleUploadedFile("queries.csv", b"query_id,text\nQ901,who opens the archive\n")
    options = {"format": "csv", "ids": "file", "source": ""}
    start_import(project=project, kind="queries", file=file, options=options, actor=lead, at=now)
    words = {"text": "where is the key to the archive", "expected": "", "passage": ""}
    report_failure(project=project, has_consent=True, actor=lead, at=now, **words)
    save_set(project=project, name="Live queries", filters=QueryFilters(), actor=lead, at=now)
    _start_a_collection(project, lead)
    _draw_from_a_log(project, lead)
    _add_candidates(project, lead, snapshot)
    _act_on_many(project, lead)
    _propose_a_passage(project, lead)
    _score_otherwise(project, lead)
    grades = SimpleUploadedFile("searches.csv", b"query,url,rank,grade\nwho may open,SEC-4.2,1,2\n")
    chosen = {"format": "table", "snapshot": str(snapshot.pk)}
    start_import(project=project, kind="judgements", file=grades, options=chosen, actor=lead, at=now)
    named = SimpleUploadedFile("named.csv", b"query,url,rater,grade\nwho may open,SEC-4.2,Ana,2\n")
    item = start_import(project=project, kind="judgements", file=named, options=chosen, actor=lead, at=now)
    confirm_import(import_id=item.pk, actor=lead, at=now)
    file = SimpleUploadedFile("more.run", b"Q001 Q0 SEC-4.2 1 2.5 more\n")
    handed_in: dict[str, Any] = {"project": project, "snapshot": snapshot, "actor": lead, "at": now}
    handed_in["details"] = {"system": "", "tag": "", "note": "", "commit": ""}
    upload_run(**handed_in, file=file)
    enqueue(kind=FREEZE, params={"corpus_id": snapshot.corpus_id, "name": ""}, project=project, actor=lead, at=now)
    push_run(**handed_in, trec="Q001 Q0 nowhere 1 2.5 pushed\n", skip_unknown=False, at_once=False)
    request_bias(project, lead)
    add_training_manifest(
        project=project,
        name="Ranker",
        file="trained.txt",
        entries=[Entry(EntryKind.QUESTION, "elsewhere-1")],
        actor=lead,
        at=now,
    )
    file = SimpleUploadedFile("trained-too.txt", b"elsewhere-2\n")
    options = {"name": "Reranker", "format": "lines", "ids": "question"}
    start_import(project=project, kind="training", file=file, options=options, actor=lead, at=now)
    invite(project=project, actor=lead, roles=[Role.VIEWER], at=now)
    save_secret(project=project, name="search-key", value=SECRET, actor=lead, at=now)
    create_remote_system(
        project=project,
        name="Elsewhere",
        kind="http",
        parameters={
            "url": "https://search.example/?q={{query}}",
            "method": "GET",
            "ids": "hits[*].id",
            "auth": {"kind": "bearer", "secret": "search-key"},
        },
        actor=lead,
        at=now,
    )
    # Inside this server's network, so that its job ends at once wherever it is run.
    load_snapshot(project=project, snapshot_id=snapshot.pk, url="http://127.0.0.1:9200", actor=lead, at=now)
    webhook, _ = add_webhook(project=project, url="https://ci.example/karat", secret="search-key", actor=lead, at=now)
    try_webhook(webhook=webhook, at=now)
    gate = Gate.objects.filter(gold_set__project=project).earliest("pk")
    make_badge(gold_set=gate.gold_set, system=gate.system, actor=lead, at=now)
    create_token(project=project, user=lead, name="CI", scopes=[Scope.RUNS_READ], at=now, lasts=timedelta(days=1))

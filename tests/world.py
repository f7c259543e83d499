"""Two whole projects, made by the demo's walk through the real actions, and people of every standing towards one."""

from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.invitations import invite
from apps.accounts.actions.projects import set_roles
from apps.accounts.actions.secrets import save_secret
from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Role, Scope
from apps.accounts.models import STAND_IN_DOMAIN, Invitation, Project, User
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
from apps.queries.models import Permission, Query, Source
from apps.reports.actions.analyses import request_report
from apps.reports.models import BiasReport, StabilityReport
from apps.retrieval.actions.intake import push_run, upload_run
from apps.retrieval.actions.loading import load_snapshot
from apps.retrieval.actions.systems import create_remote_system
from apps.retrieval.models import LoadedIndex, Pool, Run, System
from apps.review.actions.candidate_blocks import propose_block
from apps.review.models import CandidateBlock, ReviewSeat
from apps.triples.models import Triple
from tests.factories import make_user
from tests.judging.archives import zipped
from tests.running_jobs import run_jobs

SECRET = "sesame-12345"
ROLE_HOLDERS = {
    "viewer": "ola@tarnwick.example",
    "annotator": "mara@tarnwick.example",
    "reviewer": "tobias@tarnwick.example",
    "lead": "petra@tarnwick.example",
}


@dataclass
class World:
    """`project` is the one the matrix asks about; `other` stands beside it with lookalike objects."""

    project: Project
    other: Project
    people: dict[str, User | None] = field(default_factory=dict)
    cookies: dict[str, Any] = field(default_factory=dict)

    def kwargs(self, name: str, route: str, project: Project | None = None) -> dict[str, Any]:
        """Arguments for an endpoint of `project` (ours by default): its slug, and an object of every kind it names."""
        things = self.things(project or self.project)
        values: dict[str, Any] = {}
        for argument in route.split("<")[1:]:
            argument = argument.split(">")[0].split(":")[-1]
            values[argument] = things.value(name, argument, project or self.project)
        return values

    def things(self, project: Project) -> "Things":
        return Things(project)

    def url(self, name: str, route: str) -> str:
        return reverse(name, kwargs=self.kwargs(name, route))


class Things:
    """One object of each kind in a project."""

    def __init_subclass__(cls) -> None:
        """What a subclass finds in another way it finds so under every name."""
        for name, finder in vars(Things).items():
            own = getattr(finder, "__name__", "")
            if own != name and own in vars(cls):
                setattr(cls, name, vars(cls)[own])

    def __init__(self, project: Project) -> None:
        self.project = project

    def value(self, name: str, argument: str, project: Project) -> Any:
        if argument == "slug":
            return project.slug
        finder = getattr(self, f"{name.replace(':', '_').replace('-', '_')}__{argument}", None)
        if finder is None:
            finder = getattr(self, f"{name.split(':')[0].replace('-', '_')}__{argument}", None)
        if finder is None:
            finder = getattr(self, f"any__{argument}")
        return finder()

    # Arguments that mean the same everywhere
    def any__corpus_slug(self) -> str:
        return self.corpus.slug

    def any__gold_set(self) -> str:
        return self.version.gold_set.slug

    def any__system_pk(self) -> int:
        return Gate.objects.filter(gold_set__project=self.project).earliest("pk").system_id

    def any__number(self) -> int:
        return self.version.number

    def any__version_pk(self) -> int:
        return self.version.pk

    def dashboard_manual_file__name(self) -> str:
        return "glossary.md"

    def dashboard_clear_storage__kind(self) -> str:
        return "figures"

    def any__token(self) -> str:
        return "a-token-that-nobody-has"

    def any__rest(self) -> str:
        return "v1/nowhere"

    def any__kind(self) -> str:
        return "queries"

    def any__part(self) -> str:
        return "canary"

    def any__record(self) -> int:
        return 1

    def any__reason(self) -> str:
        return "internal"

    def any__split(self) -> str:
        return "dev"

    def any__user_id(self) -> int:
        return User.objects.get(email=ROLE_HOLDERS["viewer"]).pk

    def any__visit_id(self) -> int:
        return 1  # nobody's: a session belongs to a person

    def any__invitation_id(self) -> int:
        return Invitation.objects.filter(project=self.project, used_at=None, revoked_at=None).first().pk

    def any__secret_id(self) -> int:
        return secrets_in(self.project).first().pk

    def any__token_id(self) -> int:
        return self.project.tokens.first().pk

    def any__block_id(self) -> int:
        return self.block.pk

    def any__first(self) -> int:
        return User.objects.get(email="mara@tarnwick.example").pk

    def any__second(self) -> int:
        return User.objects.get(email="sef@tarnwick.example").pk

    def any__baseline(self) -> int:
        return self.evaluations[0].pk

    def any__candidate(self) -> int:
        return self.evaluations[1].pk

    def any__entry(self) -> int:
        return self.round.pool.entries.order_by("pk").first().pk

    # `pk`, by the app or the page it stands in
    def corpus_import_new__kind(self) -> str:
        return "corpus"

    def notifications__pk(self) -> int:
        return Notification.objects.filter(project=self.project).earliest("pk").pk

    notifications_api__pk = notifications__pk

    def corpus__pk(self) -> int:
        return self.snapshot.pk

    corpus_api__pk = corpus__pk

    def corpus_api_freeze__pk(self) -> int:
        return Job.objects.get(project=self.project, kind=FREEZE).pk

    def corpus_block__pk(self) -> int:
        return self.block.pk

    def corpus_redact__pk(self) -> int:
        return BlockVersion.objects.filter(block__corpus=self.corpus).order_by("pk").first().pk

    def corpus_import__pk(self) -> int:
        return Import.objects.filter(project=self.project, kind="corpus").first().pk

    corpus_import_columns__pk = corpus_import__pk
    corpus_import_confirm__pk = corpus_import__pk
    corpus_import_discard__pk = corpus_import__pk
    corpus_import_errors__pk = corpus_import__pk
    corpus_import_fix__pk = corpus_import__pk
    corpus_import_options__pk = corpus_import__pk
    corpus_import_undo__pk = corpus_import__pk

    corpus_api_import__pk = corpus_import__pk
    corpus_api_import_options__pk = corpus_import__pk
    corpus_api_import_fix__pk = corpus_import__pk
    corpus_api_import_columns__pk = corpus_import__pk
    corpus_api_import_confirm__pk = corpus_import__pk
    corpus_api_import_discard__pk = corpus_import__pk
    corpus_api_import_undo__pk = corpus_import__pk
    corpus_api_redact__pk = corpus_redact__pk

    def queries_api_import__pk(self) -> int:
        return Import.objects.filter(project=self.project, kind="queries").first().pk

    queries_api_import_options__pk = queries_api_import__pk
    queries_api_import_fix__pk = queries_api_import__pk
    queries_api_import_columns__pk = queries_api_import__pk
    queries_api_import_confirm__pk = queries_api_import__pk
    queries_api_import_discard__pk = queries_api_import__pk
    queries_api_import_undo__pk = queries_api_import__pk

    def collections_api_import__pk(self) -> int:
        return Import.objects.filter(project=self.project, kind="collection").first().pk

    collections_api_import_options__pk = collections_api_import__pk
    collections_api_import_fix__pk = collections_api_import__pk
    collections_api_import_columns__pk = collections_api_import__pk
    collections_api_import_confirm__pk = collections_api_import__pk
    collections_api_import_discard__pk = collections_api_import__pk
    collections_api_import_undo__pk = collections_api_import__pk

    editions_import__pk = corpus_import__pk
    editions_take_import__pk = corpus_import__pk
    editions_snapshot__pk = corpus__pk
    editions_take_snapshot__pk = corpus__pk
    editions_run_again__pk = corpus__pk
    editions_api_import__pk = corpus_import__pk
    editions_api_import_changes__pk = corpus_import__pk
    editions_api_import_passages__pk = corpus_import__pk
    editions_api_import_decisions__pk = corpus_import__pk
    editions_api_import_take__pk = corpus_import__pk
    editions_api_snapshot__pk = corpus__pk
    editions_api_snapshot_changes__pk = corpus__pk
    editions_api_snapshot_passages__pk = corpus__pk
    editions_api_snapshot_decisions__pk = corpus__pk
    editions_api_snapshot_take__pk = corpus__pk
    editions_api_run_again__pk = corpus__pk

    def queries__pk(self) -> int:
        return Query.objects.filter(project=self.project).order_by("pk").first().pk

    queries_api__pk = queries__pk

    def queries_source__pk(self) -> int:
        return Source.objects.filter(project=self.project).first().pk

    queries_source_edit__pk = queries_source__pk
    queries_grant__pk = queries_source__pk
    queries_api_source_detail__pk = queries_source__pk
    queries_api_source_edit__pk = queries_source__pk
    queries_api_grant__pk = queries_source__pk

    def queries_revoke__pk(self) -> int:
        return Permission.objects.filter(source__project=self.project).first().pk

    queries_api_revoke__pk = queries_revoke__pk

    def retrieval_system__pk(self) -> int:
        return System.objects.filter(project=self.project).first().pk

    def retrieval_pace__pk(self) -> int:
        return System.objects.get(project=self.project, kind="http").pk

    def retrieval_run__pk(self) -> int:
        return Run.objects.filter(project=self.project).order_by("pk").first().pk

    retrieval_api_run__pk = retrieval_run__pk
    systems_api__pk = retrieval_system__pk

    def retrieval_loaded_index__pk(self) -> int:
        return LoadedIndex.objects.get(project=self.project).pk

    retrieval_drop_loaded__pk = retrieval_search_loaded__pk = retrieval_loaded_index__pk
    systems_api_loaded_index__pk = systems_api_drop_loaded__pk = retrieval_loaded_index__pk
    systems_api_search_loaded__pk = retrieval_loaded_index__pk
    systems_api_pace__pk = retrieval_pace__pk

    def retrieval_api_push__pk(self) -> int:
        return Job.objects.get(project=self.project, kind="retrieval.take_file").pk

    def retrieval__pk(self) -> int:
        return Upload.objects.filter(project=self.project, kind="run").first().pk

    def retrieval_pool__pk(self) -> int:
        return Pool.objects.filter(project=self.project).order_by("pk").first().pk

    def retrieval_passages_csv__pk(self) -> int:
        return self.snapshot.pk

    retrieval_grow_pool__pk = retrieval_pool__pk
    retrieval_missing__pk = retrieval_pool__pk
    judging_carry__pk = retrieval_pool__pk
    retrieval_provenance__pk = retrieval_pool__pk
    retrieval_api_pool__pk = retrieval_api_grow_pool__pk = retrieval_api_missing__pk = retrieval_pool__pk

    def judging__pk(self) -> int:
        return self.round.pk

    judging_api__pk = judging__pk

    def judging_api_carry__pk(self) -> int:
        return self.retrieval_pool__pk()

    def judging_api__number(self) -> int:
        return self.judging_guideline__number()

    def judging_guideline__number(self) -> int:
        return Guideline.objects.filter(project=self.project).first().number

    def agreement__person(self) -> int:
        return self.any__second()

    agreement_api__person = agreement__person

    def calibration__number(self) -> int:
        return 1

    def calibration__place(self) -> int:
        return 1

    calibration_api__number = calibration__number
    calibration_api__place = calibration__place

    def triples__pk(self) -> int:
        return Triple.objects.filter(project=self.project, state="draft", is_machine_written=False).first().pk

    def triples_candidate__pk(self) -> int:
        return Triple.objects.filter(project=self.project, is_machine_written=True).first().pk

    triples_adopt__pk = triples_candidate__pk
    triples_reject__pk = triples_candidate__pk

    def triples_api_import__pk(self) -> int:
        return Import.objects.filter(project=self.project, kind="triples").first().pk

    triples_api_import_options__pk = triples_api_import__pk
    triples_api_import_fix__pk = triples_api_import__pk
    triples_api_import_columns__pk = triples_api_import__pk
    triples_api_import_confirm__pk = triples_api_import__pk
    triples_api_import_discard__pk = triples_api_import__pk
    triples_api_import_undo__pk = triples_api_import__pk

    def judging_api_import__pk(self) -> int:
        return Import.objects.filter(project=self.project, kind="judgements").latest("pk").pk

    judging_api_import_options__pk = judging_api_import__pk
    judging_api_import_fix__pk = judging_api_import__pk
    judging_api_import_columns__pk = judging_api_import__pk
    judging_api_import_confirm__pk = judging_api_import__pk
    judging_api_import_discard__pk = judging_api_import__pk
    judging_api_import_undo__pk = judging_api_import__pk

    def judging_claim_placeholder__pk(self) -> int:
        rows = RoundAnnotator.objects.filter(round__project=self.project, round__kind="imported")
        return rows.filter(annotator__email__endswith=STAND_IN_DOMAIN).earliest("pk").annotator_id

    judging_end_claim__pk = judging_claim_placeholder__pk
    judging_api_claim__pk = judging_claim_placeholder__pk
    judging_api_end_claim__pk = judging_claim_placeholder__pk

    def triples_retire__pk(self) -> int:
        return Triple.objects.filter(project=self.project, state="accepted").first().pk

    def triples_api__pk(self) -> int:
        return Triple.objects.filter(project=self.project, state="accepted").first().pk

    triples_api_adopt__pk = triples_candidate__pk
    triples_api_reject__pk = triples_candidate__pk
    triples_api_draft__pk = triples__pk
    triples_api_withdraw__pk = triples__pk

    def review__pk(self) -> int:
        return Triple.objects.filter(project=self.project, state="disputed").first().pk

    def review_screen__pk(self) -> int:
        seat = ReviewSeat.objects.filter(
            revision__triple__project=self.project,
            revision__triple__state="in_review",
            reviewer__email=ROLE_HOLDERS["reviewer"],
            verdicts=None,
        ).first()
        return seat.revision.triple_id

    review_verdict__pk = review_screen__pk
    review_skip__pk = review_screen__pk
    review_api__pk = review_screen__pk

    def review__candidate_pk(self) -> int:
        return CandidateBlock.objects.get(triple__project=self.project).pk

    review_api_candidate_answer__pk = review__candidate_pk
    review_api_candidate_decide__pk = review_api_candidate_withdraw__pk = review__candidate_pk

    def evaluation__pk(self) -> int:
        return self.evaluations[0].pk

    def evaluation_misses__pk(self) -> int:
        return Evaluation.objects.filter(project=self.project).exclude(hit="").earliest("pk").pk

    evaluation_miss_note__pk = evaluation_misses__pk
    evaluation_api_misses__pk = evaluation_misses__pk

    def evaluation__place(self) -> int:
        return 1

    evaluation_api__pk = evaluation__pk

    reports_evaluation__pk = evaluation__pk
    reports_api_evaluation__pk = evaluation__pk

    def reports_bias__pk(self) -> int:
        return BiasReport.objects.filter(project=self.project).get().pk

    reports_judge_next__pk = reports_bias__pk
    reports_api_bias__pk = reports_bias__pk
    reports_api_judge_next__pk = reports_bias__pk

    def goldsets_retire_training__pk(self) -> int:
        return TrainingManifest.objects.get(project=self.project).pk

    goldsets_api_retire_training__pk = goldsets_retire_training__pk

    def goldsets_api_import__pk(self) -> int:
        return Import.objects.filter(project=self.project, kind="training").first().pk

    goldsets_api_import_options__pk = goldsets_api_import__pk
    goldsets_api_import_fix__pk = goldsets_api_import__pk
    goldsets_api_import_columns__pk = goldsets_api_import__pk
    goldsets_api_import_confirm__pk = goldsets_api_import__pk
    goldsets_api_import_discard__pk = goldsets_api_import__pk
    goldsets_api_import_undo__pk = goldsets_api_import__pk

    def gates__pk(self) -> int:
        return Gate.objects.filter(gold_set__project=self.project).order_by("pk").first().pk

    gates_api__pk = gates__pk

    def badges__token(self) -> str:
        return Badge.objects.filter(gold_set__project=self.project).earliest("pk").token

    def jobs_try_webhook__pk(self) -> int:
        return Webhook.objects.filter(project=self.project).earliest("pk").pk

    jobs_end_webhook__pk = jobs_change_secret__pk = jobs_enable_webhook__pk = jobs_try_webhook__pk

    def jobs_send_again__pk(self) -> int:
        return Outbox.objects.filter(project=self.project, kind="webhook").earliest("pk").pk

    jobs_api_send_again__pk = jobs_send_again__pk

    def server_webhook__pk(self) -> int:
        """None of the server's: its settings name no webhook. A message of the project is none of them."""
        return self.jobs_send_again__pk()

    def reports_stability__pk(self) -> int:
        return StabilityReport.objects.filter(project=self.project).get().pk

    reports_api_stability__pk = reports_stability__pk

    def evaluation_query__pk(self) -> int:
        return self.version.queries.filter(split="dev").order_by("pk").first().pk

    evaluation_ask_grades__pk = evaluation_query__pk

    def evaluation_ledger_note__pk(self) -> int:
        return self.evaluations[0].run_id

    evaluation_api_ledger__pk = evaluation_ledger_note__pk

    def jobs__pk(self) -> int:
        return Job.objects.filter(project=self.project).order_by("pk").first().pk

    jobs_api__pk = jobs__pk

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
    """Give the world the cookies of everybody in it."""
    for standing, person in world.people.items():
        client = Client()
        if person is not None:
            client.force_login(person)
        world.cookies[standing] = client.cookies


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


def _score_on_triples(project: Project, lead: User) -> None:
    """A run of the demo on the Q&As of its version, of which most were never asked: they are misses."""
    scored = Evaluation.objects.filter(project=project, hit="").earliest("pk")
    request_evaluation(
        project=project,
        run_id=scored.run_id,
        version_id=scored.version_id,
        hit="evidence",
        measures="Success@1 RR",
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
    _start_a_collection(project, lead)
    _add_candidates(project, lead, snapshot)
    _propose_a_passage(project, lead)
    _score_on_triples(project, lead)
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

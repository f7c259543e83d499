"""The main job as steps that acceptance tests share, each through the door a user has: command line, HTTP, actions."""

import io
import json
import random
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from apps.accounts.models import Project, User
from apps.config.commandline import main as karat
from apps.goldsets.actions.versions import create_gold_set, draft_version, freeze_version, release_version
from apps.goldsets.models import Version
from apps.judging.actions.adjudication import adjudicate
from apps.judging.actions.guidelines import publish_guideline
from apps.judging.actions.rounds import close_round, open_round
from apps.judging.core.plan import Plan
from apps.judging.enums import ErrorType
from apps.judging.models import Round
from apps.judging.selectors.deciding import adjudicable
from apps.judging.selectors.rounds import entry_in
from apps.queries.actions.sources import create_source, grant_permission
from apps.queries.enums import PermissionScope, SourceKind
from apps.retrieval.models import Pool
from tests.factories import lead_of
from tests.running_jobs import run_jobs

Truth = dict[tuple[str, str], int]


def command(*arguments: str) -> str:
    """Run a management command and return what it printed."""
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def score(*arguments: str) -> dict[str, Any]:
    """`karat score … --format json`, read back."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert karat(["score", *arguments, "--format", "json"]) == 0
    return json.loads(out.getvalue())


def permit(project: Project, slug: str) -> str:
    """A source under which queries may be used: without one nothing is released. Returns its slug."""
    lead, now = lead_of(project), timezone.now()
    source = create_source(project=project, name=slug, slug=slug, kind=SourceKind.PUBLIC_RFP, actor=lead, at=now)
    grant_permission(
        source_id=source.pk, owner="Its authors", scope=PermissionScope.PUBLIC, evidence="A test", actor=lead, at=now
    )
    return slug


def begin_round(project: Project, pool: Pool, annotators: list[User], plan: Plan) -> Round:
    lead, now = lead_of(project), timezone.now()
    grades = [
        {"grade": entry["grade"], "name": entry["name"], "definition": entry["hint"], "examples": []}
        for entry in project.scale
    ]
    guideline = publish_guideline(project=project, actor=lead, grades=grades, at=now)
    round_ = open_round(
        project=project, actor=lead, pool=pool, guideline=guideline, annotators=annotators, plan=plan, at=now
    )
    run_jobs()
    round_.refresh_from_db()
    return round_


def grade_over_http(project: Project, round_: Round, annotator: User, truth: Truth, *, noise: float) -> int:
    """Grade all that an annotator can get, as a script would: GET pairs, POST grades. Returns how many were given.

    With probability `noise` the grade is another one of the scale. A pair that `truth` does not name is worth 0.
    """
    client = Client()
    client.force_login(annotator)
    base = f"/api/v1/projects/{project.slug}/judging/rounds/{round_.pk}"
    dice = random.Random(annotator.pk)
    given = 0
    while pairs := client.get(f"{base}/pairs/", {"n": 20}).json()["pairs"]:
        for pair in pairs:
            grade = truth.get((pair["query"]["id"], pair["block"]["id"]), 0)
            if dice.random() < noise:
                grade = dice.choice([other for other in project.grades if other != grade])
            body = {"seat": pair["seat"], "grade": grade, "idempotency_key": f"{round_.pk}-{pair['seat']}"}
            answer = client.post(f"{base}/judgements/", body, content_type="application/json")
            assert answer.status_code == 201, answer.content
            given += 1
    return given


def settle(project: Project, round_: Round, truth: Truth) -> int:
    """Let the lead decide every pair its judges left open. Returns how many there were."""
    lead = lead_of(project)
    open_pairs = list(adjudicable(round_, lead))
    for pair in open_pairs:
        entry = entry_in(round_, pair.entry_id)
        adjudicate(
            round_=round_,
            entry=entry,
            adjudicator=lead,
            grade=truth.get((entry.query.outside_id, entry.version.block.outside_id), 0),
            reason="Read both again.",
            error_type=ErrorType.SLIP,
            at=timezone.now(),
        )
    close_round(round_id=round_.pk, actor=lead, at=timezone.now())
    return len(open_pairs)


def release(project: Project, round_: Round, *, test_share: float = 0.5) -> Version:
    lead, now = lead_of(project), timezone.now()
    gold_set = create_gold_set(project=project, name="Gold", actor=lead, at=now)
    version = draft_version(
        gold_set_id=gold_set.pk,
        snapshot=round_.pool.snapshot,
        rounds=[round_],
        actor=lead,
        at=now,
        test_share=test_share,
        seed=1,
    )
    freeze_version(version_id=version.pk, actor=lead, at=now)
    return release_version(version_id=version.pk, actor=lead, at=now)


def export(version: Version, folder: Path, *forms: str) -> Path:
    project = version.gold_set.project
    arguments = [item for form in forms for item in ("--format", form)]
    name = f"{version.gold_set.slug}/v{version.number}"
    command("export", "--project", project.slug, "--version", name, "--out", str(folder), *arguments)
    return folder

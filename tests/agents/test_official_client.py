"""The official client of the protocol walks from files to misses, in both revisions.

It brings a web server along and is no development package: KARAT_READERS names a Python that has `mcp`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.utils import timezone

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.goldsets.enums import VersionState
from tests.agents.asking import secret_of
from tests.agents.test_tools import HANDBOOK, QUERIES
from tests.factories import lead_of, make_project
from tests.goldsets.factories import make_bench, make_version
from tests.judging.factories import make_guideline
from tests.running_jobs import run_jobs

pytestmark = [pytest.mark.slow, pytest.mark.once, pytest.mark.django_db(transaction=True)]

PYTHON = os.environ.get("KARAT_READERS", sys.executable)
PROGRAM = Path(__file__).with_name("official_client.py")


@pytest.fixture(params=["auto", "legacy"])
def call(request, live_server):
    """Makes calls with the token of a person, and then does the jobs that they queued."""
    if subprocess.run([PYTHON, "-c", "import mcp"], capture_output=True).returncode:
        pytest.skip("mcp is not installed; KARAT_READERS may name a Python that has it")

    def made(secret: str, *calls: tuple[str, dict]) -> list:
        command = [PYTHON, str(PROGRAM), f"{live_server.url}/mcp", request.param]
        there = {**os.environ, "KARAT_TOKEN": secret}
        ran = subprocess.run(command, input=json.dumps(calls), capture_output=True, text=True, env=there)
        assert ran.returncode == 0, ran.stderr[-2000:]
        run_jobs()
        return json.loads(ran.stdout.splitlines()[-1])

    return made


def test_it_walks_from_two_files_to_the_progress_of_a_round(call):
    project = make_project()
    lead = lead_of(project)
    set_roles(project=project, user=lead, roles=[Role.LEAD, Role.ANNOTATOR], actor=lead, at=timezone.now())
    make_guideline(project)
    secret = secret_of(project, lead, at=timezone.now())

    call(
        secret,
        ("import_documents", {"file_name": "handbook.md", "file": HANDBOOK, "corpus": "+"}),
        ("confirm_documents_import", {"id": "$0.id"}),
        ("import_queries", {"file_name": "queries.csv", "file": QUERIES}),
        ("confirm_queries_import", {"id": "$2.id"}),
        ("freeze_snapshot", {"corpus": "handbook", "name": "First"}),
        ("create_system", {"name": "BM25", "kind": "bm25"}),
        ("run_system", {"id": "$5.id", "snapshot": "handbook@1"}),
    )
    call(
        secret,
        ("list_runs", {}),
        ("build_pool", {"name": "Pool", "snapshot": "handbook@1", "runs": ["$0.results.0.id"], "depth": 2}),
    )
    *_, progress = call(
        secret,
        ("read_round_offer", {}),
        ("plan_round", {"pool": "$0.pools.0.id", "annotators": [lead.pk], "name": "Round"}),
        ("list_rounds", {}),
    )

    (row,) = progress["rounds"]
    assert (row["round"]["state"], row["done"]) == ("open", 0)
    assert row["planned"] > 0


def test_it_walks_from_a_released_version_to_scores_and_misses(call):
    version = make_version(VersionState.RELEASED, make_bench(triples=2), test_share=0.0)
    project = version.gold_set.project
    secret = secret_of(project, lead_of(project), at=timezone.now())
    corpus = f"{version.snapshot.corpus.slug}@{version.snapshot.number}"
    questions = f"{version.gold_set.slug}/{version.label}"

    call(
        secret,
        ("create_system", {"name": "BM25", "kind": "bm25"}),
        ("run_system", {"id": "$0.id", "snapshot": corpus, "questions": questions, "depth": 1}),
    )
    call(
        secret,
        ("list_runs", {}),
        ("list_versions", {}),
        ("score_run", {"run": "$0.results.0.id", "version": "$1.results.0.id", "hit": "block", "measures": "RR"}),
        ("score_run", {"run": "$0.results.0.id", "version": "$1.results.0.id", "measures": "nDCG@10"}),
    )
    scores, misses, *_ = call(
        secret,
        ("list_scores", {}),
        ("list_misses", {"id": "$0.results.1.id"}),
        ("list_gates", {}),
    )

    assert len(scores["results"]) == 2
    assert (misses["measure"], misses["count"]) == ("RR", 0)

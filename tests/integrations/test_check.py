"""The job of a pipeline: one comment that is written, then changed; refusals; exit codes; and no input that is run."""

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import timedelta

import pytest
import yaml
from django.utils import timezone

from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Scope
from tests.cli.evaluate.releases import many_questions, write_release
from tests.conftest import REPO
from tests.evaluation.factories import BAD, make_scene, qrels_of
from tests.integrations.forges import running

FOLDER = REPO / "integrations"
SCRIPT = FOLDER / "check.sh"
MARKER = "<!-- karat: gold-set -->"
GATE = '[[gate]]\nname = "First screen"\nfigure = "RR"\nat_least = {bound}\non = "interval"\n'
WIDE = "".join(f"Q{number:03} Q0 {'a' if number % 2 else 'z'} 1 1.0 mine\n" for number in range(20))
pytestmark = pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")


@pytest.fixture(params=["github", "gitlab"])
def forge(request):
    with running(request.param) as forge:
        yield forge


@pytest.fixture
def at(tmp_path):
    """The checkout of a pipeline, with the command `karat`, a run of which half is right, and a gate that it fails."""
    write_release(tmp_path / "doors-v2", content=many_questions(20))
    (tmp_path / "mine.run").write_text(WIDE)
    (tmp_path / "gates.toml").write_text(GATE.format(bound=0.9))
    (tmp_path / "event.json").write_text('{"pull_request": {"number": 7}}')
    (tmp_path / "bin").mkdir()
    karat = tmp_path / "bin" / "karat"
    karat.write_text(f'#!/bin/sh\nPYTHONPATH={REPO} exec {sys.executable} -m apps.config.commandline "$@"\n')
    karat.chmod(0o755)
    return tmp_path


def run(at, forge, **others):
    """The job on pull request 7, without what the environment of the tests has."""
    variables = {
        "PATH": f"{at / 'bin'}:{os.environ['PATH']}",
        "KARAT_HOME": str(at / "none"),
        "KARAT_RELEASE": "doors-v2",
        "KARAT_GATES": "gates.toml",
        "KARAT_ARGUMENTS": "--run mine.run\n--quiet\n",
        "GITHUB_EVENT_PATH": str(at / "event.json"),
        "GITHUB_API_URL": forge.url,
        "GITHUB_REPOSITORY": "team/search",
        "GITHUB_TOKEN": "forge-secret",
        "CI_API_V4_URL": forge.url,
        "CI_PROJECT_ID": "5",
        "CI_MERGE_REQUEST_IID": "7",
        "KARAT_GITLAB_TOKEN": "forge-secret",
        **others,
    }
    return subprocess.run(["sh", str(SCRIPT), forge.kind], cwd=at, env=variables, capture_output=True, text=True)


def test_the_first_run_writes_a_comment_and_the_next_one_changes_it(at, forge):
    forge.add("Looks good to me.", by="petra")

    first = run(at, forge)
    (at / "gates.toml").write_text(GATE.format(bound=0.2))
    second = run(at, forge)

    assert (first.returncode, second.returncode) == (1, 0), first.stderr + second.stderr
    talk, ours = forge.bodies
    assert talk == "Looks good to me."
    assert ours.startswith(f"{MARKER}\n**Passed:** gate `First screen` of `mine` on `Doors v2`: RR is 0.5000, ")
    assert [method for method, _ in forge.asked if method != "GET"] == ["POST", forge.asked[-1][0]]
    assert forge.asked[-1][0] in {"PATCH", "PUT"}


def test_an_earlier_comment_is_found_behind_many_others_and_only_our_own(at, forge):
    forge.add(f"{MARKER}\nAll is well, trust me.", by="mallory")
    for number in range(120):
        forge.add(f"{number}")
    forge.add(f"{MARKER}\nold")

    assert run(at, forge).returncode == 1

    assert len(forge.bodies) == 122
    assert forge.bodies[0].endswith("trust me.")
    assert forge.bodies[-1].startswith(f"{MARKER}\n**Failed:**")


def test_jobs_with_names_have_a_comment_each(at, forge):
    run(at, forge)
    run(at, forge, KARAT_NAME="nightly")
    run(at, forge, KARAT_NAME="nightly")

    assert [body.split("\n")[0] for body in forge.bodies] == [MARKER, "<!-- karat: nightly -->"]


@pytest.mark.parametrize("refused", ["GET", "POST"])
def test_where_writing_is_refused_the_job_prints_the_comment_and_ends_with_its_own_code(at, forge, refused):
    forge.refuses = {refused}

    done = run(at, forge)

    assert done.returncode == 1
    assert forge.bodies == []
    assert "karat: the comment was not written: the answer was 403. Writing it needs " in done.stdout
    assert "**Failed:** gate `First screen` of `mine` on `Doors v2`" in done.stdout
    assert "forge-secret" not in done.stdout + done.stderr


def test_a_forge_that_does_not_answer_changes_no_code(at, forge):
    done = run(at, forge, GITHUB_API_URL="http://127.0.0.1:9", CI_API_V4_URL="http://127.0.0.1:9")

    assert done.returncode == 1
    assert "the answer was 000." in done.stdout


def test_without_a_pull_request_nothing_is_asked(at, forge):
    done = run(at, forge, GITHUB_EVENT_PATH="", CI_MERGE_REQUEST_IID="")

    assert done.returncode == 1
    assert "There is no pull request here. The comment would be:\n\n**Failed:**" in done.stdout
    assert forge.asked == []


@pytest.mark.parametrize(
    ("others", "gate", "code", "begins"),
    [
        ({}, GATE.format(bound=0.4), 4, "**Not known yet:** gate `First screen`"),
        ({}, GATE.format(bound=0.2) + 'tier = "deep"\n', 5, "**Nothing checked:** there is no gate of this tier"),
        ({"KARAT_ARGUMENTS": "--no-such-option"}, GATE, 2, "**Not measured:** karat eval ended with code 2."),
        ({"KARAT_RELEASE": "lost"}, GATE.format(bound=0.2), 3, "**Not measured:** karat eval ended with code 3."),
    ],
)
def test_the_job_ends_with_the_code_of_the_command(at, others, gate, code, begins):
    (at / "gates.toml").write_text(gate)

    with running("github") as forge:
        done = run(at, forge, **others)

    assert done.returncode == code
    assert forge.bodies[0].startswith(f"{MARKER}\n{begins}")


def test_the_summary_of_the_job_has_the_comment_too(at):
    with running("github") as forge:
        run(at, forge, GITHUB_STEP_SUMMARY=str(at / "summary.md"))

    assert forge.bodies == [f"{MARKER}\n{(at / 'summary.md').read_text()}"]


def test_no_input_is_run_as_code(at):
    evil = "$(touch owned) `touch owned`; touch owned \"' && touch owned"
    (at / "echo.py").write_text("import sys; print('a')")
    (at / "gates.toml").write_text(GATE.format(bound=0.5))
    arguments = f"--program python3 echo.py\n--name {evil}\n--quiet"

    with running("github") as forge:
        done = run(at, forge, KARAT_ARGUMENTS=arguments)
        run(at, forge, KARAT_RELEASE=evil, KARAT_GATES=evil, KARAT_TIER=evil, KARAT_BASELINE=evil, KARAT_SERVER=evil)

    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(at.rglob("owned*"))


def test_a_name_that_could_end_the_marker_is_refused(at):
    with running("github") as forge:
        done = run(at, forge, KARAT_NAME="x --> <b>")

    assert (done.returncode, forge.asked) == (2, [])


@pytest.mark.django_db(transaction=True)
def test_a_version_is_downloaded_from_a_server_and_the_comment_leads_back(at, live_server):
    scene = make_scene(queries=30, runs={"base": dict.fromkeys(qrels_of(30), BAD)})
    made = {"name": "CI", "scopes": [Scope.VERSIONS_READ], "at": timezone.now(), "lasts": timedelta(days=1)}
    about = {
        "KARAT_RELEASE": "",
        "KARAT_VERSION": "handbook/v1",
        "KARAT_SERVER": live_server.url,
        "KARAT_PROJECT": scene.project.slug,
        "KARAT_TOKEN": create_token(project=scene.project, user=scene.lead, **made)[1],
        "KARAT_ARGUMENTS": "--program printf ''\n--quiet",
    }

    with running("github") as forge:
        done = run(at, forge, **about)
        (body,) = forge.bodies
        refused = run(at, forge, **about | {"KARAT_TOKEN": "karat_wrong"})

    assert done.returncode == 1, done.stdout + done.stderr
    page = f"{live_server.url}/p/{scene.project.slug}/versions/handbook/v1/"
    assert body.startswith(f"{MARKER}\n**Failed:** gate `First screen` of `printf` on `Handbook v1`: RR is 0.0000, ")
    assert body.endswith(f"[Open in Karat]({page})\n")
    assert refused.returncode == 3
    assert forge.bodies == [f"{MARKER}\n**Not measured:** karat eval ended with code 3. The log of the job says why.\n"]


# The files that a pipeline includes ---------------------------------------------------------------------------------


def test_the_action_hands_every_input_on_in_the_environment():
    action = yaml.safe_load((FOLDER / "github/action.yml").read_text())

    (step,) = action["runs"]["steps"]
    assert "${{" not in step["run"]
    used = {re.fullmatch(r"\$\{\{ inputs\.([a-z]+) \}\}", value)[1] for value in step["env"].values()}
    assert used == set(action["inputs"])
    assert all(f"${{{name}" in SCRIPT.read_text() or f"${name}" in SCRIPT.read_text() for name in step["env"])


def test_the_template_for_gitlab_hands_every_input_on_in_the_environment():
    head, template = yaml.safe_load_all((FOLDER / "gitlab/gold-set.yml").read_text())

    (job,) = template.values()
    assert not any("inputs" in line for line in job["script"])
    assert all(one["expand"] is False for one in job["variables"].values())
    used = set(re.findall(r"inputs\.([a-z]+)", json.dumps(template)))
    assert used == set(head["spec"]["inputs"])

"""What docs/pipelines.md tells people to copy: the workflow is YAML, its gates are gates, its commands are commands."""

import argparse
import re
import shlex
import subprocess

import pytest
import yaml

from apps.cli.evaluate import command, options
from apps.config.commandline import MANAGED, PURE
from apps.gates.core.rule import rules_in
from apps.gates.formats import read_rules
from apps.goldsets.management.commands.export import Command as ExportCommand
from tests.conftest import REPO

PAGE = (REPO / "docs/pipelines.md").read_text()
DAY = (REPO / "docs/first-day.md").read_text()
EXPRESSION = re.compile(r"\$\{\{.*?\}\}")


def fenced(kind: str, number: int = 0, page: str = PAGE) -> str:
    return re.findall(rf"```{kind}\n(.*?)```", page, re.S)[number]


@pytest.fixture(scope="module")
def steps():
    workflow = yaml.safe_load(fenced("yaml", 2))
    assert set(workflow[True]) == {"pull_request", "schedule"}  # YAML 1.1 reads `on` as a truth value
    return workflow["jobs"]["gold-set"]["steps"]


def parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    return parser.parse_args(words)


def test_every_step_does_one_thing(steps):
    assert all(("uses" in step) != ("run" in step) for step in steps)


def test_the_command_of_the_workflow_is_one_that_karat_takes(steps):
    (line,) = (step["run"] for step in steps if "manage.py" in step.get("run", ""))
    python, manage, *words = shlex.split(EXPRESSION.sub("smoke", line))

    args = parsed(words)

    assert (python, manage) == ("python3", ".karat/manage.py")
    assert (str(args.release), args.tier) == ("gold/doors-v2", "smoke")
    assert options.engine_of(args).identity()["ids"] == "hits[*].doc.id"
    written = {str(args.html), str(args.markdown)}
    assert {step["with"]["path"] for step in steps if "upload-artifact" in step.get("uses", "")} <= written
    assert any(str(args.markdown) in step.get("run", "") and "SUMMARY" in step["run"] for step in steps)


def test_the_tier_is_full_at_night_and_smoke_on_a_change(steps):
    (line,) = (step["run"] for step in steps if "manage.py" in step.get("run", ""))
    (tier,) = EXPRESSION.findall(line)

    assert tier == "${{ github.event_name == 'schedule' && 'full' || 'smoke' }}"


def test_the_command_for_gitlab_is_one_that_karat_takes():
    job = yaml.safe_load(fenced("yaml", 3))["gold-set"]
    (line,) = (line for line in job["script"] if "manage.py" in line)
    python, manage, *words = shlex.split(line.replace("$TIER", "smoke"))

    args = parsed(words)

    assert (python, manage) == ("python3", ".karat/manage.py")
    assert {rule["variables"]["TIER"] for rule in job["rules"]} == {"smoke", "full"}
    assert set(job["artifacts"]["paths"]) == {str(args.html), str(args.markdown)}
    assert [service["alias"] for service in job["services"]] == ["search"]
    assert options.engine_of(args).identity()["ids"] == "hits[*].doc.id"


def test_the_commands_that_cron_runs_are_ones_that_karat_takes(tmp_path):
    script = fenced("bash")
    checked = subprocess.run(["/bin/sh", "-n"], input=script, text=True, capture_output=True)
    assert (checked.returncode, checked.stderr) == (0, "")

    lines = script.replace("\\\n", " ").replace('"$gold"', "gold").splitlines()
    export, evaluate = (shlex.split(line)[2:] for line in lines if "manage.py" in line)

    assert str(parsed(evaluate).release) == export[export.index("--out") + 1] == "gold"
    asked = ExportCommand().create_parser("karat", "export").parse_args(export[1:])
    assert (asked.project, asked.formats) == ("handbook", ["jsonl"])


def test_the_gates_of_the_page_are_gates(tmp_path):
    (tmp_path / "gates.toml").write_text(fenced("toml"))

    rules = read_rules(tmp_path / "gates.toml")

    assert [rule.name for rule in rules] == ["First screen", "No worse than what is live", "Quick enough"]
    assert [rule.name for rule in rules_in(rules, "smoke")] == ["First screen", "Quick enough"]


def test_every_command_of_the_page_is_there():
    lines = re.findall(r"(?:^|`)karat ([a-z][^`\n]*)", PAGE, re.M)

    assert len(lines) >= 3
    for line in lines:
        words = line.split()
        assert words[0] in PURE or any(tuple(words[: len(one)]) == one for one in MANAGED)


def words_of(arguments: str) -> list[str]:
    """As integrations/check.sh reads them: an option a line, what follows the first blank is its value."""
    return [word for line in arguments.splitlines() for word in line.split(" ", 1)]


@pytest.mark.parametrize("page", [PAGE, DAY], ids=["pipelines", "first-day"])
def test_the_workflow_with_a_comment_gives_the_action_what_it_takes(page):
    action = yaml.safe_load((REPO / "integrations/github/action.yml").read_text())
    workflow = yaml.safe_load(fenced("yaml", 0, page))
    (given,) = (step["with"] for step in workflow["jobs"]["gold-set"]["steps"] if "karat" in step.get("uses", ""))

    args = parsed(["eval", given["release"], "--gates", given["gates"], *words_of(given["arguments"])])

    assert set(given) <= set(action["inputs"])
    assert options.engine_of(args) is not None
    assert workflow["permissions"]["pull-requests"] == "write"


def test_the_include_for_gitlab_gives_the_template_what_it_takes():
    head, _ = yaml.safe_load_all((REPO / "integrations/gitlab/gold-set.yml").read_text())
    pipeline = yaml.safe_load(fenced("yaml", 1))
    (include,) = pipeline["include"]

    args = parsed(["eval", "gold", *words_of(pipeline["gold-set"]["variables"]["KARAT_ARGUMENTS"])])

    assert (REPO / include["file"]).is_file()
    assert set(include["inputs"]) <= set(head["spec"]["inputs"])
    assert options.engine_of(args).identity()["ids"] == "hits[*].doc.id"


def test_the_gates_and_the_commands_of_the_first_day_are_ones_that_karat_takes(tmp_path):
    (tmp_path / "gates.toml").write_text(fenced("toml", 0, DAY))
    lines = re.findall(r"^karat (.+)$", DAY, re.M)

    assert len(read_rules(tmp_path / "gates.toml")) == 2
    evaluated = [parsed(shlex.split(line)) for line in lines if line.startswith("eval ")]
    assert [str(args.release) for args in evaluated] == ["gold/handbook-questions-v1.zip"] * 2
    for line in lines:
        words = line.split()
        assert words[0] in PURE or any(tuple(words[: len(one)]) == one for one in MANAGED)

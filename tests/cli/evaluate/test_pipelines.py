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
EXPRESSION = re.compile(r"\$\{\{.*?\}\}")


def fenced(kind: str, number: int = 0) -> str:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.S)[number]


@pytest.fixture(scope="module")
def steps():
    workflow = yaml.safe_load(fenced("yaml"))
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
    job = yaml.safe_load(fenced("yaml", 1))["gold-set"]
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

"""The notebook of the documents runs from its first cell to its last against a live server."""

import ast
import json
import re
import sys
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Scope
from apps.cli.client import client as client_module
from apps.cli.client import karat as distributed
from apps.goldsets.enums import VersionState
from tests.conftest import REPO
from tests.factories import lead_of
from tests.goldsets.factories import make_bench, make_version
from tests.running_jobs import run_jobs
from tests.test_docs import anchors

FILE = REPO / "docs/notebooks/first-scores.ipynb"
NOTEBOOK = json.loads(FILE.read_text())
SCOPES = (Scope.VERSIONS_READ, Scope.RUNS_READ, Scope.RUNS_WRITE)


def cells(kind: str) -> list[str]:
    return ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == kind]


def run(source: str, names: dict) -> str | None:
    """Run a cell; what a notebook would show of its last line, where that is an expression."""
    *lines, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        exec(source, names)
        return None
    exec(compile(ast.Module(lines, []), "cell", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)


def test_the_notebook_stores_nothing_that_a_run_changes():
    code = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]

    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert len({cell["id"] for cell in NOTEBOOK["cells"]}) == len(NOTEBOOK["cells"])


def test_the_links_of_the_notebook_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)#?([^)]*)\)", "".join(cells("markdown")))

    assert links
    for path, anchor in links:
        target = FILE.parent / path
        assert target.exists(), path
        assert not anchor or anchor in anchors(target)


@pytest.mark.django_db(transaction=True)
def test_the_notebook_goes_from_a_version_to_misses(live_server, monkeypatch, tmp_path):
    version = make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)
    project = version.gold_set.project
    made = {"name": "Notebook", "scopes": SCOPES, "at": timezone.now(), "lasts": timedelta(days=1)}
    monkeypatch.setenv("KARAT_TOKEN", create_token(project=project, user=lead_of(project), **made)[1])
    monkeypatch.setattr(client_module, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda _: run_jobs()))
    monkeypatch.setitem(sys.modules, "karat", distributed)
    monkeypatch.chdir(tmp_path)
    place = f'"{live_server.url}", "{project.slug}", "{version.gold_set.slug}/v{version.number}"'
    first, *others = cells("code")
    names: dict = {}

    shown = [run(first.replace('"http://localhost:8000", "hut", "handbook/v1"', place), names)]
    shown += [run(cell, names) for cell in others]

    tables = [html for html in shown if html and "<table>" in html]
    assert len(tables) == 4
    assert [row["tag"] for row in names["board"]] == sorted(
        ("by-words", "by-length"), key=lambda tag: (-{row["tag"]: row["RR"] for row in names["board"]}[tag], tag)
    )
    assert "T-0001" in tables[-1]

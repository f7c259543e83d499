"""A project with a few queries and passages, into which small files of the field are read."""

import csv
import io

import pytest
from django.core.management import call_command

from apps.config.commandline import main
from apps.judging.models import Judgement
from apps.queries.models import Query
from apps.triples.models import Triple
from tests.conftest import SHARED_DATA
from tests.corpus.factories import make_corpus, make_snapshot
from tests.factories import make_project
from tests.queries.factories import make_query

CASES = SHARED_DATA.parent / "cases"
QUERIES = {
    "Q01": "when does the alpaca office open",
    "Q02": "price of a badger permit",
    "Q03": "feeding cobras",
    "Q04": "dingo walk rules",
}
PASSAGES = {
    "D01": "The alpaca office opens at nine and closes at four.",
    "D02": "A badger permit costs twelve crowns a year.",
    "D03": "Cobras are fed on Tuesdays, never before noon.",
    "D04": "Dingoes are walked on a leash.",
}


def case(path: str):
    if not (CASES / path).exists():
        pytest.skip("the cases are not on this machine")
    return CASES / path


class Zoo:
    """A project with four queries and a frozen corpus of four passages, and the commands of the shell in it."""

    def __init__(self, capsys) -> None:
        self.project = make_project()
        self.snapshot = make_snapshot(corpus=make_corpus(self.project, PASSAGES))
        self.corpus = self.snapshot.corpus.slug
        self.capsys = capsys
        for outside_id, text in QUERIES.items():
            make_query(self.project, outside_id=outside_id, text=text)

    def queries(self, path, **options) -> list[tuple[str, str]]:
        """Import queries; the new ones by id and text."""
        call_command("import_queries", str(path), project=self.project.slug, **options)
        found = Query.objects.filter(project=self.project).exclude(outside_id__in=QUERIES)
        return list(found.order_by("pk").values_list("outside_id", "text"))

    def judgements(self, path, **options) -> dict[tuple[str, str], int]:
        """Import judgements; the grade of each pair by its ids."""
        options = {"project": self.project.slug, "snapshot": f"{self.corpus}@1", **options}
        call_command("import_judgements", str(path), **options)
        fields = "seat__entry__query__outside_id", "seat__entry__version__block__outside_id", "grade"
        return {(query, block): grade for query, block, grade in Judgement.objects.values_list(*fields)}

    def triples(self, path, **options) -> list[list[str]]:
        """Import Q&As; the passages of each."""
        call_command("import_triples", str(path), project=self.project.slug, corpus=self.corpus, **options)
        made = Triple.objects.filter(project=self.project).order_by("pk")
        expected = (triple.current.expected_blocks.order_by("order") for triple in made)
        return [[one.version.block.outside_id for one in blocks] for blocks in expected]

    @property
    def notes(self) -> str:
        return self.capsys.readouterr().err


def scored(capsys, qrels, run) -> dict[str, float]:
    """RR of each query, as `karat score` prints it."""
    files = ["--qrels", str(qrels), "--run", str(run)]
    assert main(["score", *files, "--measures", "RR", "--format", "csv", "--per-query"]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    return {row["query"]: float(row["value"]) for row in rows if row["measure"] == "RR" and row["query"] != "all"}

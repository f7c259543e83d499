"""`karat push`, `karat score` and `karat eval` read the same files."""

import gzip
import io
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.accounts.actions.tokens import create_token
from apps.cli.pushed import run_in
from apps.common.errors import InputError, InputErrors
from apps.config.commandline import main as karat
from apps.retrieval.models import Run
from tests.cli.evaluate.releases import write_release
from tests.cli.evaluate.test_triples import BOTH
from tests.evaluation.factories import BAD, make_scene, qrels_of
from tests.factories import EVERY_SCOPE
from tests.running_jobs import run_jobs

TREC = "Q1 Q0 d 1 2.0 mine\nQ1 Q0 a 2 1.0 mine\nQ2 Q0 c 1 2.0 mine\n"
FILES = {
    "mine.run": TREC.encode(),
    "mine.run.gz": gzip.compress(TREC.encode()),
    "mine.csv": b"query,passage,rank,score\nQ1,d,1,2.0\nQ1,a,2,1.0\nQ2,c,1,2.0\n",
    "mine.tsv": b"query\tpassage\trank\nQ1\td\t1\nQ1\ta\t2\nQ2\tc\t1\n",
}
RESULTS = (
    b'{"qid": "Q1", "rank": 1, "id": "d"}\n{"qid": "Q1", "rank": 2, "id": "a"}\n{"qid": "Q2", "rank": 1, "id": "c"}\n'
)


def figures(capsys, *words):
    """The means of each side of a result, by measure."""
    assert karat([*words, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return [side["runs"][0]["measures"] for side in (found, found.get("triples")) if side and "runs" in side]


@pytest.fixture
def at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_release(tmp_path / "doors-v2", content=BOTH)
    for name, data in {**FILES, "mine.jsonl": RESULTS, "mine.results": RESULTS}.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


@pytest.mark.parametrize("name", [*FILES, "mine.jsonl", "mine.results"])
def test_every_form_of_a_run_has_the_same_figures_in_eval(at, capsys, name):
    option = "--results" if name in ("mine.jsonl", "mine.results") else "--run"
    given = ["eval", "doors-v2", "--measures", "Recall@2", "--quiet"]

    assert figures(capsys, *given, option, name) == figures(capsys, *given, "--run", "mine.run")


@pytest.mark.parametrize("name", list(FILES))
def test_every_form_of_a_run_has_the_same_figures_on_questions_and_answers(at, capsys, name):
    given = ["score", "--triples", "doors-v2/jsonl/triples.jsonl"]

    assert figures(capsys, *given, "--run", name) == figures(capsys, *given, "--run", "mine.run")


def test_results_may_come_from_standard_input(at, capsys, monkeypatch):
    given = ["eval", "doors-v2", "--measures", "Recall@2", "--quiet", "--results"]
    named = figures(capsys, *given, "mine.jsonl")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(RESULTS)))

    assert figures(capsys, *given, "-") == named


def test_a_baseline_with_results_is_seen_by_what_it_contains(at, capsys):
    given = ["eval", "doors-v2", "--run", "mine.run", "--measures", "Recall@2", "--quiet", "--baseline"]

    def compared(name):
        assert karat([*given, name, "--format", "json"]) == 0
        return json.loads(capsys.readouterr().out)["comparisons"][0]["measures"]

    assert compared("mine.results") == compared("mine.jsonl")


# What is sent -------------------------------------------------------------------------------------------------------


def test_a_run_is_sent_as_its_form_is_best_read(at):
    rows = [
        {"query_id": "Q1", "block_id": "d", "score": 2.0},
        {"query_id": "Q1", "block_id": "a", "score": 1.0},
        {"query_id": "Q2", "block_id": "c", "score": 2.0},
    ]

    assert run_in("mine.run") == run_in("mine.run.gz") == {"trec": TREC}
    assert run_in("mine.csv") == {"rows": rows}
    assert [row["score"] for row in run_in("mine.tsv")["rows"]] == [-1.0, -2.0, -1.0]
    assert run_in("mine.jsonl") == run_in("mine.results")
    assert run_in("mine.jsonl")["results"][0] == {"qid": "Q1", "rank": 1, "id": "d"}


def test_what_a_run_used_is_sent_with_its_results(at):
    (at / "mine.jsonl").write_bytes(b'{"usage": {"requests": 2}}\n' + RESULTS)

    assert run_in("mine.jsonl")["usage"] == {"requests": 2}


def test_a_file_with_mistakes_is_refused_with_its_lines(at):
    (at / "bad.csv").write_text("query,passage,score\nQ1,a,high\n,b,1\n")
    (at / "bad.run").write_bytes(b"Q1 Q0 \xff 1 1.0 mine\n")

    with pytest.raises(InputErrors) as faults:
        run_in("bad.csv")
    assert [error.line for error in faults.value.errors] == [2, 3]
    with pytest.raises(InputError, match="is not UTF-8 text"):
        run_in("bad.run")
    with pytest.raises(InputError, match="cannot be read"):
        run_in("none.run")


@pytest.mark.django_db(transaction=True)
def test_every_form_of_a_run_is_pushed(tmp_path, live_server, monkeypatch, capsys):
    scene = make_scene(queries=10, runs={"base": dict.fromkeys(qrels_of(10), BAD)})
    made = {"name": "CI", "scopes": EVERY_SCOPE, "at": timezone.now(), "lasts": timedelta(days=1)}
    monkeypatch.setenv("KARAT_TOKEN", create_token(project=scene.project, user=scene.lead, **made)[1])
    monkeypatch.setattr("apps.cli.client.client.time.sleep", lambda _: run_jobs())
    forms = {
        "a.run": "Q01 Q0 a 1 2.0 x\n",
        "b.csv": "query,passage,score\nQ01,a,2.0\n",
        "c.jsonl": '{"qid": "Q01", "rank": 1, "id": "a"}\n',
    }
    server = ["--server", live_server.url, "--project", scene.project.slug, "--snapshot", scene.snapshot.reference]

    for name, text in forms.items():
        (tmp_path / name).write_text(text)
        assert karat(["push", str(tmp_path / name), *server, "--system", name, "--tag", name]) == 0
    (tmp_path / "bad.csv").write_text("query,passage,score\nQ01,a,high\n")
    assert karat(["push", str(tmp_path / "bad.csv"), *server, "--system", "bad", "--tag", "bad"]) == 2

    assert "bad.csv, line 2, score" in capsys.readouterr().err
    assert set(Run.objects.filter(tag__in=forms).values_list("tag", flat=True)) == set(forms)


def test_results_without_ranks_are_pushed_in_their_order_and_places_as_the_file_has_them(at):
    (at / "scored.csv").write_text("query,score,text,id,start,end\nQ1,1,Second.,,,\nQ1,2,,a,4,7\nQ2,1,Third.,,,\n")

    assert run_in("scored.csv") == {
        "results": [
            {"qid": "Q1", "rank": 1, "id": "a", "start": 4, "end": 7},
            {"qid": "Q1", "rank": 2, "text": "Second."},
            {"qid": "Q2", "rank": 1, "text": "Third."},
        ]
    }

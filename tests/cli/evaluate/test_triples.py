"""`karat eval` on a release with triples: both sides, systems with passages of their own, gates, files and faults."""

import json
import sys
from dataclasses import replace

import pytest

from apps.cli.evaluate.released import read_release
from apps.config.commandline import main as karat
from apps.goldsets.formats.content import ExpectedBlock, FrozenBlock, SliceRow, TripleRow
from tests.cli.evaluate.releases import CONTENT, write_release
from tests.remote_server import TEXTS

TRIPLES = [
    TripleRow(
        "T-0001",
        "red key",
        "It opens the red door.",
        (ExpectedBlock("a", "house", 1, 1, ("opens the red door",)),),
        query_id="Q1",
        domain="keys",
        split="dev",
    ),
    TripleRow(
        "T-0002",
        "the wall and the key",
        "Green, and to the window.",
        (ExpectedBlock("c", "house", 3, 3, ("green wall",)), ExpectedBlock("d", "house", 4, 4)),
        match="all",
        domain="walls",
        split="dev",
    ),
    TripleRow("T-0003", "door", "Green.", (ExpectedBlock("b", "house", 2, 2),), query_id="Q9", split="test"),
]
PAGES = {"a": 1, "b": 2, "c": 3, "d": 4}
BLOCKS = [
    FrozenBlock(key, "house", key.upper(), text, page_start=PAGES[key], page_end=PAGES[key])
    for key, text in TEXTS.items()
]
BOTH = replace(CONTENT, block_rows=BLOCKS, triple_rows=TRIPLES)
ALONE = replace(BOTH, query_rows=[], grade_rows=[])
RUN = "Q1 Q0 d 1 2.0 mine\nQ1 Q0 a 2 1.0 mine\nQ2 Q0 c 1 2.0 mine\nT-0002 Q0 c 1 2.0 mine\nT-0002 Q0 d 2 1.0 mine\n"
OWN_PASSAGES = """
import json, sys
passages = {
    "red key": [
        {"text": "the key to the window", "document_id": "house", "pages": [4, 4]},
        {"text": "It OPENS the red door, always.", "document_id": "house", "pages": [1, 2]},
    ],
    "the wall and the key": [
        {"text": "a green wall; the key to the window", "document_id": "house", "pages": [3, 4]},
    ],
}
print(json.dumps(passages.get(sys.argv[1], [])))
"""


pytestmark = pytest.mark.usefixtures("two_decide")


@pytest.fixture
def at(tmp_path, monkeypatch):
    """A folder with a release of grades and triples, one of triples alone, a run, and a program."""
    monkeypatch.chdir(tmp_path)
    write_release(tmp_path / "both", content=BOTH)
    write_release(tmp_path / "alone", content=ALONE)
    (tmp_path / "mine.run").write_text(RUN)
    (tmp_path / "own.py").write_text(OWN_PASSAGES)
    return tmp_path


def evaluate(release, *options):
    return karat(["eval", release, "--quiet", *options])


def own(*options):
    return ["--program", f"{sys.executable} own.py {{query}}", *options]


def found(capsys, release, *options):
    assert evaluate(release, *options, "--format", "json") == 0
    return json.loads(capsys.readouterr().out)


def figures(card):
    return {name: one["value"] for name, one in card["runs"][0]["measures"].items()}


def test_graded_queries_and_triples_are_asked_each_once(at):
    release = read_release(at / "both")

    assert [query.query_id for query in release.asked] == ["Q1", "Q2", "Q3", "T-0002"]
    assert [query.text for query in release.asked][-1] == "the wall and the key"
    assert [one.question.id for one in release.triples] == ["T-0001", "T-0002"]


def test_a_run_is_scored_by_grades_and_on_triples_side_by_side(at, capsys):
    both = found(capsys, "both", "--run", "mine.run", "--measures", "RR Success@1 nDCG@10 Coverage@1")

    assert figures(both) == pytest.approx({"RR": 2 / 3, "Success@1": 2 / 3, "nDCG@10": 0.5190}, abs=1e-4)
    assert figures(both["triples"]) == {"RR": 0.75, "Success@1": 0.5, "Coverage@1": 0.25}
    assert (both["queries"]["judged"], both["triples"]["queries"]["measured"]) == (3, 2)
    assert both["triples"]["hit"] == "block"
    assert both["triples"]["runs"][0]["measures"]["Success@1"]["method"] == "wilson"


def test_a_release_of_triples_alone_is_scored(at, capsys):
    alone = found(capsys, "alone", "--run", "mine.run")

    assert "runs" not in alone
    assert figures(alone["triples"]) == {"Success@5": 1.0, "Success@1": 0.5, "RR": 0.75}


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [("document", (1.0, 1.0)), ("pages", (0.5, 1.0)), ("evidence", (0.5, 1.0)), ("block", (0.0, 0.0))],
)
def test_a_program_with_passages_of_its_own_is_measured_by_every_rule(at, capsys, rule, wanted):
    card = found(capsys, "alone", *own("--hit", rule, "--measures", "RR Sufficient@2"))["triples"]

    by_question = (card["runs"][0]["measures"]["RR"]["value"] * 2, card["runs"][0]["measures"]["RR"]["n"])
    assert by_question == (pytest.approx(sum(wanted)), 2)
    assert card["hit"] == rule


@pytest.mark.parametrize(("rule", "wanted"), [("document", 1.0), ("pages", 0.75), ("evidence", 1.0)])
def test_an_endpoint_with_passages_of_its_own_is_measured(at, port, capsys, rule, wanted):
    places = ["--texts", "found[*].content", "--documents", "found[*].about.file"]
    places += ["--first-pages", "found[*].about.from", "--last-pages", "found[*].about.to"]
    body = ["--body", '{"q": {{query}}}', "--tries", "1"]
    endpoint = ["--endpoint", f"http://127.0.0.1:{port}/passages", *places, *body]
    card = found(capsys, "alone", *endpoint, "--hit", rule, "--measures", "Coverage@5")["triples"]

    assert figures(card) == {"Coverage@5": wanted}


def test_ids_get_documents_pages_and_texts_from_the_corpus_of_the_release(at, capsys):
    for rule in ("document", "pages", "evidence"):
        card = found(capsys, "alone", "--run", "mine.run", "--hit", rule, "--measures", "Sufficient@2")["triples"]
        assert figures(card) == {"Sufficient@2": 1.0}


def test_without_ids_and_texts_nothing_is_scored_by_grades_and_that_is_said(at, capsys):
    (at / "own.py").write_text(OWN_PASSAGES.replace('"text"', '"title"'))
    assert evaluate("both", *own("--hit", "document")) == 0

    out, err = capsys.readouterr()
    assert "Measured by grades" not in out
    assert "Measured on Q&As, hit rule document" in out
    assert "names no passage of a graded query by an id, so nothing was scored by grades" in err
    assert "It returned no texts either" in err


def test_saved_results_are_scored_as_the_system_was(at, capsys):
    asked = found(capsys, "both", *own("--hit", "evidence", "--save-results", "own.jsonl"))
    again = found(capsys, "both", "--results", "own.jsonl", "--hit", "evidence")

    assert figures(again["triples"]) == figures(asked["triples"])
    first = json.loads((at / "own.jsonl").read_text().splitlines()[0])
    assert (first["qid"], first["rank"], first["pages"]) == ("Q1", 1, [4, 4])


def test_passages_without_ids_are_no_trec_run(at, capsys):
    assert evaluate("alone", *own("--save-run", "own.run")) == 3
    assert "Use --save-results" in capsys.readouterr().err


def test_results_with_our_ids_are_scored_by_grades_too(at, capsys):
    rows = [
        {"qid": "Q1", "rank": 2, "id": "d"},
        {"qid": "Q1", "rank": 1, "id": "a"},
        {"qid": "Q1", "rank": 3, "id": "a"},
    ]
    (at / "ids.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    both = found(capsys, "both", "--results", "ids.jsonl", "--measures", "P@2")

    assert figures(both) == {"P@2": pytest.approx(1 / 3)}
    assert figures(both["triples"]) == {"P@2": 0.25}


def test_an_answer_that_was_stored_keeps_its_passages(at, capsys):
    first = found(capsys, "alone", *own("--hit", "evidence", "--answers", "kept.jsonl"))
    (at / "own.py").write_text("raise SystemExit(1)")
    again = found(capsys, "alone", *own("--hit", "evidence", "--answers", "kept.jsonl"))

    assert figures(first["triples"]) == figures(again["triples"])


def gates(at, *rules):
    (at / "gates.toml").write_text(
        "".join(f'[[gate]]\nname = "{number}"\n{rule}\n' for number, rule in enumerate(rules))
    )
    return ["--gates", "gates.toml"]


def test_gates_with_a_hit_rule_are_decided_on_triples(at, capsys):
    options = gates(
        at,
        'figure = "RR"\nhit = "block"\nat_least = 0.7',
        'figure = "Sufficient@2"\nhit = "evidence"\nat_least = 1\nslice = { field = "domain", value = "walls" }\n'
        'not_known = "warn"',
        'figure = "nDCG@10"\nat_least = 0.5',
    )
    both = found(capsys, "both", "--run", "mine.run", *options)
    assert [(gate["state"], gate["n"]) for gate in both["gates"]] == [("passed", 2), ("unknown", 1), ("passed", 3)]


def test_a_missed_gate_on_triples_fails_the_command(at, capsys):
    options = gates(at, 'figure = "Success@1"\nhit = "block"\nat_least = 0.9')

    assert evaluate("alone", "--run", "mine.run", *options) == 1
    assert "Success@1 on Q&As (block) is 0.5000" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("release", "rule", "words"),
    [
        ("alone", 'figure = "nDCG@10"', "nothing was scored by grades"),
        ("doors", 'figure = "RR"\nhit = "block"', "the release has no Q&As"),
        ("alone", 'figure = "RR"\nhit = "text"', "nothing was measured by text"),
    ],
)
def test_a_gate_on_what_the_release_lacks_checks_nothing(at, capsys, release, rule, words):
    write_release(at / "doors")
    assert evaluate(release, "--run", "mine.run", *gates(at, f"{rule}\nat_least = 0.1")) == 5
    assert words in capsys.readouterr().out


def test_no_worse_than_a_baseline_is_paired_over_triples(at, capsys):
    (at / "base.run").write_text("Q1 Q0 b 1 1.0 base\nT-0002 Q0 c 1 1.0 base\n")
    options = gates(at, 'figure = "Success@5"\nhit = "block"\nno_worse_than = "baseline"')
    alone = found(capsys, "alone", "--run", "mine.run", "--baseline", "base.run", *options)

    (comparison,) = alone["triples"]["comparisons"]
    success = comparison["measures"]["Success@5"]
    assert success["mcnemar"] == {"baseline_alone": 0, "candidate_alone": 1, "p": 1.0}
    assert alone["gates"][0]["state"] == "passed"


def test_a_slice_asks_its_questions_alone(at, capsys):
    part = SliceRow("canary", "canary", (("", ("T-0002",)),))
    write_release(at / "sliced", content=replace(BOTH, slice_rows=[part]))
    card = found(capsys, "sliced", "--run", "mine.run", "--slice", "canary")

    assert "runs" not in card
    assert card["triples"]["queries"]["measured"] == 1


def test_the_smoke_tier_asks_a_sample_of_the_triples(at, capsys):
    many = [TripleRow(f"T-{n:04}", f"question {n}", "x", (ExpectedBlock("a", "house"),)) for n in range(80)]
    write_release(at / "many", content=replace(ALONE, triple_rows=many))
    (at / "many.run").write_text("".join(f"{one.triple_id} Q0 a 1 1.0 many\n" for one in many))
    rule = 'figure = "Success@1"\nhit = "block"\nat_least = 1\ntier = "smoke"'
    card = found(capsys, "many", "--run", "many.run", "--tier", "smoke", *gates(at, rule))

    assert (card["triples"]["queries"]["measured"], card["gates"][0]["n"]) == (50, 50)


def test_reports_have_both_sides(at, capsys):
    assert evaluate("both", "--run", "mine.run", "--html", "report.html", "--markdown", "report.md") == 0

    for name in ("report.html", "report.md"):
        text = (at / name).read_text()
        assert "On Q" in text
        assert "lower end" in text
        assert "nDCG@10" in text


def test_tables_say_which_side_a_figure_is_of(at, capsys):
    assert evaluate("both", "--run", "mine.run", "--measures", "RR", "--format", "csv") == 0

    rows = [line.split(",") for line in capsys.readouterr().out.splitlines()]
    assert [(row[0], row[1], row[-1]) for row in rows[1:]] == [("measure", "RR", ""), ("hit measure", "RR", "block")]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["alone", "--run", "mine.run", "--hit", "paragraph"], 2, "'paragraph' is not a hit rule"),
        (["alone", "--run", "mine.run", "--measures", "nDCG@10"], 3, "has no grades here"),
        (["doors", "--run", "mine.run", "--measures", "Coverage@5"], 3, "has no Q&As here"),
        (["doors", "--run", "mine.run", "--hit", "pages"], 3, "--hit pages measures nothing"),
        (["alone", "--run", "other.run"], 3, "answers none of the questions"),
        (["alone", "--results", "bad.jsonl"], 3, "bad.jsonl, line 2"),
    ],
)
def test_faults_are_named(at, capsys, options, code, words):
    write_release(at / "doors")
    (at / "other.run").write_text("X1 Q0 a 1 1.0 other\n")
    (at / "bad.jsonl").write_text('{"qid": "Q1", "rank": 1, "id": "a"}\n{"qid": "Q1", "rank": "first", "id": "a"}\n')

    assert evaluate(*options) == code
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--run", "empty.run"], ["--results", "empty.jsonl"]])
def test_a_file_without_results_is_scored_and_said_to_be_empty(at, capsys, option):
    (at / option[1]).write_text("")

    assert evaluate("alone", *option) == 0

    out, err = capsys.readouterr()
    assert "0.0000" in out
    assert f"{option[1]}: has no results, so that every question counts as missed." in err


def test_a_program_that_tells_nothing_of_a_passage_is_refused(at, capsys):
    (at / "own.py").write_text("print('[{\"pages\": [1, 1]}]')")
    assert evaluate("alone", *own("--tries", "1")) == 3
    assert "Item 1 of the answer has no id, no document and no text" in capsys.readouterr().err

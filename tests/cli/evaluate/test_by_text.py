"""`karat eval` of systems that cut their own passages: graded by text, gated, compared, with misses and next steps."""

import csv
import io
import json
import sys
from dataclasses import replace

import pytest

from apps.config.commandline import main as karat
from apps.goldsets.formats.content import ExpectedBlock, FrozenBlock, FrozenQuery, GradeRow, TripleRow
from apps.metrics.measures.registry import DEFAULT_MEASURES, DEFAULT_TEXT_MEASURES
from tests.cli.evaluate.releases import CONTENT, write_release

TEXTS = {
    "a": "The red key opens the red door of the house on every working day of the year.",
    "b": "Green doors are closed at night, and whoever has a badge may open them from inside.",
    "c": "Behind the blue window there is a green wall, painted in the spring of last year.",
    "d": "The key to the window hangs in the cabinet beside the porter, who writes down its use.",
    "e": "Nobody has asked for the garden so far, though its gate is red as well.",
}
GRADED = replace(CONTENT, block_rows=[FrozenBlock(key, "house", key.upper(), text) for key, text in TEXTS.items()])
TRIPLES = [
    TripleRow(
        "T-0001",
        "red key",
        "The red door.",
        (ExpectedBlock("a", "house", 1, 1, ("The red key opens the red door",)),),
        query_id="Q1",
        split="dev",
    )
]
BOTH = replace(GRADED, triple_rows=TRIPLES)
RUN = "Q1 Q0 d 1 3.0 ours\nQ1 Q0 a 2 2.0 ours\nQ2 Q0 c 1 2.0 ours\nQ2 Q0 b 2 1.0 ours\nQ3 Q0 a 1 1.0 ours\n"
ASKED = {"red key": ["d", "a"], "green wall": ["c", "b"], "the window": ["a"], "door": []}
PROGRAM = f"""
import json, sys
texts, asked = {TEXTS!r}, {ASKED!r}
print(json.dumps([{{"text": "Seen: " + texts[key]}} for key in asked[sys.argv[1]]]))
"""


@pytest.fixture(autouse=True)
def at(tmp_path, monkeypatch):
    """Releases with and without triples, a run of blocks, and the texts of the same blocks as results."""
    monkeypatch.chdir(tmp_path)
    write_release(tmp_path / "doors", content=GRADED)
    write_release(tmp_path / "both", content=BOTH)
    (tmp_path / "ours.run").write_text(RUN)
    (tmp_path / "own.py").write_text(PROGRAM)
    rows = [line.split() for line in RUN.splitlines()]
    write(tmp_path, "own", [{"qid": row[0], "rank": int(row[3]), "text": TEXTS[row[2]]} for row in rows])
    return tmp_path


def write(at, name, rows):
    (at / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def evaluate(release, *options):
    return karat(["eval", release, *options])


def found(capsys, release, *options, code=0):
    assert evaluate(release, *options, "--format", "json") == code
    return json.loads(capsys.readouterr().out)


def figures(card):
    return {name: one["value"] for name, one in card["runs"][0]["measures"].items()}


def test_results_without_ids_have_the_figures_of_the_run_of_the_same_blocks(capsys):
    by_id = found(capsys, "doors", "--run", "ours.run", "--measures", DEFAULT_MEASURES)
    by_text = found(capsys, "doors", "--results", "own.jsonl", "--measures", DEFAULT_MEASURES)
    of_blocks = found(capsys, "doors", "--run", "ours.run", "--hit", "text", "--measures", DEFAULT_MEASURES)

    assert figures(by_text) == figures(by_id) == figures(of_blocks)
    assert "hit" not in by_id
    assert (by_text["hit"], of_blocks["hit"], by_text["share"]) == ("text", "text", 0.8)
    assert by_text["runs"][0]["located"]["located"] == 5


def test_without_a_list_those_by_text_are_measured(capsys):
    assert list(figures(found(capsys, "doors", "--results", "own.jsonl"))) == DEFAULT_TEXT_MEASURES.split()


def test_a_program_that_prints_texts_is_scored_by_grades(at, capsys):
    program = ["--program", f"{sys.executable} own.py {{query}}", "--measures", DEFAULT_MEASURES]

    card = found(capsys, "doors", *program, "--save-results", "saved.jsonl")

    assert figures(card) == figures(found(capsys, "doors", "--run", "ours.run", "--measures", DEFAULT_MEASURES))
    again = found(capsys, "doors", "--results", "saved.jsonl", "--measures", DEFAULT_MEASURES)
    assert figures(again) == figures(card)


def test_ids_of_the_systems_own_do_not_hide_the_texts(at, capsys):
    rows = [json.loads(line) for line in (at / "own.jsonl").read_text().splitlines()]
    write(at, "chunks", [row | {"id": f"chunk-{number}"} for number, row in enumerate(rows)])

    assert found(capsys, "doors", "--results", "chunks.jsonl")["hit"] == "text"


def test_graded_ids_count_before_texts(at, capsys):
    write(at, "ids", [{"qid": "Q1", "id": "a", "text": TEXTS["a"]}])

    assert "hit" not in found(capsys, "doors", "--results", "ids.jsonl")
    assert found(capsys, "doors", "--results", "ids.jsonl", "--hit", "text(share=0.5)")["hit"] == "text(share=0.5)"


def test_ids_of_the_corpus_are_ids_where_none_is_graded(at, capsys):
    write(at, "ids", [{"qid": "Q1", "id": "e", "text": TEXTS["e"]}])
    (at / "e.run").write_text("Q1 Q0 e 1 1.0 e\n")

    for options in (["--results", "ids.jsonl"], ["--run", "e.run"]):
        assert "hit" not in found(capsys, "both", *options)


def test_the_output_says_that_it_is_by_text(at, capsys):
    options = ["--html", "report.html", "--markdown", "report.md", "--measures", "RR P@5"]
    assert evaluate("doors", "--results", "own.jsonl", *options) == 0

    out, err = capsys.readouterr()
    assert "\n\nMeasured by grades, by text (share 0.8)\n\n" in out
    assert "own, RR by the share: " in out
    assert "RR by text (share 0.8) is 0.67" in out
    assert 'hit = "text"' in out
    assert "and the rule text beside each figure" in " ".join(out.split())
    assert "P@5 reads 2 results: no ranking is deeper" in err
    for name in ("report.html", "report.md"):
        assert "by text (share 0.8)" in (at / name).read_text()


def test_rows_of_a_table_have_the_rule_as_words(capsys):
    assert evaluate("both", "--results", "own.jsonl", "--measures", "RR", "--quiet", "--format", "csv") == 0

    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["kind"], row["words"]) for row in rows] == [("measure", "text"), ("hit measure", "evidence")]


def test_without_ids_the_questions_are_measured_by_their_evidence_unless_a_rule_is_named(at, capsys):
    card = found(capsys, "both", "--results", "own.jsonl", "--misses", "misses.jsonl")

    triples = card["triples"]
    assert (triples["hit"], figures(triples)["RR"]) == ("evidence", 0.5)
    assert [line for line in card["next"] if "names no passage of the release by an id" in line]
    assert not any("hit rule" in line for line in (at / "misses.jsonl").read_text().splitlines())

    card = found(capsys, "both", "--results", "own.jsonl", "--hit", "block")
    assert (card["triples"]["hit"], figures(card["triples"])["RR"]) == ("block", 0)
    assert not [line for line in card["next"] if "names no passage" in line]


def test_of_two_systems_one_without_ids_both_are_measured_by_evidence(capsys):
    card = found(capsys, "both", "--results", "own.jsonl", "--baseline", "ours.run")["triples"]

    assert card["hit"] == "evidence"
    assert [run["measures"]["RR"]["value"] for run in card["runs"]] == [0.5, 0.5]


def test_ids_of_the_release_are_measured_by_ids_though_texts_are_there(at, capsys):
    write(at, "ids", [{"qid": "Q1", "id": "e", "text": TEXTS["a"]}])

    for options in (["--results", "ids.jsonl"], ["--run", "ours.run"], ["--run", "ours.run", "--hit", "text"]):
        assert found(capsys, "both", *options)["triples"]["hit"] == "block"


def gates(at, *rules):
    (at / "gates.toml").write_text("".join(f'[[gate]]\nname = "Gate {n}"\n{rule}\n' for n, rule in enumerate(rules)))
    return ["--gates", "gates.toml"]


def test_gates_by_text_are_decided_whatever_the_main_rule_is(at, capsys, two_decide):
    rules = [
        'figure = "RR"\nhit = "text"\nat_least = 0.1\non = "mean"',
        'figure = "P@1"\nhit = "text(share=0.5)"\nat_least = 0.9\non = "mean"',
    ]
    own = found(capsys, "doors", "--results", "own.jsonl", *gates(at, *rules), code=1)
    ours = found(capsys, "doors", "--run", "ours.run", *gates(at, *rules), code=1)

    assert [gate["state"] for gate in own["gates"]] == ["passed", "failed"]
    assert [gate["value"] for gate in ours["gates"]] == [gate["value"] for gate in own["gates"]]
    assert "hit" not in ours


def test_a_gate_by_id_says_how_to_write_one_by_text(at, capsys):
    card = found(capsys, "doors", "--results", "own.jsonl", *gates(at, 'figure = "RR"\nat_least = 0.1'), code=5)

    assert 'a gate by text has the line hit = "text"' in card["gates"][0]["words"]


def test_a_gate_by_text_without_texts_checks_nothing(at, capsys):
    write_release(at / "table", "csv", content=GRADED)
    rules = gates(at, 'figure = "RR"\nhit = "text"\nat_least = 0.1')

    assert (
        "nothing was measured by text"
        in found(capsys, "table", "--run", "ours.run", *rules, code=5)["gates"][0]["words"]
    )


def test_a_baseline_is_measured_the_same_way(at, capsys):
    write(at, "other", [{"qid": "Q1", "text": TEXTS["a"]}, {"qid": "Q2", "text": TEXTS["c"]}])

    card = found(capsys, "doors", "--results", "other.jsonl", "--baseline", "ours.run", "--measures", "P@1")

    assert card["hit"] == "text"
    assert [run["measures"]["P@1"]["value"] for run in card["runs"]] == [pytest.approx(2 / 3)] * 2
    assert card["comparisons"][0]["baseline"] == "ours (baseline)"


def test_misses_are_those_by_text(at, capsys):
    assert evaluate("doors", "--results", "own.jsonl", "--misses", "misses.jsonl") == 0

    (miss,) = [json.loads(line) for line in (at / "misses.jsonl").read_text().splitlines()]
    assert (miss["qid"], miss["measured"], miss["rank"], miss["first_grade"]) == (
        "Q3",
        "by grades, by text",
        None,
        None,
    )
    assert miss["first"] == {"text": TEXTS["a"]}
    assert [one["block_id"] for one in miss["expected"]] == ["d", "c"]
    assert "1 of 3 graded queries (nothing relevant among the first 10)" in capsys.readouterr().out


def test_the_marked_evidence_of_a_question_is_enough_for_its_grade(at, capsys):
    write(at, "short", [{"qid": "Q1", "text": "So: the red key opens the red door!"}])

    assert figures(found(capsys, "doors", "--results", "short.jsonl", "--measures", "RR")) == {"RR": 0.0}
    assert figures(found(capsys, "both", "--results", "short.jsonl", "--measures", "RR")) == {
        "RR": pytest.approx(1 / 3)
    }


def test_both_sides_of_a_release_are_measured(capsys):
    card = found(capsys, "both", "--results", "own.jsonl", "--hit", "evidence")

    assert (card["hit"], card["triples"]["hit"]) == ("text", "evidence")


@pytest.mark.parametrize(
    ("release", "options", "code", "words"),
    [
        ("doors", ["--results", "own.jsonl", "--measures", "STREC@5"], 2, "cannot be measured by text"),
        ("doors", ["--run", "ours.run", "--measures", "TokenRecall@5"], 2, "needs the words of returned passages"),
        ("doors", ["--results", "bare.jsonl"], 3, "It returned no texts either"),
        ("table", ["--results", "own.jsonl"], 3, "export it with karat export --format jsonl"),
        ("table", ["--run", "ours.run", "--hit", "text"], 3, "--hit text measures nothing: Doors v2 has no texts"),
        ("alone", ["--run", "ours.run", "--hit", "text"], 3, "Doors v2 has no grades here"),
    ],
)
def test_faults_are_named(at, capsys, release, options, code, words):
    write_release(at / "table", "csv", content=GRADED)
    write_release(at / "alone", content=replace(BOTH, query_rows=[], grade_rows=[]))
    write(at, "bare", [{"qid": "Q1", "document_id": "house"}])

    assert evaluate(release, *options) == code
    assert words in capsys.readouterr().err


def test_a_table_of_results_is_read(at, capsys):
    (at / "own.csv").write_text(f'query,rank,text\nQ1,1,"{TEXTS["a"]}"\n')

    card = found(capsys, "doors", "--results", "own.csv", "--measures", "RR", "--baseline", "own.csv")

    assert (card["hit"], len(card["runs"])) == ("text", 2)


def test_no_question_is_lost_to_what_is_not_returned(at, capsys):
    write(at, "one", [{"qid": "Q1", "text": TEXTS["a"]}])

    card = found(capsys, "doors", "--results", "one.jsonl")

    assert card["queries"] == {"judged": 3, "with_relevant": 3, "in_run": 1, "missing": 2}


def test_variants_of_a_question_count_as_one_by_text(at, capsys):
    asked = [FrozenQuery("Q1", "red key", split="dev"), FrozenQuery("Q2", "key that is red", split="dev")]
    asked[1] = asked[1]._replace(metadata={"variant_of": "Q1"})
    grades = [GradeRow(query.query_id, "a", 1, "dev", query_text=query.text) for query in asked]
    write_release(at / "variants", content=replace(GRADED, query_rows=asked, grade_rows=grades))
    write(at, "one", [{"qid": "Q1", "text": TEXTS["a"]}])

    assert evaluate("variants", "--results", "one.jsonl") == 0

    assert "The queries word 1 question" in capsys.readouterr().out


def prints(at, code):
    """The options for a program that knows the texts, and prints what `code` makes of the question `asked`."""
    (at / "prints.py").write_text(
        f"import json, sys\ntexts, found, asked = {TEXTS!r}, {ASKED!r}, sys.argv[1]\nprint(json.dumps({code}))\n"
    )
    return ["--program", f"{sys.executable} prints.py {{query}}", "--hit", "text", "--measures", DEFAULT_MEASURES]


WRITTEN = [
    '[{"id": f"chunk-{rank}", "text": texts[key]} for rank, key in enumerate(found[asked])]',
    '[{"id": "handbook.pdf", "text": texts[key]} for key in found[asked]]',
    '[{"text": texts[key], "score": 1} for key in found[asked]]',
    '[{"text": texts[key], "score": rank} for rank, key in enumerate(found[asked])]',
]


@pytest.mark.parametrize("code", WRITTEN)
def test_each_place_of_an_answer_keeps_its_own_text(at, capsys, code):
    card = found(capsys, "doors", *prints(at, code), "--save-results", "saved.jsonl")

    assert figures(card) == figures(found(capsys, "doors", "--results", "own.jsonl", "--measures", DEFAULT_MEASURES))
    saved = [json.loads(line) for line in (at / "saved.jsonl").read_text().splitlines()]
    assert [row["text"] for row in saved if row["qid"] == "Q1"] == [TEXTS["d"], TEXTS["a"]]


@pytest.mark.parametrize("first", ['{"text": texts["e"]}, {"text": texts["e"]}', '{"text": texts["e"]}, {"text": ""}'])
def test_a_repeated_and_an_empty_passage_keep_their_rank_and_earn_nothing(at, capsys, first):
    options = prints(at, f'[{first}, {{"text": texts["a"]}}] if asked == "red key" else []')

    card = found(capsys, "doors", *options, "--save-results", "saved.jsonl")

    again = found(capsys, "doors", "--results", "saved.jsonl", "--hit", "text", "--measures", DEFAULT_MEASURES)
    assert figures(card)["RR"] == figures(again)["RR"] == pytest.approx(1 / 9)


def test_ids_without_texts_count_where_they_stand_first(at, capsys):
    code = '[{"id": key, "document_id": "house"} for key in ["d", "d", *found[asked]]]'

    evaluate("doors", *prints(at, code)[:2], "--save-results", "saved.jsonl")

    saved = [json.loads(line) for line in (at / "saved.jsonl").read_text().splitlines()]
    assert [row["id"] for row in saved if row["qid"] == "Q1"] == ["d", "a"]


def test_texts_beside_one_graded_id_are_said_to_need_the_rule(at, capsys):
    rows = [{"qid": "Q1", "id": "a"}, *({"qid": "Q2", "id": f"chunk-{n}", "text": TEXTS["c"]} for n in range(4))]
    write(at, "mixed", rows)

    assert evaluate("doors", "--results", "mixed.jsonl") == 0
    assert "mixed: 4 of 5 results have a text and no id of the release; --hit text" in capsys.readouterr().err
    assert evaluate("doors", "--results", "mixed.jsonl", "--hit", "text") == 0
    assert "no id of the release" not in capsys.readouterr().err


def test_a_document_that_the_corpus_has_not_is_remarked_on(at, capsys):
    code = '[{"text": texts[key], "document_id": "elsewhere"} for key in found[asked]]'
    live = found(capsys, "doors", *prints(at, code), "--save-results", "saved.jsonl")

    assert evaluate("doors", "--results", "saved.jsonl", *prints(at, code)[2:], "--format", "json") == 0

    out, err = capsys.readouterr()
    assert figures(json.loads(out)) == figures(live)
    assert "saved.jsonl: 5 results name a document that the corpus has not: elsewhere." in err


def test_an_empty_text_alone_is_named(at, capsys):
    write(at, "empty", [{"qid": "Q1", "text": ""}])

    assert evaluate("doors", "--results", "empty.jsonl") == 3
    assert "empty.jsonl, line 1, text: the text is empty" in capsys.readouterr().err


def test_what_came_first_without_a_grade_says_why(at, two_decide):
    strange = "A sentence of words that stand in no text of this house or of any other."
    rows = [{"qid": "Q1", "text": TEXTS["d"][:40]}, {"qid": "Q2", "text": strange}, {"qid": "Q3", "text": TEXTS["a"]}]
    write(at, "bad", rows)
    rules = gates(at, 'figure = "RR"\nhit = "text"\nat_least = 0.9\non = "mean"')

    files = ["--comment", "c.md", "--misses", "misses.jsonl", "--markdown", "report.md"]
    evaluate("doors", "--results", "bad.jsonl", *rules, *files)

    words = {"Q1": "covers no passage", "Q2": "not located", "Q3": "covers no judged passage"}
    rows = [line for line in (at / "c.md").read_text().splitlines() if line.startswith("| `Q")]
    assert {row.split("`")[1]: row.rsplit(", ", 1)[1].removesuffix(" |") for row in rows} == words
    report = (at / "report.md").read_text()
    assert all(f"({one})" in report for one in words.values())
    misses = [json.loads(line) for line in (at / "misses.jsonl").read_text().splitlines()]
    assert [miss["first_grade"] for miss in misses] == [None] * 3

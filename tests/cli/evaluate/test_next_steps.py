"""What `karat eval` prints after its figures, and the questions that were missed."""

import json

import pytest

from apps.config.commandline import main as karat
from tests.cli.evaluate.releases import many_questions, write_release
from tests.cli.evaluate.test_triples import ALONE, BOTH, OWN_PASSAGES, RUN, own

pytestmark = pytest.mark.usefixtures("two_decide")


@pytest.fixture
def at(tmp_path, monkeypatch):
    """A folder with releases of grades and triples, of triples alone and of grades alone, a run, and a program."""
    monkeypatch.chdir(tmp_path)
    write_release(tmp_path / "both", content=BOTH)
    write_release(tmp_path / "alone", content=ALONE)
    write_release(tmp_path / "graded", content=many_questions(12, on_walls=6))
    (tmp_path / "mine.run").write_text(RUN)
    (tmp_path / "own.py").write_text(OWN_PASSAGES)
    return tmp_path


def steps(capsys, *words, code=0):
    assert karat(["eval", *words, "--format", "json"]) == code
    return json.loads(capsys.readouterr().out)["next"]


def begins(lines, words):
    """The only step that begins so."""
    (line,) = [line for line in lines if line.startswith(words)]
    return line


def missed(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_steps_end_the_table_and_a_command_can_be_copied(at, capsys):
    assert karat(["eval", "both", "--run", "mine.run"]) == 0

    out = capsys.readouterr().out
    assert out.count("What to do with this") == 1
    assert out.split("What to do with this")[1].count("\n- ") == 9
    assert "\n    karat eval both --run mine.run --misses misses.jsonl\n" in out


def test_quiet_leaves_them_out(at, capsys):
    assert karat(["eval", "both", "--run", "mine.run", "--quiet"]) == 0
    assert "What to do" not in capsys.readouterr().out
    assert karat(["eval", "both", "--run", "mine.run", "--quiet", "--format", "json"]) == 0
    assert "next" not in json.loads(capsys.readouterr().out)


def test_each_side_says_how_sure_its_first_figure_is(at, capsys):
    lines = steps(capsys, "both", "--run", "mine.run")

    assert begins(lines, "nDCG@10").startswith("nDCG@10 by grades is 0.52, n 3. Its 95 % interval, ")
    assert begins(lines, "Success@5") == (
        "Success@5 on Q&As (hit rule block) is 1.00, n 2. Its 95 % interval, 0.34 to 1.00, says how sure that is."
    )


def test_the_weakest_kind_is_named_where_it_has_enough_questions(at, capsys):
    answers = "".join(f"Q{number:03} Q0 {'a' if number >= 6 else 'b'} 1 1.0 half\n" for number in range(12))
    (at / "half.run").write_text(answers)

    assert begins(steps(capsys, "graded", "--run", "half.run"), "Weakest") == (
        "Weakest by grades, of the kinds with 5 questions or more: domain walls, nDCG@10 0.00, 0.00 to 0.52, n 6; the "
        "figure of all questions lies in that interval, so it may be chance."
    )
    assert begins(steps(capsys, "alone", "--run", "mine.run"), "No kind") == (
        "No kind of question on Q&As (hit rule block) has 5 questions, so none is called the weakest."
    )


def test_misses_are_counted_and_the_command_that_lists_them_is_printed(at, capsys):
    (at / "none.run").write_text("Q1 Q0 b 1 1.0 none\n")
    line = begins(steps(capsys, "both", "--run", "none.run", "--split", "dev"), "Missed")

    assert line == (
        "Missed: 3 of 3 graded queries (nothing relevant among the first 10); 2 of 2 Q&As (no hit among the first 5). "
        "List them, with what came first instead: karat eval both --split dev --run none.run --misses misses.jsonl"
    )


def test_a_missed_query_has_its_relevant_blocks_and_what_came_first_with_its_grade(at, capsys):
    (at / "late.run").write_text("Q1 Q0 b 1 2.0 late\nQ1 Q0 a 2 1.0 late\nQ2 Q0 c 1 2.0 late\n")
    lines = steps(capsys, "both", "--run", "late.run", "--measures", "P@1", "--misses", "misses.jsonl")

    assert "misses.jsonl lists them" in begins(lines, "Missed: 2 of 3 graded queries (nothing relevant")
    first, second = [row for row in missed(at / "misses.jsonl") if row["measured"] == "by grades"]
    assert (first["qid"], first["question"], first["rank"], first["cutoff"]) == ("Q1", "red key", 2, 1)
    assert first["expected"] == [{"block_id": "a", "grade": 3}, {"block_id": "d", "grade": 1}]
    assert first["first"] == {"id": "b", "document_id": "house", "pages": [2, 2], "text": "green door"}
    assert first["first_grade"] is None
    assert (second["qid"], second["rank"], second["first"]) == ("Q3", None, None)


def test_a_missed_triple_has_its_expected_blocks_and_the_passage_that_came_first(at, capsys):
    steps(capsys, "alone", *own("--hit", "evidence", "--measures", "Success@1", "--misses", "misses.jsonl"))

    (only,) = missed(at / "misses.jsonl")
    assert (only["qid"], only["query_id"], only["measured"]) == ("T-0001", "Q1", "hit rule evidence")
    assert (only["rank"], only["cutoff"]) == (2, 1)
    expected = {"block_id": "a", "document_id": "house", "pages": [1, 1], "evidence": ["opens the red door"]}
    assert only["expected"] == [expected]
    assert only["first"] == {"document_id": "house", "pages": [4, 4], "text": "the key to the window"}


def test_the_report_lists_the_misses_and_the_steps(at, capsys):
    (at / "none.run").write_text("Q1 Q0 b 1 1.0 none\n")
    lines = steps(capsys, "both", "--run", "none.run", "--markdown", "report.md", "--html", "report.html")

    text = (at / "report.md").read_text()
    assert "## Missed by grades" in text
    assert "## Missed on Q\\&As" in text
    assert "b: green door" in text
    assert "## What to do with this" in text
    assert "Missed on Q&amp;As" in (at / "report.html").read_text()
    assert begins(lines, "The report") == "The report is report.html and report.md."


def test_answers_that_were_not_kept_are_said_so_and_kept_ones_have_the_command(at, capsys):
    lost = steps(capsys, "alone", *own("--hit", "evidence"))
    kept = steps(capsys, "alone", *own("--hit", "evidence", "--save-results", "own.jsonl"))

    assert begins(lost, "The answers were not kept")
    command = "karat eval alone --hit evidence --results own.jsonl"
    assert begins(kept, "The answers") == f"The answers are in own.jsonl. Score them again without asking: {command}"
    assert karat(["eval", "alone", "--hit", "evidence", "--results", "own.jsonl"]) == 0
    assert begins(kept, "Compare another").count("--baseline own.jsonl") == 1


def test_a_baseline_has_its_verdict_with_the_exact_test(at, capsys):
    (at / "base.run").write_text("Q1 Q0 b 1 1.0 base\nT-0002 Q0 c 1 1.0 base\n")
    lines = steps(capsys, "alone", "--run", "mine.run", "--baseline", "base.run")

    (verdict,) = [line for line in lines if "McNemar" in line]
    assert "base (baseline)" in verdict
    assert "exact McNemar test" in verdict


def test_the_gate_that_is_proposed_passes_when_it_is_written_down(at, capsys):
    line = begins(steps(capsys, "alone", "--run", "mine.run"), "In a pipeline")
    entries = line.split("each on a line, ")[1].removesuffix(".").split(", ")
    (at / "gates.toml").write_text("\n".join(["[[gate]]", *entries]) + "\n")

    assert entries == ['name = "As good as now"', 'figure = "Success@5"', 'hit = "block"', "at_least = 0.34"]
    lines = steps(capsys, "alone", "--run", "mine.run", "--gates", "gates.toml")
    assert begins(lines, "Every gate passed") == "Every gate passed, so the command ends with 0."


def test_a_missed_gate_is_named(at, capsys):
    (at / "gates.toml").write_text('[[gate]]\nname = "First"\nfigure = "Success@1"\nhit = "block"\nat_least = 0.9\n')
    lines = steps(capsys, "alone", "--run", "mine.run", "--gates", "gates.toml", code=1)

    assert begins(lines, "The command ends with 1: First did not pass.")


def test_passages_that_the_rule_cannot_read_lead_to_the_rules_that_can(at, capsys):
    assert steps(capsys, "alone", *own("--hit", "block"))[0] == (
        "No returned passage has what the hit rule block reads, so every Q&A counts as missed. Measure again with "
        "--hit document or --hit pages or --hit evidence."
    )


def test_a_release_without_a_citation_file_is_named_with_its_digest_and_the_rule(at, capsys):
    assert begins(steps(capsys, "alone", "--run", "mine.run"), "Where you report this") == (
        "Where you report this, name Doors v2, digest dddddddddddd and the hit rule block beside each figure with its "
        "n and interval."
    )
    (at / "some.run").write_text("Q000 Q0 a 1 1.0 some\n")
    assert "hit rule" not in begins(steps(capsys, "graded", "--run", "some.run"), "Where")

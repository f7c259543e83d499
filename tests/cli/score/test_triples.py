"""`karat score --triples`: files, figures, remarks, and errors that name file, line, field and value."""

import json

import pytest

from apps.config.commandline import main as karat

EVIDENCE = "A session is opened by two people"
TRIPLES = [
    {
        "id": "T-0001",
        "query_id": "Q1",
        "question": "How long are audit records kept?",
        "expected_block": {"block_id": "hb#12", "document_id": "hb", "page_range": [58, 59]},
        "expected_answer": "90 days.",
        "metadata": {
            "domain": "audit",
            "difficulty": "standard",
            "added_by": "A. Author",
            "added_at": "2026-01-01",
            "reviewed_by": ["R. One", "R. Two"],
            "resolution": "consensus",
        },
    },
    {
        "id": "T-0002",
        "question": "Who opens a session, and for how long?",
        "expected_blocks": [
            {"block_id": "hb#3", "document_id": "hb", "page_range": [4, 4], "evidence": [EVIDENCE]},
            {"block_id": "hb#4", "document_id": "hb", "page_range": [5, 5], "evidence": ["It lasts eight hours"]},
        ],
        "match": "all",
        "expected_answer": "Two people, for eight hours.",
        "metadata": {"domain": "access", "difficulty": "hard"},
    },
]
RESULTS = [
    {"qid": "Q1", "rank": 1, "document_id": "hb", "pages": [59, 60], "text": "Records stay for 90 days"},
    {"qid": "T-0002", "rank": 2, "text": f"… {EVIDENCE.upper()}. It lasts eight hours."},
    {"qid": "T-0002", "rank": 1, "document_id": "elsewhere", "pages": [4, 5]},
]
RUN = ["Q1 Q0 hb#9 1 2.0 ours", "Q1 Q0 hb#12 2 1.0 ours", "T-0002 Q0 hb#3 1 1.0 ours"]
CORPUS = [
    {"block_id": "hb#12", "document_id": "hb", "page_start": 58, "page_end": 59, "text": "Records stay for 90 days."},
    {"block_id": "hb#9", "document_id": "hb", "page_start": 40, "page_end": 40, "text": "Something else."},
    {"block_id": "hb#3", "document_id": "hb", "page_start": 4, "page_end": 4, "text": f"{EVIDENCE}."},
]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in (("triples", TRIPLES), ("results", RESULTS), ("corpus", CORPUS)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "ours.run").write_text("\n".join(RUN) + "\n")
    (tmp_path / "base.run").write_text("Q1 Q0 hb#12 1 2.0 base\n")
    return tmp_path


def scored(capsys, *arguments):
    assert karat(["score", "--triples", "triples.jsonl", *arguments, "--per-query", "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def values(card):
    return {name: list(row.values()) for name, row in card["runs"][0]["per_query"].items()}


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--run", "ours.run"], {"T-0001": [0.5, 0, 0.5], "T-0002": [1, 1, 0.5]}),
        (
            ["--run", "ours.run", "--hit", "document", "--corpus", "corpus.jsonl"],
            {"T-0001": [1, 1, 1], "T-0002": [1, 1, 1]},
        ),
        (
            ["--run", "ours.run", "--hit", "pages", "--corpus", "corpus.jsonl"],
            {"T-0001": [0.5, 0, 0.5], "T-0002": [1, 1, 0.5]},
        ),
        (["--results", "results.jsonl", "--hit", "pages"], {"T-0001": [1, 1, 1], "T-0002": [0, 0, 0]}),
        (
            ["--results", "results.jsonl", "--hit", "evidence", "--corpus", "corpus.jsonl"],
            {"T-0001": [1, 1, 1], "T-0002": [0.5, 0, 1]},
        ),
    ],
)
def test_each_rule_gives_each_question_its_values(capsys, options, wanted):
    card = scored(capsys, *options, "--measures", "RR Success@1 Coverage@2")
    if "pages" in options and "--run" in options:
        assert values(card)["T-0001"][0] == 0.5
    assert values(card)["T-0001"] == pytest.approx([wanted["T-0001"][0], wanted["T-0001"][1], 1.0])
    assert values(card)["T-0002"] == pytest.approx(wanted["T-0002"])


def test_means_over_questions_are_weighted_too(files, capsys):
    (files / "weights.csv").write_text("query,weight\nT-0001,1\nT-0002,3\n")

    card = scored(capsys, "--run", "ours.run", "--measures", "RR", "--weights", "weights.csv")

    assert card["runs"][0]["weighted"]["RR"]["value"] == (0.5 + 3 * 1) / 4


def test_the_card_names_rule_counts_and_methods(capsys):
    card = scored(capsys, "--run", "ours.run")
    assert card["hit"] == "block"
    assert card["queries"] == {"measured": 2, "undefined": 0, "in_run": 2, "missing": 0}
    assert {name: one["method"] for name, one in card["runs"][0]["measures"].items()} == {
        "Success@5": "wilson",
        "Success@1": "wilson",
        "RR": "wilson-scaled",
    }
    assert set(card["runs"][0]["strata"]) == {"domain", "difficulty", "kind"}
    assert "judged@10" not in card["runs"][0]


def test_a_question_that_lacks_what_the_rule_reads_is_named_and_left_out(capsys):
    card = scored(capsys, "--results", "results.jsonl", "--hit", "evidence")
    assert card["undefined"] == ["T-0001"]
    assert list(card["runs"][0]["per_query"]) == ["T-0002"]


def test_two_runs_are_compared_by_the_exact_test(capsys):
    card = scored(capsys, "--run", "ours.run", "--compare", "base.run", "--measures", "Success@5")
    (comparison,) = card["comparisons"]
    assert comparison["measures"]["Success@5"]["mcnemar"] == {"baseline_alone": 0, "candidate_alone": 1, "p": 1.0}


def test_the_table_prints_the_rule_and_what_figures_cannot_know(capsys):
    assert karat(["score", "--triples", "triples.jsonl", "--run", "ours.run", "--compare", "base.run"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "2 questions, hit rule block. A returned passage counts when it is the expected passage." in printed
    assert "these figures are a lower end" in printed
    assert "exact McNemar test p" in printed


def test_questions_of_no_triple_are_named_on_standard_error(files, capsys):
    (files / "ours.run").write_text("Q7 Q0 hb#12 1 2.0 ours\n" + RUN[0] + "\n")
    assert karat(["score", "--triples", "triples.jsonl", "--run", "ours.run"]) == 0
    assert "1 of its questions are of no triple: Q7" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--html", "--markdown"])
def test_a_report_is_written(files, capsys, option):
    scored(capsys, "--run", "ours.run", option, "report")
    assert "hit rule block" in (files / "report").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--run", "ours.run", "--hit", "pages"], "--corpus corpus.jsonl"),
        (["--run", "ours.run", "--hit", "passage"], "'passage' is not a hit rule"),
        (["--run", "ours.run", "--hit", "text"], "text is by grades, not on Q&As"),
        (["--run", "ours.run", "--measures", "nDCG@10"], "nDCG@10 needs grades"),
        ([], "Name a run with --run RUN"),
        (["--compare", "base.run"], "name another run"),
        (["--results", "missing.jsonl"], "missing.jsonl: cannot be read"),
        (["--results", "ours.run"], "ours.run, line 1"),
        (["--run", "results.jsonl"], "results.jsonl, line 1"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_a_sentence(capsys, arguments, sentence):
    assert karat(["score", "--triples", "triples.jsonl", *arguments]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"qid": 1, "rank": 1, "id": "a"}', "bad.jsonl, line 2, qid: '1'"),
        ('{"qid": "Q1", "rank": "first", "id": "a"}', "bad.jsonl, line 2, rank: 'first'"),
        ('{"qid": "Q1", "rank": 2, "pages": [2, 1], "id": "a"}', "bad.jsonl, line 2, pages"),
        ('{"qid": "Q1", "rank": 2}', "bad.jsonl, line 2"),
        ("{", "bad.jsonl, line 2"),
    ],
)
def test_a_bad_line_of_results_is_named(files, capsys, line, sentence):
    (files / "bad.jsonl").write_text('{"qid": "Q1", "rank": 1, "id": "a"}\n' + line + "\n")
    assert karat(["score", "--triples", "triples.jsonl", "--results", "bad.jsonl"]) == 2
    assert sentence in capsys.readouterr().err


def test_a_bad_triple_is_named(files, capsys):
    (files / "triples.jsonl").write_text(json.dumps({**TRIPLES[0], "question": ""}) + "\n")
    assert karat(["score", "--triples", "triples.jsonl", "--run", "ours.run"]) == 2
    assert "triples.jsonl, line 1, question" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--corpus", "c"], ["--hit", "pages"]])
def test_options_of_triples_are_refused_beside_qrels(capsys, option):
    assert karat(["score", "--qrels", "q", "--run", "ours.run", *option]) == 2
    assert "goes with --triples" in capsys.readouterr().err

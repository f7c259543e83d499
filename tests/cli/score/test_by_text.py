"""`karat score --qrels` of results: passages of a system's own earn the grades of the blocks whose words they hold."""

import csv
import io
import json
import random
import re
from math import log2
from pathlib import Path

import pytest

from apps.cli.scorecards import FORMATS
from apps.config.commandline import main as karat
from apps.metrics.measures.registry import DEFAULT_MEASURES, DEFAULT_TEXT_MEASURES
from tests.judging.archives import parquet_of
from tests.metrics.by_text.corpora import made_up

DOCUMENTS = made_up(3, 6, 8, 60)
BLOCKS = {
    f"d{place}#{number}": (f"d{place}", text)
    for place, document in enumerate(DOCUMENTS)
    for number, text in enumerate(document)
    if len(text.split()) >= 8
}
QUERIES = [f"Q{number}" for number in range(8)]
STRANGE = "A sentence that stands nowhere in this corpus of made-up words."


CHUNKS = ["--results", "chunks.csv", "--corpus", "corpus.jsonl"]


def lines(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """A corpus, judgements, a run of blocks, the texts of the same blocks, and chunks of another system as a table."""
    monkeypatch.chdir(tmp_path)
    chance = random.Random(11)
    rows = [{"block_id": key, "document_id": document, "text": text} for key, (document, text) in BLOCKS.items()]
    (tmp_path / "corpus.jsonl").write_text(lines(rows))
    grades, run, same, chunks = [], [], [], [["query", "score", "text"]]
    for query in QUERIES:
        grades += [f"{query} 0 {key} {chance.randint(0, 3)}" for key in chance.sample(sorted(BLOCKS), 12)]
        for rank, key in enumerate(chance.sample(sorted(BLOCKS), 20), 1):
            run.append(f"{query} Q0 {key} {rank} {50 - rank} ours")
            same.append({"qid": query, "rank": rank, "text": BLOCKS[key][1]})
        for document in chance.sample(DOCUMENTS, 3):
            words = " ".join(document).split()
            pieces = [" ".join(words[start : start + 70]) for start in range(0, len(words) - 20, 50)]
            chunks += [[query, str(chance.random()), piece] for piece in pieces]
    (tmp_path / "qrels").write_text("\n".join(grades))
    (tmp_path / "ours.run").write_text("\n".join(run))
    (tmp_path / "same.jsonl").write_text(lines(same))
    with (tmp_path / "chunks.csv").open("w", newline="") as out:
        csv.writer(out).writerows(chunks)
    (tmp_path / "strata.csv").write_text(
        "query,kind\n" + "".join(f"{query},{'even' if place % 2 else 'odd'}\n" for place, query in enumerate(QUERIES))
    )
    (tmp_path / "weights.csv").write_text("query,weight\n" + "".join(f"{query},2\n" for query in QUERIES))
    return tmp_path


def score(*arguments):
    return karat(["score", "--qrels", "qrels", *map(str, arguments)])


def by_text(capsys, *arguments):
    assert score("--corpus", "corpus.jsonl", *arguments, "--per-query", "--format", "json") == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments):
    assert score(*arguments) == 2
    return capsys.readouterr().err


def test_a_system_that_returns_the_texts_of_blocks_has_the_scores_of_their_ids(capsys):
    chosen = ["--measures", f"{DEFAULT_MEASURES} Success@5 AP@10 Judged@10 gRBP(p=0.8) Bpref ERR"]
    assert score("--run", "ours.run", *chosen, "--per-query", "--format", "json") == 0
    by_id = json.loads(capsys.readouterr().out)["runs"][0]

    for option in (["--results", "same.jsonl"], ["--run", "ours.run", "--hit", "text"]):
        run = by_text(capsys, *option, *chosen)["runs"][0]
        assert run["per_query"] == by_id["per_query"]
        assert run["measures"] == by_id["measures"]
        assert (run["judged@10"], run["results"]) == (by_id["judged@10"], by_id["results"])


def test_without_a_list_of_measures_those_by_text_are_measured(capsys):
    assert list(by_text(capsys, "--results", "chunks.csv")["runs"][0]["measures"]) == DEFAULT_TEXT_MEASURES.split()


def test_the_rule_the_share_and_what_was_located_stand_beside_the_figures(files, capsys):
    with (files / "chunks.csv").open("a", newline="") as out:
        csv.writer(out).writerows([["Q0", "9", STRANGE], ["Q1", "0.0", f"{STRANGE} Again."]])
    card = by_text(capsys, "--results", "chunks.csv", "--hit", "Text(share=0.9)")
    (run,) = card["runs"]

    assert (card["hit"], card["share"]) == ("text(share=0.9)", 0.9)
    assert "at least 90\N{NO-BREAK SPACE}% of the words" in card["conventions"]
    located = run["located"]
    assert located["returned"] - located["located"] == 2
    assert located["not_located"][0] == {"query": "Q0", "rank": 1, "text": STRANGE[:60].rsplit(" ", 1)[0] + " …"}
    assert list(located["by_share"]) == ["0.5", "0.8", "1"]
    assert located["by_share"]["0.5"] >= located["by_share"]["1"]

    assert score("--results", "chunks.csv", "--corpus", "corpus.jsonl") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert not out.startswith("chunks: 2 of")
    assert "Measured by text (share 0.8). A returned passage earns the grades of the passages that it covers" in out
    assert f"{located['located']} of {located['returned']} returned passages located in the corpus." in out
    assert "Not located: Q0, rank 1: “A sentence that stands nowhere" in out
    assert "chunks, nDCG@10 by the share:" in out


def test_much_that_is_not_located_is_said_before_all_figures(files, capsys):
    rows = [{"qid": "Q0", "text": f"{STRANGE} {number}"} for number in range(6)] + [
        {"qid": "Q0", "text": DOCUMENTS[0][0]}
    ]
    (files / "strange.jsonl").write_text(lines(rows))

    assert score("--results", "strange.jsonl", "--corpus", "corpus.jsonl", "--html", "report.html") == 0

    out = capsys.readouterr().out
    first = "strange: 6 of 7 returned passages (85.7\N{NO-BREAK SPACE}%) could not be located in the corpus"
    assert out.startswith(first)
    assert "and 1 more." in out
    assert first in (files / "report.html").read_text()


def test_the_sensitivity_is_that_of_the_same_command_with_another_share(capsys):
    shares = by_text(capsys, "--results", "chunks.csv", "--measures", "P@10")["runs"][0]["located"]["by_share"]

    for share, mean in shares.items():
        card = by_text(capsys, "--results", "chunks.csv", "--measures", "P@10", "--hit", f"text(share={share})")
        assert card["runs"][0]["measures"]["P@10"]["value"] == mean


def test_figures_are_by_stratum_weighted_and_compared_in_every_form(files, capsys):
    options = ["--by", "strata.csv", "--weights", "weights.csv", "--compare", "same.jsonl", "--per-query"]
    common = ["--results", "chunks.csv", "--corpus", "corpus.jsonl", *options]
    for form in FORMATS:
        assert score(*common, "--format", form, "--html", "report.html", "--markdown", "report.md") == 0
        out = capsys.readouterr().out
        assert "TokenRecall@5" in out
        assert "same" in out
    card = by_text(capsys, "--results", "chunks.csv", *options)
    assert [run["tag"] for run in card["runs"]] == ["same", "chunks"]
    assert set(card["runs"][1]["strata"]["kind"]) == {"odd", "even"}
    weighted = card["runs"][1]["weighted"]["nDCG@10"]["value"]
    assert weighted == pytest.approx(card["runs"][1]["measures"]["nDCG@10"]["value"])
    assert card["comparisons"][0]["baseline"] == "same"
    for name in ("report.html", "report.md"):
        text = (files / name).read_text()
        assert "TokenRecall" in text
        assert "judged queries, text" in text


def test_rows_of_a_table_name_the_rule(capsys):
    assert (
        score("--results", "chunks.csv", "--corpus", "corpus.jsonl", "--hit", "text(share=0.7)", "--format", "csv") == 0
    )

    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["hit"] for row in rows} == {"text(share=0.7)"}


def test_by_id_no_column_names_a_rule(capsys):
    assert score("--run", "ours.run", "--format", "csv") == 0
    assert "hit" not in capsys.readouterr().out.splitlines()[0].split(",")


def test_forms_of_results_have_the_same_figures(files, capsys):
    rows = [json.loads(line) for line in (files / "same.jsonl").read_text().splitlines()]
    (files / "same.parquet").write_bytes(parquet_of(rows))
    keys = {text: key for key, (_, text) in BLOCKS.items()}
    spans = [
        {"query_id": row["qid"], "rank": row["rank"], "id": keys[row["text"]], "start": 0, "end": len(row["text"])}
        for row in rows
    ]
    (files / "spans.jsonl").write_text(lines(spans))
    ids = [{"query": row["qid"], "rank": row["rank"], "id": keys[row["text"]]} for row in rows]
    (files / "ids.jsonl").write_text(lines(ids))

    found = [
        by_text(capsys, "--results", name)["runs"][0]["per_query"]
        for name in ("same.jsonl", "same.parquet", "spans.jsonl", "ids.jsonl")
    ]

    assert found == [found[0]] * 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--results", "chunks.csv", "--run", "ours.run", "--corpus", "corpus.jsonl"], "never in one table"),
        (["--run", "ours.run", "--compare", "same.jsonl", "--corpus", "corpus.jsonl"], "never in one table"),
        (["--run", "ours.run", "--compare", "chunks.csv"], "never in one table"),
        (["--results", "chunks.csv", "--hit", "block"], "measured by text: leave out --hit"),
        (["--results", "chunks.csv", "--hit", "evidence"], "--hit evidence goes with --triples"),
        (["--results", "chunks.csv", "--hit", "text(share=2)"], "share is above 0 and at most 1"),
        (["--results", "chunks.csv"], "Name it with --corpus corpus.jsonl"),
        (["--run", "ours.run", "--hit", "text"], "Name it with --corpus corpus.jsonl"),
        (["--hit", "text", "--corpus", "corpus.jsonl"], "Name the passages that a system returned with --results"),
        (["--corpus", "corpus.jsonl", "--run", "ours.run"], "--corpus goes with"),
        (["--results", "same.jsonl", "--compare", "same.jsonl", "--corpus", "corpus.jsonl"], "name another run"),
        ([*CHUNKS, "--bounds"], "--bounds goes with runs of blocks"),
        ([*CHUNKS, "--fit-ids"], "--fit-ids goes with runs of blocks"),
        ([*CHUNKS, "--blocks", "b"], "--blocks goes with runs of blocks"),
        (["--results", "-", "--corpus", "-"], "Only one file can be standard input"),
        (
            ["--results", "chunks.csv", "--corpus", "corpus.jsonl", "--measures", "STREC@5"],
            "cannot be measured by text",
        ),
        (
            ["--results", "chunks.csv", "--corpus", "corpus.jsonl", "--measures", "infAP"],
            "marks of what was in the pool",
        ),
        (["--run", "ours.run", "--measures", "TokenRecall@5"], "Name them with --results RESULTS --corpus"),
        (["--results", "nowhere.jsonl", "--corpus", "corpus.jsonl"], "nowhere.jsonl: cannot be read"),
        (["--results", "chunks.csv", "--corpus", "empty.jsonl"], "empty.jsonl: contains no passages"),
        (["--results", "empty.jsonl", "--corpus", "corpus.jsonl"], "empty.jsonl: contains no results"),
        (
            ["--results", "others.jsonl", "--corpus", "corpus.jsonl"],
            "answers none of the judged queries",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_with_a_sentence(files, capsys, options, words):
    (files / "empty.jsonl").write_text("")
    (files / "others.jsonl").write_text(lines([{"qid": "X1", "text": "A"}]))

    assert words in refused(capsys, *options)


def test_text_is_no_rule_of_triples(files, capsys):
    assert karat(["score", "--triples", "t.jsonl", "--results", "same.jsonl", "--hit", "text"]) == 2
    assert "text is by grades, not on Q&As" in capsys.readouterr().err


def test_runs_and_results_are_in_one_table_by_text(capsys):
    options = ["--run", "ours.run", "--results", "chunks.csv", "--hit", "text", "--compare", "same.jsonl"]

    card = by_text(capsys, *options)

    assert [run["tag"] for run in card["runs"]] == ["same", "ours", "chunks"]
    assert card["runs"][0]["measures"] == card["runs"][1]["measures"]


def test_every_mistake_of_a_file_is_named(files, capsys):
    key, (document, text) = next(iter(BLOCKS.items()))
    wrong = [
        {"qid": "Q0", "rank": 1, "text": "Fine."},
        {"qid": "Q0", "rank": 1, "text": "The rank again."},
        {"qid": "Q0", "rank": 2, "text": "  "},
        {"qid": "Q0", "rank": 3, "id": key, "start": 0, "end": len(text) + 1},
        {"qid": "Q0", "rank": 4, "id": key, "start": 0, "end": 9, "text": "Other words."},
        {"qid": "Q0", "rank": 6, "document_id": document, "start": 0, "end": 3},
    ]
    (files / "wrong.jsonl").write_text(lines(wrong))

    err = refused(capsys, "--results", "wrong.jsonl", "--corpus", "corpus.jsonl")

    named = re.findall(r"wrong\.jsonl, line (\d), (\w+):", err)
    assert named == [("2", "rank"), ("3", "text"), ("4", "end"), ("5", "text"), ("6", "id")]


def test_queries_that_were_never_judged_are_counted_and_named(files, capsys):
    (files / "more.jsonl").write_text(
        (files / "same.jsonl").read_text() + lines([{"qid": "X1", "rank": 1, "text": "A"}])
    )

    assert score("--results", "more.jsonl", "--corpus", "corpus.jsonl") == 0
    assert "more.jsonl: 1 of its questions was never judged: X1." in capsys.readouterr().err


def test_a_corpus_without_any_of_the_relevant_passages_is_refused(files, capsys):
    (files / "other.jsonl").write_text(
        lines([{"block_id": "x", "text": "Something else than what was searched here."}])
    )

    err = refused(capsys, "--results", "same.jsonl", "--corpus", "other.jsonl")

    assert "other.jsonl, block_id: 'x': the corpus has none of the relevant passages" in err


def test_results_that_cover_nothing_that_was_judged_give_a_warning(files, capsys):
    (files / "strange.jsonl").write_text(lines([{"qid": "Q0", "text": STRANGE}]))

    assert score("--results", "strange.jsonl", "--corpus", "corpus.jsonl") == 0

    assert "no passage in the first ten covers a judged passage" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ({"block_id": "one", "text": "b"}, "line 2, block_id: 'one': an earlier line has this block_id already."),
        ({"block_id": 7, "text": "b"}, "line 2, block_id: '7': a block needs a text, and a block_id that is a text"),
    ],
)
def test_a_bad_line_of_a_corpus_is_named(files, capsys, second, words):
    (files / "bad.jsonl").write_text(lines([{"block_id": "one", "text": "a"}, second]))

    assert f"bad.jsonl, {words}" in refused(capsys, "--results", "same.jsonl", "--corpus", "bad.jsonl")


def test_results_without_a_text_are_told_from_those_that_are_not_located(files, capsys):
    rows = [{"qid": "Q0", "rank": 1, "text": STRANGE}]
    rows += [{"qid": "Q0", "rank": rank, "id": f"mine-{rank}"} for rank in range(2, 5)]
    (files / "mixed.jsonl").write_text(lines(rows))
    (files / "ids.jsonl").write_text(lines(rows[1:]))

    assert score("--results", "mixed.jsonl", "--corpus", "corpus.jsonl") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "…”; and 3 more. 3 of these have neither a text nor an id of the corpus." in out
    located = by_text(capsys, "--results", "ids.jsonl")["runs"][0]["located"]
    assert (located["not_located"], located["without_text"]) == ([], 3)


def test_what_others_wrote_does_not_command_the_terminal(files, capsys):
    wild = "\x1b]0;owned\x07 \u202egnorw"
    (files / "wild.jsonl").write_text(lines([{"qid": "Q0", "rank": 1, "text": f"{wild} {STRANGE}"}]))
    (files / "wild.run").write_text(f"Q0 Q0 {next(iter(BLOCKS))} 1 1.0 {wild.replace(' ', '')}\n")

    assert score("--results", "wild.jsonl", "--corpus", "corpus.jsonl") == 0
    assert score("--run", "wild.run") == 0
    shown = capsys.readouterr()
    (files / "wild.jsonl").write_text(lines([{"qid": "Q0", "rank": 1, "id": wild, "text": "a"}]))
    err = refused(capsys, "--results", "wild.jsonl", "--corpus", "corpus.jsonl")

    assert "\N{REPLACEMENT CHARACTER}" in shown.out
    assert "wild.jsonl, line 1, id: " in err
    assert "it contains control characters, which no id has." in err
    assert not {"\x1b", "\x07", "\u202e"} & set(shown.out + shown.err + err)


# By hand --------------------------------------------------------------------------------------------------------------

SHARE, LENGTH, STEP = 0.8, 120, 90


def words_in(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def prose(part):
    return " ".join([part.get("prose", ""), *map(prose, part.get("parts", ()))])


def catalog(path):
    """The controls of each family, by id, with their words."""
    groups = json.loads(path.read_text())["catalog"]["groups"]
    controls = {
        group["id"]: {
            control["id"]: words_in(" ".join(map(prose, control.get("parts", ())))) for control in group["controls"]
        }
        for group in groups
    }
    return {
        family: {key: words for key, words in members.items() if len(words) >= 40}
        for family, members in controls.items()
    }


def held_by(passage, families):
    """The words of each control that a passage is made of, by searching its words in those of whole families."""
    joined = f" {' '.join(passage)} "
    held = {}
    for members in families.values():
        whole = f" {' '.join(word for words in members.values() for word in words)} "
        if (at := whole.find(joined)) < 0:
            continue
        begin, first = whole[:at].count(" "), 0
        for key, words in members.items():
            inside = range(max(begin - first, 0), min(begin + len(passage) - first, len(words)))
            if inside:
                held[key] = set(inside)
            first += len(words)
    return held


def by_hand(returned, grades, families):
    sizes = {key: len(words) for members in families.values() for key, words in members.items()}
    so_far, done, earned, found = {}, set(), [], 0
    for passage in returned:
        best = 0
        for key, words in held_by(passage, families).items():
            so_far.setdefault(key, set()).update(words)
            if key not in done and len(so_far[key]) >= SHARE * sizes[key]:
                done.add(key)
                best = max(best, grades.get(key, 0))
                found += grades.get(key, 0) > 0
        earned.append(best)

    def gain(values):
        return sum(value / log2(place + 2) for place, value in enumerate(values[:10]))

    ideal = gain(sorted(grades.values(), reverse=True))
    first = next((1 / (place + 1) for place, value in enumerate(earned) if value), 0.0)
    relevant = sum(value > 0 for value in grades.values())
    return {
        "nDCG@10": gain(earned) / ideal,
        "P@10": sum(value > 0 for value in earned[:10]) / 10,
        "RR": first,
        "Recall@100": found / relevant,
    }


def test_figures_equal_a_short_calculation_by_hand(files, shared_data, capsys):
    path = next((shared_data / "nist_800_53").glob("rev5_2021-06/*.json"), Path("missing"))
    if not path.is_file():
        pytest.skip("no catalog of NIST SP 800-53 here")
    families, chance = catalog(path), random.Random(5)
    chunks = []
    for members in families.values():
        whole = [word for words in members.values() for word in words]
        chunks += [whole[start : start + LENGTH] for start in range(0, len(whole), STEP)]
    rows, qrels, wanted = [], [], {}
    for query in [f"N{number}" for number in range(12)]:
        family = families[chance.choice(sorted(families))]
        grades = {key: chance.randint(0, 3) for key in chance.sample(sorted(family), min(6, len(family)))}
        grades[next(iter(grades))] = 2
        inside = [chunk for chunk in chunks if any(len(words) >= 40 for words in held_by(chunk, {"": family}).values())]
        returned = chance.sample(inside, min(12, len(inside))) + chance.sample(chunks, 8)
        rows += [{"qid": query, "text": " ".join(passage)} for passage in returned]
        qrels += [f"{query} 0 {key} {grade}" for key, grade in grades.items()]
        wanted[query] = by_hand(returned, grades, families)
    (files / "qrels").write_text("\n".join(qrels))
    (files / "chunks.jsonl").write_text(lines(rows))
    corpus = [
        {"block_id": key, "document_id": family, "text": " ".join(words)}
        for family, members in families.items()
        for key, words in members.items()
    ]
    (files / "corpus.jsonl").write_text(lines(corpus))

    card = by_text(capsys, "--results", "chunks.jsonl", "--measures", " ".join(wanted["N0"]))

    assert card["runs"][0]["located"]["located"] == len(rows)
    assert sum(values["RR"] > 0 for values in wanted.values()) > 6
    assert card["runs"][0]["per_query"] == {query: pytest.approx(values) for query, values in wanted.items()}

"""Real questions, when they are there: a system that cuts its own passages, against the plain computation."""

import json
import re
from itertools import pairwise

import pytest

from apps.config.commandline import main as karat
from apps.metrics.expected.rules import ExpectedBlock, Question, Returned
from tests.metrics.expected import by_hand, outside

pytestmark = pytest.mark.slow

DEPTH = 5
EVERY = 60
MEASURES = "Success@5 FailureRate@5 RR P@5 Recall@5 Coverage@5 Sufficient@5"


def sentence_at(text, place):
    """The sentence around a place."""
    ends = [0, *(match.end() for match in re.finditer(r"[.!?] ", text)), len(text)]
    return next(text[a:b].strip() for a, b in pairwise(ends) if a <= place < b)


def articles(path):
    """Documents as lists of their paragraphs, each a page, and every sixtieth question with the block it expects."""
    documents, asked = {}, []
    for article in json.loads(path.read_text())["data"]:
        documents[article["title"]] = [paragraph["context"] for paragraph in article["paragraphs"]]
        for number, paragraph in enumerate(article["paragraphs"], 1):
            for entry in paragraph["qas"]:
                asked.append((article["title"], number, paragraph["context"], entry))
    return documents, asked[::EVERY]


def triple(title, number, text, entry):
    evidence = sentence_at(text, entry["answers"][0]["answer_start"])
    return {
        "id": entry["id"],
        "question": entry["question"],
        "expected_block": {
            "block_id": f"{title}#{number}",
            "document_id": title,
            "page_range": [number, number],
            "evidence": [evidence],
        },
        "expected_answer": entry["answers"][0]["text"],
        "metadata": {"domain": title, "difficulty": "standard"},
    }


def as_question(values):
    block = values["expected_block"]
    pages = (block["page_range"][0], block["page_range"][1])
    return Question(
        values["id"], (ExpectedBlock(block["block_id"], block["document_id"], pages, tuple(block["evidence"])),)
    )


@pytest.fixture(scope="module", params=["en", "de"])
def case(request, shared_data, tmp_path_factory):
    """A folder with the files of triples and results, the questions, and what is returned for each."""
    folder = tmp_path_factory.mktemp(request.param)
    documents, asked = articles(shared_data / "xquad" / f"xquad.{request.param}.json")
    triples, found = [triple(*one) for one in asked], outside.indexed(documents)
    returned = {one["id"]: outside.searched(found, one["question"], DEPTH) for one in triples}
    rows = [
        {"qid": name, "rank": rank, **{key: piece[key] for key in ("document_id", "pages", "text")}}
        for name, best in returned.items()
        for rank, piece in enumerate(best, 1)
    ]
    for name, lines in (("triples", triples), ("results", rows)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    passages = {
        name: [Returned("", one["document_id"], (one["pages"][0], one["pages"][1]), one["text"]) for one in best]
        for name, best in returned.items()
    }
    return folder, [as_question(one) for one in triples], passages


@pytest.mark.parametrize("rule", ["block", "document", "pages", "evidence"])
def test_every_value_of_every_question_is_that_of_the_plain_computation(case, capsys, rule):
    folder, questions, passages = case
    files = ["--triples", str(folder / "triples.jsonl"), "--results", str(folder / "results.jsonl")]

    assert karat(["score", *files, "--hit", rule, "--measures", MEASURES, "--per-query", "--format", "json"]) == 0

    found = json.loads(capsys.readouterr().out)["runs"][0]["per_query"]
    wanted = {one.id: by_hand.values(rule, one, passages[one.id], DEPTH) for one in questions}
    assert {name: [row[key] for key in MEASURES.split()] for name, row in found.items()} == {
        name: pytest.approx([row[key.partition("@")[0]] for key in MEASURES.split()]) for name, row in wanted.items()
    }
    assert len(found) == 20


def test_the_rules_are_as_strict_as_they_say(case, capsys):
    """On the same results document finds the most, then pages, and evidence at most what stands on these pages."""
    folder, *_ = case
    files = ["--triples", str(folder / "triples.jsonl"), "--results", str(folder / "results.jsonl")]
    means = {}
    for rule in ("block", "document", "pages", "evidence"):
        assert karat(["score", *files, "--hit", rule, "--measures", "Success@5", "--format", "json"]) == 0
        means[rule] = json.loads(capsys.readouterr().out)["runs"][0]["measures"]["Success@5"]["value"]
    assert means["document"] >= means["pages"] >= means["evidence"] > means["block"] == 0

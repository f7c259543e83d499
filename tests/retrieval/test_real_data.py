"""Real files, when they are there: Cranfield's abstracts and TREC CAsT's runs."""

import re

import numpy as np
import pytest
import pytrec_eval

from apps.metrics.files.trec_rows import read_run_rows as rows_of
from apps.retrieval.core.engines.registry import make
from apps.retrieval.formats import draft_from_lines

pytestmark = pytest.mark.slow


def smart(path):
    """Records of a SMART file in file order: a dict of field letter to text."""
    records = []
    for part in re.split(r"^\.I ", path.read_text(errors="replace"), flags=re.MULTILINE)[1:]:
        fields = re.split(r"^\.([TABW])\n", part, flags=re.MULTILINE)
        records.append({"I": fields[0].strip(), **dict(zip(fields[1::2], fields[2::2], strict=True))})
    return records


@pytest.mark.parametrize(("name", "lowest"), [("bm25", 0.26), ("tfidf", 0.24)])
def test_cranfield_is_ranked_as_well_as_its_readme_expects(shared_data, name, lowest):
    """Its README: MAP 0.2879 for BM25 with k1 0.9, b 0.4 and a full English stemmer; ours folds plurals alone."""
    documents = smart(shared_data / "cranfield" / "cran.all.1400")
    questions = smart(shared_data / "cranfield" / "cran.qry")
    order = sorted(range(len(documents)), key=lambda at: documents[at]["I"].encode())
    engine = make(name)

    handle = engine.index(documents[at].get("W", "") for at in order)
    found = engine.search(handle, [question["W"] for question in questions], 1000)

    run = {
        str(number + 1): {
            documents[order[p]]["I"]: s for p, s in zip(*(c.tolist() for c in found.of(number)), strict=True)
        }
        for number in range(len(questions))
    }
    values = pytrec_eval.RelevanceEvaluator(cranfield_qrels(shared_data), {"map"}).evaluate(run)
    assert np.mean([value["map"] for value in values.values()]) > lowest


def cranfield_qrels(shared_data):
    """Codes 1 to 4 are relevant; the −1 rows are left out, as in the README."""
    qrels = {}
    for line in (shared_data / "cranfield" / "cranqrel").read_text().splitlines():
        query, document, code = line.split()
        if code != "-1":
            qrels.setdefault(query, {})[document] = 1
    return qrels


@pytest.mark.parametrize(
    ("name", "rows", "ties"),
    [
        ("org_convdr", 15_898, 0),
        ("org_convdr_bert", 15_898, 204),
        ("org_manual_ance", 15_373, 0),
        ("org_manual_ance_bert", 15_373, 176),
        ("org_manual_bm25", 18_570, 45),
    ],
)
def test_the_runs_of_cast_are_read_whole(shared_data, name, rows, ties):
    path = shared_data / "cast2021_runs" / f"{name}.run"
    known = list(rows_of(path))
    blocks = {block: at for at, block in enumerate(sorted({row.block_id for row in known}, key=str.encode))}
    queries = {query: at for at, query in enumerate(sorted({row.query_id for row in known}))}

    with path.open("rb") as stream:
        draft = draft_from_lines(stream, path.name, queries=queries, blocks=blocks)

    assert not draft.errors
    assert (draft.rows, draft.results, len(draft.rankings), draft.ties) == (rows, rows, 239, ties)

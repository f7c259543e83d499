"""Exports load unmodified in the libraries that people have.

pandas, pyarrow, ir-measures and pytrec-eval are development tools. `datasets` and ranx bring much along; they are tried
where they are installed: in another Python, whose path is in KARAT_READERS, else in this one.
"""

import codecs
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import ir_measures
import pandas
import pyarrow.dataset
import pytest
import pytrec_eval
from django.conf import settings

from apps.config.commandline import main as karat
from apps.goldsets.formats.folder import write_folder
from tests.goldsets.content import FACTS, SMALL

GRADES = [("Q01", "b1", 3), ("Q01", "b2", 0), ("Q02", "b1", 1)]
RUN = {"Q01": {"b2": 2.0, "b1": 1.0}, "Q02": {"b1": 1.0}}
READERS = os.environ.get("KARAT_READERS", sys.executable)


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    write_folder(SMALL, folder, formats=["all"], facts=FACTS)
    return folder


def elsewhere(library: str, program: str, *arguments: object) -> object:
    """What a program prints as JSON in the Python that has the library; skips the test where none has it."""
    if subprocess.run([READERS, "-c", f"import {library}"], capture_output=True).returncode:
        pytest.skip(f"{library} is not installed; KARAT_READERS may name a Python that has it")
    quiet = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TQDM_DISABLE": "1"}
    ran = subprocess.run([READERS, "-c", program, *map(str, arguments)], capture_output=True, text=True, env=quiet)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def test_pandas_reads_csv_jsonl_and_parquet(export):
    for table in (
        pandas.read_csv(export / "csv/judgements.csv").rename(columns={"doc_id": "block_id"}),
        pandas.read_json(export / "jsonl/judgements.jsonl", lines=True),
        pandas.read_parquet(export / "parquet/judgements.parquet"),
    ):
        assert list(table[["query_id", "block_id", "grade"]].itertuples(index=False, name=None)) == GRADES


@pytest.mark.parametrize("form", ["relevance", "notes"])
def test_the_mark_for_excel_is_in_no_column_that_pandas_or_csv_reads_as_the_manual_says(export, form):
    path = export / form / "judgements.csv"
    assert path.read_bytes().startswith(codecs.BOM_UTF8)

    with path.open(encoding="utf-8-sig", newline="") as file:
        columns = csv.DictReader(file).fieldnames

    assert columns[0] == "query_id"
    assert pandas.read_csv(path).columns.tolist() == columns
    assert 'open(path, encoding="utf-8-sig", newline="")' in (settings.BASE_DIR / "docs/reference/files.md").read_text()


def test_pandas_reads_single_judgements_alike_from_both_forms(export):
    packed = pandas.read_parquet(export / "judgements/judgements.parquet")
    table = pandas.read_csv(export / "judgements/judgements.csv")

    assert list(packed.columns) == list(table.columns)
    assert packed["grade"].dropna().astype(int).tolist() == table["grade"].dropna().astype(int).tolist()


def test_pyarrow_reads_the_tables_as_datasets(export):
    counts = {path.stem: pyarrow.dataset.dataset(path).count_rows() for path in (export / "parquet").iterdir()}

    assert counts == {"corpus": 2, "judgements": 3, "queries": 2, "triples": 1}


def test_ir_measures_reads_the_qrels(export):
    qrels = list(ir_measures.read_trec_qrels(str(export / "trec/qrels.txt")))
    run = [ir_measures.ScoredDoc(query, block, score) for query, found in RUN.items() for block, score in found.items()]

    assert [(row.query_id, row.doc_id, row.relevance) for row in qrels] == GRADES
    assert ir_measures.calc_aggregate([ir_measures.RR], qrels, run) == {ir_measures.RR: 0.75}


def test_pytrec_eval_reads_the_qrels(export):
    with (export / "trec/qrels.txt").open() as stream:
        qrels = pytrec_eval.parse_qrel(stream)

    scores = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(RUN)
    assert {query: score["recip_rank"] for query, score in scores.items()} == {"Q01": 0.5, "Q02": 1.0}


def load_beir(folder: Path, split: str):
    """As loaders of BEIR do it: corpus and queries by `_id`, qrels with a heading and tabs."""
    corpus = {row["_id"]: row for row in map(json.loads, (folder / "corpus.jsonl").open())}
    queries = {row["_id"]: row["text"] for row in map(json.loads, (folder / "queries.jsonl").open())}
    _, *lines = (folder / "qrels" / f"{split}.tsv").read_text().splitlines()
    qrels: dict[str, dict[str, int]] = {}
    for query, block, score in (line.split("\t") for line in lines):
        qrels.setdefault(query, {})[block] = int(score)
    return corpus, {query: queries[query] for query in qrels}, qrels


def test_a_loader_of_beir_reads_the_folder(export):
    corpus, queries, qrels = load_beir(export / "beir", "dev")

    assert corpus["b1"]["text"].startswith("Keys are kept")
    assert queries == {"Q01": "How long are keys kept?"}
    assert qrels == {"Q01": {"b1": 3, "b2": 0}}


def test_karat_agree_reads_single_judgements_in_both_forms(export, capsys):
    told = []
    for name in ("judgements.csv", "judgements.parquet"):
        assert karat(["agree", str(export / "judgements" / name), "--format", "json"]) == 0
        told.append(json.loads(capsys.readouterr().out))
    for figures in told:
        figures.pop("file", None)

    assert told[0] == told[1]


LOAD = """
import json, sys, tempfile
import datasets
path = sys.argv[1]
cache = tempfile.mkdtemp()
found = {}
for name in (None, "corpus", "queries", "triples"):
    loaded = datasets.load_dataset(path, name, cache_dir=cache)
    found[name or ""] = {split: [dict(row) for row in loaded[split]] for split in loaded}
print(json.dumps(found))
"""


@pytest.mark.slow
def test_datasets_loads_the_folder_from_disk(export):
    found = elsewhere("datasets", LOAD, export / "huggingface")

    grades = [row for split in ("dev", "test") for row in found[""][split]]
    assert [tuple(row.values()) for row in grades] == GRADES
    assert [row["_id"] for row in found["corpus"]["corpus"]] == ["b1", "b2"]
    assert [row["split"] for row in found["queries"]["queries"]] == ["dev", "test"]
    assert found["triples"]["dev"][0]["expected_blocks"][0]["evidence"] == ["90 days"]


RANK = """
import json, sys
import ranx
qrels = ranx.Qrels.from_file(sys.argv[1], kind="trec")
run = ranx.Run(json.loads(sys.argv[2]))
print(json.dumps(ranx.evaluate(qrels, run, "mrr")))
"""


@pytest.mark.slow
def test_ranx_reads_the_qrels(export):
    assert elsewhere("ranx", RANK, export / "trec/qrels.txt", json.dumps(RUN)) == 0.75

"""Judgements, labels and runs as the field writes them, each read right, or refused by name.

Cases that are not here are skipped.
"""

import json

import pytest
from django.core.management import CommandError, call_command

from apps.config.commandline import main
from apps.judging.models import Judgement
from apps.queries.models import Query
from apps.retrieval.execution.run_reading import draft_of_file
from tests.zoo import PASSAGES, QUERIES, Zoo, case, scored

pytestmark = pytest.mark.django_db


@pytest.fixture
def zoo(capsys) -> Zoo:
    return Zoo(capsys)


def test_the_words_of_a_query_go_before_the_id_of_another_thing(zoo):
    found = zoo.judgements(case("any-id-is-the-querys/ls.csv"), grades="Relevant=3,Not relevant=0")

    assert found == {("Q01", "D01"): 0, ("Q02", "D02"): 3}
    assert Query.objects.filter(project=zoo.project).count() == len(QUERIES)


TABLE = {"columns": "Search=query,Doc=passage,Rating=grade"}


def test_whole_grades_with_a_point_are_whole(zoo, capsys):
    expected = {("Q01", "D01"): 3, ("Q02", "D02"): 2}
    assert zoo.judgements(case("float-grades/float.csv")) == expected
    assert "line 4, grade: is empty: the pair is not judged" in zoo.notes


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("float-grades/mteb.tsv", {("Q01", "D01"): 3, ("Q02", "D02"): 1}),
        ("float-grades/os_like.csv", {("Q01", "D01"): 3, ("Q02", "D02"): 0}),
        ("float-grades/q.txt", {("Q01", "D01"): 3, ("Q02", "D02"): 1, ("Q03", "D03"): 2}),
        ("csv-empty-grade/float.csv", {("Q01", "D01"): 3, ("Q02", "D02"): 2}),
        ("duplicate-qrels/dupj.txt", {("Q01", "D01"): 3, ("Q02", "D02"): 1}),
    ],
)
def test_judgements_are_read_as_they_are_meant(zoo, name, expected):
    assert zoo.judgements(case(name)) == expected


def test_a_collection_with_grades_of_pandas_is_read(zoo):
    call_command("import_collection", str(case("mteb-float-collection/b")), project=zoo.project.slug, corpus="c")

    assert sorted(Judgement.objects.values_list("grade", flat=True)) == [0, 1]


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("name", ["dry-run-accepts/half.csv", "half-step-shifts-all/half.csv"])
def test_a_mean_is_asked_and_moves_no_other_grade(zoo, name, dry_run):
    with pytest.raises(CommandError, match=r"--grades 1=1,1\.5=skip,2=2,3=3") as refused:
        zoo.judgements(case(name), dry_run=dry_run, **TABLE)

    assert refused.value.returncode == 2
    assert zoo.judgements(case(name), grades="1=1,1.5=2,2=2,3=3", **TABLE) == {
        ("Q01", "D01"): 1, ("Q01", "D02"): 2, ("Q02", "D02"): 3, ("Q02", "D03"): 2,
    }  # fmt: skip


def test_a_mean_in_another_table_is_asked_alone(zoo):
    with pytest.raises(CommandError, match=r"--grades 1\.0=1,2\.0=2,2\.5=skip"):
        zoo.judgements(case("half-step-shifts-all/mean.csv"))


def test_a_grade_map_that_lacks_a_grade_is_refused(zoo):
    with pytest.raises(CommandError, match="The grade map has no entry for 5, 2"):
        zoo.judgements(case("partial-grade-map/ten.csv"), grades="10=3,7=2", **TABLE)
    assert not Judgement.objects.exists()


def test_the_grade_map_that_is_proposed_can_be_given(zoo):
    path = case("decimal-comma-map/halfde.csv")
    with pytest.raises(CommandError) as refused:
        zoo.judgements(path, **TABLE)
    proposed = str(refused.value).rpartition("--grades ")[2]

    assert proposed == "0,5=skip,1,0=1,1,5=skip,2,0=2,3,0=3"
    assert sorted(zoo.judgements(path, grades=proposed, **TABLE).values()) == [1, 2, 3]


@pytest.mark.parametrize("qrels", ["float-grades/f.csv", "float-grades/f.txt"])
def test_the_score_command_reads_whole_grades_with_a_point(capsys, qrels):
    assert scored(capsys, case(qrels), case("float-grades/fr.txt")) == {"q1": 1.0, "q2": 1.0}


def test_the_ids_of_the_collection_are_meant_in_a_frame_of_pyterrier(capsys):
    found = scored(capsys, case("pyterrier-frame/ptq.txt"), case("pyterrier-frame/pt4.csv"))

    assert found == {"Q03": 1.0, "Q04": 1.0}


def test_decimal_commas_are_read_where_semicolons_divide(capsys):
    assert scored(capsys, case("decimal-comma-run/beir.tsv"), case("decimal-comma-run/comma.csv")) == {
        "1": 1.0,
        "2": 1.0,
    }


def test_the_best_grade_counts_where_facets_do_not_matter(capsys):
    path = case("facet-qrels-plain-measure/facets.txt")

    assert scored(capsys, path, case("facet-qrels-plain-measure/f.run")) == {"1": 1.0, "2": 1.0}
    assert scored(capsys, case("duplicate-qrels/dupq.txt"), case("facet-qrels-plain-measure/f.run"))["1"] == 1.0


def test_the_score_command_says_what_it_was_unsure_of(capsys):
    zero = case("all-scores-tied/zero.txt")
    assert main(["score", "--qrels", str(case("all-scores-tied/dq.txt")), "--run", str(zero), "--measures", "RR"]) == 0
    assert "3 of 3 queries have nothing but ties" in capsys.readouterr().err
    esci = str(case("qrels-query-and-id/esci.csv"))
    assert main(["score", "--qrels", esci, "--run", str(case("qrels-query-and-id/fr.txt"))]) == 2
    assert "as Q01 is q1 in the run" in capsys.readouterr().err


def test_a_run_of_distances_is_said(tmp_path, capsys):
    (tmp_path / "q.txt").write_text("q 0 a 1\n")
    (tmp_path / "r.txt").write_text("q Q0 a 1 0.1 x\nq Q0 b 2 0.5 x\nq Q0 c 3 0.9 x\n")

    assert scored(capsys, tmp_path / "q.txt", tmp_path / "r.txt") == {"q": pytest.approx(1 / 3)}
    main(["score", "--qrels", str(tmp_path / "q.txt"), "--run", str(tmp_path / "r.txt")])
    assert "the rank column differs from the order of the scores in 1 query" in capsys.readouterr().err


@pytest.mark.parametrize("mark", [";", "\t"])
def test_one_column_has_one_decimal_mark(tmp_path, capsys, mark):
    rows = ["query;passage;score", "q;a;1,5", "q;b;1.234"]
    (tmp_path / "q.txt").write_text("q 0 a 1\n")
    (tmp_path / "r.csv").write_text("\n".join(rows).replace(";", mark))

    assert main(["score", "--qrels", str(tmp_path / "q.txt"), "--run", str(tmp_path / "r.csv")]) == 2
    assert "line 3, score: '1.234' has another decimal mark" in capsys.readouterr().err


GRADED = {
    "ratings of a search": (
        {"requests": [{"id": "Q01", "request": {"size": 3}, "ratings": [{"_index": "z", "_id": "D01", "rating": 3}]}]},
        {},
    ),
    "judgements of a workbench": (
        [{"query": "When does the alpaca office  open", "ratings": [{"docId": "D01", "rating": "3.0"}]}],
        {},
    ),
    "judgements of a workbench in an index": (
        {"hits": {"hits": [{"_id": "x", "_source": {"judgmentRatings": [
            {"query": "when does the alpaca office open", "ratings": [{"docId": "D01", "rating": "3.0"}]}
        ]}}]}},
        {},
    ),
    "ratings in groups": (
        {"topics": [{"query_groups": [{
            "queries": [{"template": "t", "placeholders": {"$query": "when does the alpaca office open"}}],
            "relevant_documents": [{"D01": {"gain": 3}}],
        }]}]},
        {},
    ),
    "a dictionary of queries": ({"Q01": {"D01": 3.0}}, {}),
    "judgements of a model": ([{"qid": "Q01", "docid": "D01", "prediction": "##final score: 3", "judgment": 3}], {}),
    "answers about a label": (
        [{"text": PASSAGES["D01"], "meta": {"query": QUERIES["Q01"], "doc_id": "D01"}, "label": "RELEVANT",
          "answer": "accept", "_task_hash": 1, "_session_id": "ana"}],
        {"grades": "RELEVANT: accept=3"},
    ),
    "tasks of an old Label Studio": (
        [{"id": 9, "data": {"query": QUERIES["Q01"], "doc_id": "D01"}, "completions": [
            {"id": 1, "result": [{"from_name": "relevance", "type": "choices", "value": {"choices": ["Relevant"]}}]}
        ]}],
        {"grades": "Relevant=3"},
    ),
    "texts of an old doccano": (
        [{"id": 4, "text": "…", "doc_id": "D01", "query": QUERIES["Q01"], "annotations": [{"label": 3, "user": 1}]}],
        {},
    ),
    "relevant documents": (
        {"queries": {"Q01": QUERIES["Q01"]}, "corpus": {}, "relevant_docs": {"Q01": ["D01"]}},
        {"grades": "1=3"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(GRADED))
def test_judgements_of_tools_are_read(zoo, tmp_path, name):
    content, options = GRADED[name]
    (tmp_path / "export.json").write_text(json.dumps(content))

    assert zoo.judgements(tmp_path / "export.json", **options) == {("Q01", "D01"): 3}


@pytest.mark.parametrize(
    ("text", "raters"),
    [
        ("query_id,D01,D02\nQ01,3,\nQ02,0,2\n", 0),
        ("query_id;doc_id;Anna;Ben\nQ01;D01;3;3\nQ02;D01;0;0\nQ02;D02;2;2\n", 2),
    ],
)
def test_a_matrix_has_a_column_for_each_passage_or_rater(zoo, tmp_path, text, raters):
    (tmp_path / "matrix.csv").write_text(text)

    assert zoo.judgements(tmp_path / "matrix.csv") == {("Q01", "D01"): 3, ("Q02", "D01"): 0, ("Q02", "D02"): 2}
    assert Judgement.objects.values("annotator").distinct().count() == (raters or 1)


@pytest.mark.parametrize("text", ["Q01,0,D01,3\nQ02,0,D02,1\nQ02,0,D03,1\n", "Q01;D01;3\nQ02;D02;1\nQ02;D03;1\n"])
def test_judgements_without_headings_are_known_by_the_ids_that_are_here(zoo, tmp_path, text):
    (tmp_path / "old.csv").write_text(text)

    found = zoo.judgements(tmp_path / "old.csv", first_row="data")
    assert found == {("Q01", "D01"): 3, ("Q02", "D02"): 1, ("Q02", "D03"): 1}


def test_a_frame_of_pyterrier_is_uploaded_with_the_ids_of_the_collection(zoo):
    draft = draft_of_file(case("pyterrier-frame/pt3.csv"), project=zoo.project, snapshot=zoo.snapshot)

    assert (draft.errors.total, [one.outside_id for one in draft.rankings], draft.results) == (0, ["Q03", "Q04"], 2)
    assert draft.by_text == {}


def test_labels_with_decimal_commas_are_numbers(tmp_path, capsys):
    (tmp_path / "labels.csv").write_text("item;annotator;label\n1;a;2,0\n1;b;2\n2;a;0,5\n2;b;1\n3;a;3\n3;b;3,0\n")

    assert main(["agree", str(tmp_path / "labels.csv"), "--format", "json"]) == 0
    assert '"0.5", "1", "2", "3"' in " ".join(capsys.readouterr().out.split())


def test_rows_whose_passage_is_not_here_are_said(zoo, tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("Question,Answer,Passage\nWhen?,nine,D01\nCost?,twelve,D99\n")

    assert zoo.triples(path) == [["D01"]]
    assert "D99" in zoo.notes


@pytest.mark.parametrize("more", ["mean", "n_votes", "Batch"])
def test_a_column_that_nobody_gave_is_no_rater(zoo, tmp_path, capsys, more):
    grades, labels = tmp_path / "grades.csv", tmp_path / "labels.csv"
    grades.write_text(f"query_id,doc_id,Ana,Ben,{more}\nQ01,D01,1,2,2\nQ02,D02,1,1,1\n")
    labels.write_text(f"item,ana,ben,{more}\n1,2,2,2\n2,1,0,0.5\n3,1,1,1\n")

    zoo.judgements(grades)
    assert set(Judgement.objects.values_list("annotator__name", flat=True)) == {"Ana", "Ben"}
    capsys.readouterr()
    main(["agree", str(labels)])
    assert "2 annotators" in capsys.readouterr().out


def test_a_run_against_its_ranks_is_said_by_the_import_too(zoo, tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("Q01 Q0 D02 1 0.1 v\nQ01 Q0 D01 2 0.9 v\n")

    call_command("import_run", str(path), project=zoo.project.slug, snapshot=f"{zoo.corpus}@1")

    assert "the rank column differs from the order of the scores in 1 query" in zoo.notes


def test_an_id_beside_the_words_of_another_query_is_said(zoo, tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text(f"query_id,query,doc_id,grade\nQ02,{QUERIES['Q01']},D01,2\nQ03,{QUERIES['Q03']},D03,1\n")

    assert zoo.judgements(path) == {("Q02", "D01"): 2, ("Q03", "D03"): 1}
    assert "1 id stands beside the words of another query." in zoo.notes


@pytest.mark.parametrize("answers", [["accept", "reject"], ["reject", "accept", "ignore"]])
def test_answers_about_a_label_are_known_without_their_hashes(zoo, tmp_path, answers):
    rows = [
        {"query_id": "Q01", "doc_id": f"D0{n}", "label": "RELEVANT", "answer": answer}
        for n, answer in enumerate(answers, 1)
    ]
    (tmp_path / "export.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    grades = "RELEVANT: accept=3,RELEVANT: reject=0,RELEVANT: ignore=skip"

    found = zoo.judgements(tmp_path / "export.jsonl", grades=grades)

    meant = {"accept": 3, "reject": 0}
    assert found == {("Q01", f"D0{n}"): meant[one] for n, one in enumerate(answers, 1) if one in meant}


FRAME = {
    "columns": ["query_id", "doc_id", "grade"],
    "index": [0, 1],
    "data": [["Q01", "D01", 3.0], ["Q02", "D02", 0.0]],
}
ROWS = [FRAME["columns"], *FRAME["data"]]
BARE = {
    "a frame that pandas split": json.dumps(FRAME),
    "a list of rows": json.dumps(ROWS),
    "a row a line": "".join(f"{json.dumps(row)}\n" for row in ROWS),
    "rows without headings": json.dumps(ROWS[1:]),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("name", BARE)
def test_json_without_names_in_its_rows_is_a_table(zoo, tmp_path, name, encoding):
    (tmp_path / "frame.json").write_bytes(BARE[name].encode(encoding))
    options = {"first_row": "data"} if name == "rows without headings" else {}

    assert zoo.judgements(tmp_path / "frame.json", **options) == {("Q01", "D01"): 3, ("Q02", "D02"): 0}


def test_a_list_with_something_else_than_rows_is_refused(zoo, tmp_path):
    (tmp_path / "frame.json").write_text('[["query_id", "doc_id", "grade"], {"query_id": "Q01"}]')

    with pytest.raises(CommandError):
        zoo.judgements(tmp_path / "frame.json")
    assert not Judgement.objects.exists()


@pytest.mark.parametrize("name", ["a frame that pandas split", "a list of rows", "a row a line"])
def test_runs_in_json_without_names_in_their_rows_are_scored(tmp_path, capsys, name):
    (tmp_path / "qrels.txt").write_text("Q01 0 D01 1\nQ02 0 D02 1\n")
    (tmp_path / "run.json").write_text(BARE[name].replace("grade", "score").replace("0.0", "1.5"))

    assert scored(capsys, tmp_path / "qrels.txt", tmp_path / "run.json") == {"Q01": 1.0, "Q02": 1.0}


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["Q01 0 D01 3", "Q02 0 D02", "Q03 0 D03 1"], 2),
        (["Q01 0 D01 3", "Q02 0 D02 much", "Q03 0 D03 1"], 2),
        (["Q01\t0\tD01\t3", "Q02\t0\tD 02\t1\tx"], 2),
        (["Q01 0 D01 3", "", "Q02 D02 0 1 2"], 3),
    ],
)
def test_qrels_with_one_bad_line_are_refused_by_it(zoo, tmp_path, lines, line):
    (tmp_path / "qrels.txt").write_text("\n".join(lines) + "\n")

    with pytest.raises(CommandError) as refused:
        zoo.judgements(tmp_path / "qrels.txt")
    assert f"line {line}" in f"{refused.value}{zoo.notes}"
    assert not Judgement.objects.exists()


def test_labels_that_differ_in_case_and_blanks_alone_are_one_and_it_is_said(tmp_path, capsys):
    rows = ["item,Ann,Ben", "a,yes,Yes", "b,no,no", "c,YES ,yes", "d,no,No"]
    (tmp_path / "labels.csv").write_text("\n".join(rows) + "\n")

    assert main(["agree", str(tmp_path / "labels.csv"), "--format", "json"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["categories"] == ["no", "yes"]
    assert "'Yes', 'YES' counts as 'yes'" in out + err
    assert main(["agree", str(tmp_path / "labels.csv"), "--categories", "no,No,yes,Yes,YES", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["categories"] == ["no", "No", "yes", "Yes", "YES"]


def test_a_run_in_wide_letters_is_uploaded(zoo, tmp_path):
    (tmp_path / "run.json").write_bytes(json.dumps({"Q01": {"D01": 2.0, "D02": 1.0}}).encode("utf-16"))

    draft = draft_of_file(tmp_path / "run.json", project=zoo.project, snapshot=zoo.snapshot)
    assert (draft.rows, list(draft.errors)) == (2, [])


def test_qas_in_wide_letters_are_read(zoo, tmp_path):
    rows = [{"question": "When does the alpaca office open?", "answer": "At nine", "doc_id": "D01"}]
    (tmp_path / "qas.json").write_bytes(json.dumps(rows).encode("utf-16"))

    assert zoo.triples(tmp_path / "qas.json") == [["D01"]]


DAMAGED = {
    "a row that names no passage": (
        "query_id,doc_id,grade,x\nQ01,D01,3,\nQ02,,1,\n",
        "1 row with a grade names no passage and stays out.",
        {("Q01", "D01"): 3},
    ),
    "a row that names no query": (
        '{"qid": "Q01", "docid": "D01", "grade": 3}\n{"docid": "D02", "grade": 1}\n',
        "1 row with a grade names no query and stays out.",
        {("Q01", "D01"): 3},
    ),
    "a table below another one": (
        "qid;docid;rel\nQ01;D01;3\nqid;docid;rel\nQ02;D02;1\n",
        "1 row repeats the headings, and is not read.",
        {("Q01", "D01"): 3, ("Q02", "D02"): 1},
    ),
    "a table of our own below another one": (
        "query_id,doc_id,grade\nQ01,D01,3\nquery_id,doc_id,grade\nQ02,D02,1\n",
        "repeats the headings and is not read",
        {("Q01", "D01"): 3, ("Q02", "D02"): 1},
    ),
    "a title above the table": (
        "Ratings of May\nqid,docid,rel\nQ01,D01,3\nQ02,D02,0\n",
        "A row above the headings is not read: Ratings of May.",
        {("Q01", "D01"): 3, ("Q02", "D02"): 0},
    ),
    "a grade that is a slip": (
        "qid,docid,rel\nQ01,D01,3\nQ01,D02,1\nQ02,D02,2\nQ03,D03,0\nQ02,D01,22\n",
        "",
        {},
    ),
    "an index beside grades whose heading is damaged": (
        ",qid,docno,+2\n0,Q01,D01,3\n1,Q02,D02,1\n2,Q03,D03,0\n",
        "",
        {("Q01", "D01"): 3, ("Q02", "D02"): 1, ("Q03", "D03"): 0},
    ),
    "a field without a name": (
        '{"qid": "Q01", "docid": "D01", "grade": 3}\n{"qid": "Q02", "": "D02", "grade": 1}\n',
        "1 row with a grade names no passage and stays out.",
        {("Q01", "D01"): 3},
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_left_out_of_a_damaged_table_is_said(zoo, tmp_path, name):
    text, said, expected = DAMAGED[name]
    (tmp_path / "grades.txt").write_text(text)

    if "slip" in name:
        with pytest.raises(CommandError, match="--grades 0=0,1=1,2=2,3=3,22=skip"):
            zoo.judgements(tmp_path / "grades.txt")
        return
    assert zoo.judgements(tmp_path / "grades.txt") == expected
    assert said in zoo.notes


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Q01\t0\tD01\t3;\nQ02\t0\tD02\t1;\n", "Choose the column of the grades"),
        ("Q01\t0\tD01\tD02\nQ02\t0\tD02\t1\nQ03\t0\tD03\t2\n", "D02=skip"),
        ("0,Q01,D01,2\nid,qid,docid,rel\n1,Q02,D02,1\n", "Line 2 looks like the headings"),
        ("Q01,D01,1.0\nQ02,D02,2#\nQ03,D03,1,5\nQ03,D01,3\n", "2#=skip"),
        (
            '[\n {"qid": "Q01", "docid": "D01", "grade": 3},\n {"qid": "Q02,\n  "docid": "D02", "grade": 1}\n]',
            "not JSON",
        ),
        ('[{"qid": "Q01", "docid": "D01", "grade": 3}}, {"qid": "Q02", "docid": "D02", "grade": 1}]', "not JSON"),
        ('[{"qid": "Q01", "docid": "D01", "grade": 3} {"qid": "Q02", "docid": "D02", "grade": 1}]', "no object"),
        ('Ratings\n{"qid": "Q01", "docid": "D01", "grade": 3}\n', "leave out what stands before it"),
    ],
)
def test_a_damaged_table_of_grades_is_refused_or_asked(zoo, tmp_path, text, reason):
    (tmp_path / "grades.txt").write_text(text)

    with pytest.raises(CommandError) as refused:
        zoo.judgements(tmp_path / "grades.txt", first_row="data" if text.startswith("Q") else "")
    assert reason in f"{refused.value}{zoo.notes}"
    assert not Judgement.objects.exists()


def test_labels_below_a_damaged_heading_are_refused_by_name(tmp_path, capsys):
    (tmp_path / "labels.tsv").write_text("l_abel\titem_id\trater\n1\tq1\tana\n0\tq1\tben\n")
    assert main(["agree", str(tmp_path / "labels.tsv")]) == 2
    assert "looked for label" in capsys.readouterr().err

    (tmp_path / "labels.tsv").write_text("2\tq3\td2\n3\tq1\td3\n1\tq2\td1\n0\tq4\td4\n")
    assert main(["agree", str(tmp_path / "labels.tsv")]) == 0
    assert "no label occurs twice" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ("Q01 0 D01 1\nQ02 0 D02 1\n", "Q01 Q0 D01 1 2.5 x\nQ02 Q0 D02 1 1.5 x\n"),
        ("query,doc_id,grade\nQ01,D01,1\nQ02,D02,1\n", "query;passage;score\nQ01;D01;2,5\nQ02;D02;1,5\n"),
        ("query-id\tcorpus-id\tscore\r\nQ01\tD01\t1\r\nQ02\tD02\t1\r\n", '{"Q01": {"D01": 2.5}, "Q02": {"D02": 1}}'),
    ],
)
def test_the_score_command_reads_wide_letters(tmp_path, capsys, qrels, run, encoding):
    for name, text in (("qrels", qrels), ("run", run), ("strata", "query,kind\nQ01,a\nQ02,b\n")):
        (tmp_path / name).write_bytes(text.encode(encoding))

    assert scored(capsys, tmp_path / "qrels", tmp_path / "run") == {"Q01": 1.0, "Q02": 1.0}
    files = ["--qrels", str(tmp_path / "qrels"), "--run", str(tmp_path / "run"), "--by", str(tmp_path / "strata")]
    assert main(["score", *files, "--measures", "RR"]) == 0
    (tmp_path / "labels").write_bytes("item,ana,ben\n1,2,2\n2,0,1\n".encode(encoding))
    assert main(["agree", str(tmp_path / "labels")]) == 0


SIBLINGS = {
    "a total below": "Query ID,Doc ID,Grade\nQ01,D01,3\nQ02,D02,0\n,Total,13\n",
    "an empty grade as R writes it": "query_id,doc_id,grade\nQ01,D01,3\nQ02,D02,0\nQ03,D03,NA\n",
    "digits of Arabic": "query_id;doc_id;grade\nQ01;D01;\u0663\nQ02;D02;\u0660\n",
    "single quotes": "'query_id','doc_id','grade'\n'Q01','D01','3'\n'Q02','D02','0'\n",
    "blanks after commas": "query_id, doc_id, grade\nQ01, D01, 3\nQ02, D02, 0\n",
    "separator of Excel": "sep=;\nAnfrage;Dokument;Bewertung\nQ01;D01;3,0\nQ02;D02;0,0\n",
    "a schema of pandas": json.dumps(
        {
            "schema": {"fields": [{"name": "qid", "type": "string"}], "pandas_version": "1.4.0"},
            "data": [{"qid": "Q01", "docno": "D01", "label": 3}, {"qid": "Q02", "docno": "D02", "label": 0}],
        }
    ),
    "learning to rank": f"# qid:1: {QUERIES['Q01']}\n# qid:2: {QUERIES['Q02']}\n3 qid:1 # D01 x\n0 qid:2 # D02 y\n",
    "Mechanical Turk": (
        "HITId,WorkerId,AssignmentStatus,Input.query,Input.doc_id,Answer.relevance\n"
        f"H1,W1,Approved,{QUERIES['Q01']},D01,3\nH2,W1,Approved,{QUERIES['Q02']},D02,0\n"
    ),
    "Toloka": (
        "INPUT:query\tINPUT:doc_id\tOUTPUT:relevance\tGOLDEN:relevance\tASSIGNMENT:link\tASSIGNMENT:worker_id\n"
        f"{QUERIES['Q01']}\tD01\t3\t\thttp://x\tw1\n{QUERIES['Q02']}\tD02\t0\t\thttp://x\tw2\n"
    ),
    "choices of Prodigy": "".join(
        json.dumps(
            {
                "text": PASSAGES[passage],
                "meta": {"query": QUERIES[query], "doc_id": passage},
                "options": [{"id": grade, "text": "how relevant"}],
                "accept": [grade],
                "answer": "accept",
                "_annotator_id": "ana",
            }
        )
        + "\n"
        for query, passage, grade in (("Q01", "D01", "3"), ("Q02", "D02", "0"))
    ),
    "an index of R": '"","query_id","doc_id","grade"\n"1","Q01","D01",3\n"2","Q02","D02",0\n',
}


@pytest.mark.parametrize("name", SIBLINGS)
def test_siblings_of_the_cases_are_read(zoo, tmp_path, name):
    (tmp_path / "grades.txt").write_text(SIBLINGS[name])

    assert zoo.judgements(tmp_path / "grades.txt") == {("Q01", "D01"): 3, ("Q02", "D02"): 0}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("item,annotator,label\na,x,yes\na,y,no\nitem,annotator,label\nb,x,no\n", "line 4: 'item': the row repeats"),
        ("rater,u1,u2\nA,1,2\nB,1,2\n", "looked for item"),
    ],
)
def test_labels_that_are_laid_out_otherwise_are_refused_by_name(tmp_path, capsys, text, reason):
    (tmp_path / "labels.csv").write_text(text)

    assert main(["agree", str(tmp_path / "labels.csv")]) == 2
    assert reason in capsys.readouterr().err

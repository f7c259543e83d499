"""Small files as the field writes them, each read right, or refused by name. Cases that are not here are skipped."""

import csv
import io
import json
import os
import threading

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from apps.config.commandline import main
from apps.corpus.models import Block, Import
from apps.judging.models import Judgement
from apps.queries.models import Query
from apps.retrieval.execution.run_reading import draft_of_file
from apps.triples.models import Triple
from tests.conftest import SHARED_DATA
from tests.corpus.factories import make_corpus, make_snapshot
from tests.factories import lead_of, make_project
from tests.queries.factories import make_query

pytestmark = pytest.mark.django_db

CASES = SHARED_DATA.parent / "cases"
QUERIES = {
    "Q01": "when does the alpaca office open",
    "Q02": "price of a badger permit",
    "Q03": "feeding cobras",
    "Q04": "dingo walk rules",
}
PASSAGES = {
    "D01": "The alpaca office opens at nine and closes at four.",
    "D02": "A badger permit costs twelve crowns a year.",
    "D03": "Cobras are fed on Tuesdays, never before noon.",
    "D04": "Dingoes are walked on a leash.",
}


def case(path: str):
    if not (CASES / path).exists():
        pytest.skip("the cases are not on this machine")
    return CASES / path


class Zoo:
    """A project with four queries and a frozen corpus of four passages, and the commands of the shell in it."""

    def __init__(self, capsys) -> None:
        self.project = make_project()
        self.snapshot = make_snapshot(corpus=make_corpus(self.project, PASSAGES))
        self.corpus = self.snapshot.corpus.slug
        self.capsys = capsys
        for outside_id, text in QUERIES.items():
            make_query(self.project, outside_id=outside_id, text=text)

    def queries(self, path, **options) -> list[tuple[str, str]]:
        """Import queries; the new ones by id and text."""
        call_command("import_queries", str(path), project=self.project.slug, **options)
        found = Query.objects.filter(project=self.project).exclude(outside_id__in=QUERIES)
        return list(found.order_by("pk").values_list("outside_id", "text"))

    def judgements(self, path, **options) -> dict[tuple[str, str], int]:
        """Import judgements; the grade of each pair by its ids."""
        options = {"project": self.project.slug, "snapshot": f"{self.corpus}@1", **options}
        call_command("import_judgements", str(path), **options)
        fields = "seat__entry__query__outside_id", "seat__entry__version__block__outside_id", "grade"
        return {(query, block): grade for query, block, grade in Judgement.objects.values_list(*fields)}

    def triples(self, path, **options) -> list[list[str]]:
        """Import Q&As; the passages of each."""
        call_command("import_triples", str(path), project=self.project.slug, corpus=self.corpus, **options)
        made = Triple.objects.filter(project=self.project).order_by("pk")
        expected = (triple.current.expected_blocks.order_by("order") for triple in made)
        return [[one.version.block.outside_id for one in blocks] for blocks in expected]

    @property
    def notes(self) -> str:
        return self.capsys.readouterr().err


@pytest.fixture
def zoo(capsys) -> Zoo:
    return Zoo(capsys)


def scored(capsys, qrels, run) -> dict[str, float]:
    """RR of each query, as `karat score` prints it."""
    files = ["--qrels", str(qrels), "--run", str(run)]
    assert main(["score", *files, "--measures", "RR", "--format", "csv", "--per-query"]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    return {row["query"]: float(row["value"]) for row in rows if row["measure"] == "RR" and row["query"] != "all"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "headless-queries-tsv/headless.tsv",
            [("156493", "do wombats glow"), ("1110199", "what is sonar"), ("1063750", "why did otters move")],
        ),
        ("headless-queries-tsv/headless.csv", [("156493", "do wombats glow"), ("1110199", "what is sonar")]),
        ("json-array-queries/epidemic.json", [("CQ1", "wombat home"), ("CQ2", "otter food")]),
        ("xml-topics/topics.xml", [("1", "wombat origin"), ("2", "otter weather")]),
        ("xml-topics/fire.txt", [("176", "Wombat matters")]),
        ("xml-topics/cacm.txt", [("1", "which articles deal with wombats")]),
        ("any-id-is-the-querys/static.csv", [("Q005", "otter wars?")]),
    ],
)
def test_queries_are_read_with_their_own_ids(zoo, name, expected):
    assert zoo.queries(case(name)) == expected


def test_the_narrative_of_xml_topics_is_the_intent(zoo):
    zoo.queries(case("xml-topics/topics.xml"))

    intents = dict(Query.objects.filter(project=zoo.project).values_list("outside_id", "intent"))
    assert intents["2"] == "seeking facts about otters in rain"


def test_the_words_of_a_query_go_before_the_id_of_another_thing(zoo):
    found = zoo.judgements(case("any-id-is-the-querys/ls.csv"), grades="Relevant=3,Not relevant=0")

    assert found == {("Q01", "D01"): 0, ("Q02", "D02"): 3}
    assert Query.objects.filter(project=zoo.project).count() == len(QUERIES)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ragas-json-array/ragas_arr.json", [["D01"]]),
        ("ragas-testset-csv/ragas.csv", [["D01"], ["D02", "D03"]]),
    ],
)
def test_records_of_ragas_become_drafts(zoo, name, expected):
    assert zoo.triples(case(name)) == expected


def test_a_record_of_ragas_without_an_answer_is_named(zoo):
    with pytest.raises(CommandError, match="line 3, expected_answer: is empty"):
        zoo.triples(case("ragas-testset-csv/ragas01.csv"))


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


def test_a_pipe_is_read_as_a_file_is(zoo, tmp_path):
    """As `cat ratings.csv | karat import judgements /dev/stdin` has it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=["query_id,doc_id,grade\nQ01,D01,2.0\n"])
    writer.start()
    found = zoo.judgements(pipe)
    writer.join()

    assert found == {("Q01", "D01"): 2}


COBRAS = PASSAGES["D03"]
RECORDS = {
    "ragas.jsonl": {
        "user_input": "When are cobras fed?",
        "reference_contexts": [f"<1-hop>\n\n{COBRAS}"],
        "reference": "x",
    },
    "deepeval.json": [{"input": "When are cobras fed?", "expected_output": "x", "context": [COBRAS]}],
    "goldens.json": {"goldens": [{"input": "When are cobras fed?", "expected_output": "x", "context": [COBRAS]}]},
    "langfuse.jsonl": {
        "id": "i",
        "input": {"question": "When are cobras fed?", "context": COBRAS},
        "expectedOutput": {"answer": "x"},
        "metadata": {"team": "zoo"},
    },
    "llamaindex.json": {
        "examples": [{"query": "When are cobras fed?", "reference_contexts": [COBRAS], "reference_answer": "x"}]
    },
    "squad.json": {
        "version": "v2.0",
        "data": [
            {
                "title": "Cobras",
                "paragraphs": [
                    {
                        "context": COBRAS,
                        "qas": [
                            {
                                "id": "1",
                                "question": "When are cobras fed?",
                                "answers": [{"text": "x", "answer_start": 0}, {"text": "y", "answer_start": 1}],
                            }
                        ],
                    }
                ],
            }
        ],
    },
    "squad.jsonl": {
        "id": "1",
        "context": COBRAS,
        "question": "When are cobras fed?",
        "answers": {"text": ["x"], "answer_start": [0]},
    },
}


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_records_of_frameworks_become_drafts(zoo, tmp_path, name):
    (tmp_path / name).write_text(json.dumps(RECORDS[name], indent=None if name.endswith("l") else 1))

    assert zoo.triples(tmp_path / name) == [["D03"]]
    [made] = Triple.objects.filter(project=zoo.project)
    assert (made.current.question, made.current.answer) == ("When are cobras fed?", "x")


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


@pytest.mark.parametrize(
    "text",
    ['[\n{"a": 1\n', "<html>\n<body>\nwhat is it\n</body>", '{"topics": [1, 2]}\n', "<topic>\n<num>1</num>\n"],
)
def test_markup_and_json_are_never_queries(zoo, tmp_path, text):
    (tmp_path / "queries.txt").write_text(text)

    with pytest.raises(CommandError):
        zoo.queries(tmp_path / "queries.txt")
    assert zoo.project.queries.count() == len(QUERIES)


def test_the_same_words_under_two_ids_are_said(zoo, tmp_path):
    (tmp_path / "queries.csv").write_text(
        "query_id,text\n7,Feeding  cobras\n8,how fast is an emu\n9,How fast is an emu\n"
    )
    zoo.queries(tmp_path / "queries.csv")

    notes = zoo.notes
    assert "line 2, text: 'Feeding  cobras': the query Q03 has the same words" in notes
    assert "line 4, text: 'How fast is an emu': the query 8 has the same words" in notes


def test_the_first_row_in_doubt_is_asked_and_named(zoo, tmp_path):
    path = tmp_path / "topics.csv"
    path.write_text("7;question\n8;do otters eat fish\n9;why do wombats glow\n")

    for dry_run in (True, False):
        with pytest.raises(CommandError, match="Does the first row have the headings"):
            zoo.queries(path, dry_run=dry_run)
    assert zoo.queries(path, first_row="data") == [
        ("7", "question"), ("8", "do otters eat fish"), ("9", "why do wombats glow"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "question", "form", "expected"),
    [
        (
            "a1 do wombats glow\na2 what is sonar\n",
            "begin with the id",
            "id-lines",
            [("a1", "do wombats glow"), ("a2", "what is sonar")],
        ),
        (
            "2 rooms in town\n3 rooms in town\n",
            "begin with the id",
            "lines",
            [("Q005", "2 rooms in town"), ("Q006", "3 rooms in town")],
        ),
        (
            "hello, world\nwhat, then\n",
            "do the commas divide",
            "lines",
            [("Q005", "hello, world"), ("Q006", "what, then")],
        ),
    ],
)
def test_lines_that_may_be_read_in_two_ways_are_asked(zoo, tmp_path, text, question, form, expected):
    path = tmp_path / "topics.txt"
    path.write_text(text)

    with pytest.raises(CommandError, match=question):
        zoo.queries(path)
    assert zoo.queries(path, format=form) == expected


def test_the_page_shows_both_readings_of_lines(client, zoo):
    client.force_login(lead_of(zoo.project))
    address = reverse("corpus:import-new", args=[zoo.project.slug, "queries"])
    client.post(address, {"format": "auto", "ids": "file", "pasted": "a1 do wombats glow\na2 what is sonar"})
    item = Import.objects.latest("pk")

    page = client.get(reverse("corpus:import", args=[zoo.project.slug, item.pk])).content.decode()
    assert "Does each line begin with the id of its query?" in page
    assert page.index("after its id and a blank") < page.index("with or without an id and a tab before it")
    client.post(reverse("corpus:import-fix", args=[zoo.project.slug, item.pk]), {"fix": "format:id-lines"})
    item.refresh_from_db()
    assert (item.state, item.plan["counts"]["new"]) == ("ready", 2)


@pytest.mark.parametrize(
    "text", ['{"1": "do wombats glow", "2": "what is sonar"}', "id;frage\n1;do wombats glow\n2;what is sonar"]
)
def test_queries_by_their_ids(zoo, tmp_path, text):
    (tmp_path / "queries").write_text(text)

    assert zoo.queries(tmp_path / "queries") == [("1", "do wombats glow"), ("2", "what is sonar")]


def test_judgements_are_no_queries(zoo, tmp_path):
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\td-one\t1\n")

    with pytest.raises(CommandError, match="Choose the column of the queries"):
        zoo.queries(tmp_path / "qrels.tsv")


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


@pytest.mark.parametrize(
    ("name", "titles", "words"),
    [
        ("adoc-no-structure/a.adoc", ["Otters", "Food"], "Otters are wet."),
        ("superscripts/math.html", ["Units"], "3×10⁸ m/s and area 5 m²; see note¹. CO₂"),
    ],
)
def test_documents_keep_their_structure(zoo, name, titles, words):
    call_command("import_corpus", str(case(name)), project=zoo.project.slug, corpus="c")

    blocks = Block.objects.filter(document__corpus__slug="c").order_by("pk")
    assert [block.current.title for block in blocks] == titles
    assert words in blocks[0].current.text


IMPOSSIBLE = {
    "question": "What is the badger's name?",
    "is_impossible": True,
    "answers": [],
    "plausible_answers": [{"text": "WRONG", "answer_start": 0}],
}


def test_a_question_without_an_answer_stays_out_and_is_counted(zoo, tmp_path):
    answered = {"question": "When?", "is_impossible": False, "answers": [{"text": "at nine", "answer_start": 29}]}
    data = [{"paragraphs": [{"context": PASSAGES["D01"], "qas": [IMPOSSIBLE, answered]}]}]
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"version": "v2.0", "data": data}))

    assert zoo.triples(path) == [["D01"]]
    assert Triple.objects.get().current.answer == "at nine"
    assert "1 question that has no answer stays out." in zoo.notes


@pytest.mark.parametrize(
    "text",
    [
        "question,response,reference,passage\nWhen?,ten,nine,D01\n",
        "question,answer,ground_truth,doc_id\nWhen?,ten,nine,D01\n",
        "question,answer,reference_answer,passage\nWhen?,ten,nine,D01\n",
        "question,model_answer,expected,page\nWhen?,ten,nine,D01\n",
        "question,answer,passage\nWhen?,nine,D01\n",
    ],
)
def test_what_a_system_answered_is_not_what_is_expected(zoo, tmp_path, text):
    path = tmp_path / "answers.csv"
    path.write_text(text)

    assert zoo.triples(path) == [["D01"]]
    assert Triple.objects.get().current.answer == "nine"


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


@pytest.mark.parametrize("name", ["doc_id", "docid", "passage_id"])
def test_the_id_of_a_passage_goes_before_its_text(zoo, tmp_path, name):
    rows = [("Q01", "D01", 2), ("Q02", "D02", 1)]
    path = tmp_path / "grades.csv"
    lines = "".join(f'{query},"{PASSAGES[block]}",{block},{grade}\n' for query, block, grade in rows)
    path.write_text(f"query_id,passage,{name},grade\n{lines}")

    assert zoo.judgements(path) == {(query, block): grade for query, block, grade in rows}


def test_a_number_is_an_answer_and_a_row_without_one_is_named(zoo, tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("Question,Answer,Passage\nWhen does it open?,9,D01\nWhat does it cost?,12,D02\n")
    assert zoo.triples(path) == [["D01"], ["D02"]]

    path.write_text("Question,Answer,Passage\nWhen does it close?,,D01\nWhen are they fed?,Tuesdays,D03\n")
    assert zoo.triples(path) == [["D01"], ["D02"], ["D03"]]
    assert "line 2, expected_answer: is empty" in zoo.notes


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"w1": {"text": "glow"}, "w2": {"text": "sonar"}}, [("w1", "glow"), ("w2", "sonar")]),
        ({"glow": {"text": "Glow?"}, "sonar": {"text": "Sonar?"}}, [("glow", "Glow?"), ("sonar", "Sonar?")]),
        ({"0": {"_id": "w1", "text": "glow"}, "1": {"_id": "w2", "text": "sonar"}}, [("w1", "glow"), ("w2", "sonar")]),
        ({"qid": {"0": "w1", "1": "w2"}, "query": {"0": "glow", "1": "sonar"}}, [("w1", "glow"), ("w2", "sonar")]),
        ({"topics": {"1": {"query": "glow"}, "2": {"query": "sonar"}}}, [("1", "glow"), ("2", "sonar")]),
        ({"queries": {"1": "glow", "2": "sonar"}, "split": "test"}, [("1", "glow"), ("2", "sonar")]),
        ({"w1": ["glow"], "w2": ["sonar"]}, [("w1", "glow"), ("w2", "sonar")]),
        ({"w1": [{"text": "glow"}], "w2": [{"text": "sonar"}]}, [("w1", "glow"), ("w2", "sonar")]),
        ({"query": {"id": "w1", "text": "Do they glow?"}, "passage": {"text": "They do."}}, [("w1", "Do they glow?")]),
        ({"1": "do wombats glow"}, [("1", "do wombats glow")]),
        ({"questions": [{"id": "55", "body": "Do wombats glow?", "snippets": [{"text": "abc"}, {"text": "def"}]},
                        {"id": "56", "body": "What is sonar?", "snippets": [{"text": "abc"}]}]},
         [("55", "Do wombats glow?"), ("56", "What is sonar?")]),
        ([{"number": 31, "turn": [{"number": 1, "raw_utterance": "Do wombats glow?"},
                                  {"number": 2, "raw_utterance": "Why?"}]},
          {"number": 32, "turn": [{"number": 1, "raw_utterance": "What is sonar?"}]}],
         [("31_1", "Do wombats glow?"), ("31_2", "Why?"), ("32_1", "What is sonar?")]),
    ],
)  # fmt: skip
def test_every_query_of_json_is_read_with_its_own_id(zoo, tmp_path, content, expected):
    (tmp_path / "queries.json").write_text(json.dumps(content))

    assert zoo.queries(tmp_path / "queries.json") == expected


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"w1": {"1": "do wombats glow", "2": "why"}, "w2": {"1": "what is sonar"}}, "ids have numbered values"),
        ({"w1": "do wombats glow", "w2": {"text": "what is sonar"}}, "some ids have a text here"),
        ([{"dialogue": "d1", "said": [{"words": "do wombats glow"}, {"words": "why"}]}], "JSON or markup instead of"),
        ({"w1": ["do wombats glow", "why"], "w2": ["what is sonar"]}, "JSON or markup instead of"),
        ({"w1": [{"text": "do wombats glow"}, {"text": "why"}]}, "is the id of another query"),
        ({"glow": "do wombats glow", "sonar": "what is sonar"}, "read as 1 row, and “glow” may be the query"),
        ({"glow": ["do wombats glow"], "sonar": ["what is sonar"]}, "read as 1 row"),
        ({"id": "d1", "said": [{"question": "do wombats glow"}, {"question": "why"}]}, "JSON or markup instead of"),
    ],
)
def test_json_is_never_cut_to_its_first_query(zoo, tmp_path, content, reason):
    (tmp_path / "queries.json").write_text(json.dumps(content))

    with pytest.raises(CommandError, match=reason):
        zoo.queries(tmp_path / "queries.json")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("queries.csv", "qid,query\nw1,do wombats glow\nw1,what is sonar\n"),
        ("queries.jsonl", '{"qid": "w1", "query": "do wombats glow"}\n\n{"qid": "w1", "query": "what is sonar"}\n'),
        ("headless.tsv", "101\tdo wombats glow\n101\twhat is sonar\n102\twhy otters\n"),
    ],
)
def test_an_id_of_two_queries_is_refused_by_name(zoo, tmp_path, name, text):
    (tmp_path / name).write_text(text)

    words = (
        r"line [23], query_id: '(w1|101)': is the id of another query: “do wombats glow” in line [12], “what is sonar”"
    )
    with pytest.raises(CommandError, match=words):
        zoo.queries(tmp_path / name)
    assert zoo.project.queries.count() == len(QUERIES)


WOMBATS = [("101", "do wombats glow"), ("102", "what is sonar")]


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("remark.tsv", "# exported\n101\tdo wombats glow\n102\twhat is sonar\n", {}),
        ("remark.csv", "# exported\n# by ana\nqid,query\n101,do wombats glow\n102,what is sonar\n", {}),
        ("colons.txt", "101: do wombats glow\n102:what is sonar\n", {"format": "id-lines"}),
        ("colon.txt", "# exported\n101:do wombats glow\n102:what is sonar\n", {"format": "id-lines"}),
    ],
)
def test_ids_before_queries_stay_theirs(zoo, tmp_path, name, text, options):
    (tmp_path / name).write_text(text)

    if options:
        with pytest.raises(CommandError, match="Does each line begin with the id"):
            zoo.queries(tmp_path / name)
    assert zoo.queries(tmp_path / name, **options) == WOMBATS


@pytest.mark.parametrize("text", ["101 do wombats glow\n101 what is sonar\n", "101: do wombats glow\n101: sonar\n"])
def test_lines_with_an_id_twice_are_asked_and_then_refused(zoo, tmp_path, text):
    (tmp_path / "topics.txt").write_text(text)

    with pytest.raises(CommandError, match="Does each line begin with the id"):
        zoo.queries(tmp_path / "topics.txt")
    with pytest.raises(CommandError, match="line 2, query_id: '101': the query is in the file twice"):
        zoo.queries(tmp_path / "topics.txt", format="id-lines")


def test_quotation_marks_around_each_line_are_those_of_json_or_are_asked(zoo, tmp_path):
    text = '"do wombats glow"\n"what is \\"sonar\\""\n'
    (tmp_path / "queries.jsonl").write_text(text)
    (tmp_path / "queries.txt").write_text(text.replace("\\", ""))
    (tmp_path / "phrases.txt").write_text('"emu speed"\n"emu food"\n')

    assert [text for _, text in zoo.queries(tmp_path / "queries.jsonl")] == ["do wombats glow", 'what is "sonar"']
    with pytest.raises(CommandError, match="Are the quotation marks a part of the queries"):
        zoo.queries(tmp_path / "phrases.txt")
    assert zoo.queries(tmp_path / "phrases.txt", format="lines")[2:] == [
        ("Q007", '"emu speed"'),
        ("Q008", '"emu food"'),
    ]
    assert zoo.queries(tmp_path / "phrases.txt", format="table", first_row="data")[4:] == [
        ("Q009", "emu speed"), ("Q010", "emu food")
    ]  # fmt: skip


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("101\tdo wombats glow\n102\twhat is sonar\n", WOMBATS),
        ("qid\tquery\n101\tdo wombats glow\n102\twhat is sonar\n", WOMBATS),
        ("query_id,text\n101,do wombats glow\n102,what is sonar\n", WOMBATS),
        ("do wombats glow\nwhat is sonar\n", [("Q005", "do wombats glow"), ("Q006", "what is sonar")]),
        ('{"101": "do wombats glow", "102": "what is sonar"}', WOMBATS),
    ],
)
def test_queries_in_wide_letters_are_read(zoo, tmp_path, text, expected, encoding, end):
    mark = "" if encoding == "utf-16" else "\ufeff"
    (tmp_path / "unicode.txt").write_bytes((mark + text.replace("\n", end)).encode(encoding))

    assert zoo.queries(tmp_path / "unicode.txt") == expected


def test_a_remark_above_a_list_is_skipped_and_said(zoo, tmp_path):
    (tmp_path / "list.txt").write_text("# exported\ndo wombats glow\n#emu\n# emu\n")

    assert [text for _, text in zoo.queries(tmp_path / "list.txt")] == ["do wombats glow", "#emu", "# emu"]
    assert "line 1: '# exported': begins with # and is skipped" in zoo.notes

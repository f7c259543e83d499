"""Queries, Q&As and documents as the field writes them, each read right, or refused by name.

Cases that are not here are skipped.
"""

import csv
import json
import os
import threading

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from apps.corpus.models import Block, Import
from apps.queries import formats
from apps.queries.models import Query
from apps.triples.models import Triple
from tests.factories import lead_of
from tests.zoo import PASSAGES, QUERIES, Zoo, case

pytestmark = pytest.mark.django_db


@pytest.fixture
def zoo(capsys) -> Zoo:
    return Zoo(capsys)


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
    "langfuse-metadata.jsonl": {
        "id": "i",
        "input": {"question": "When are cobras fed?"},
        "expected_output": {"answer": "x"},
        "metadata": {"team": "zoo", "contexts": [COBRAS]},
    },
    "giskard.jsonl": {
        "id": "1",
        "question": "When are cobras fed?",
        "reference_answer": "x",
        "reference_context": f"Document 7: {COBRAS}",
        "conversation_history": [],
        "metadata": {"question_type": "simple"},
    },
    "haystack.json": [
        {"question": "When are cobras fed?", "ground_truth_answer": "x", "ground_truth_documents": [COBRAS]}
    ],
    "braintrust.jsonl": {"input": "When are cobras fed?", "expected": "x", "metadata": {"context": COBRAS}},
    "databricks.jsonl": {
        "request": "When are cobras fed?",
        "expected_response": "x",
        "expected_retrieved_context": [{"doc_uri": "D03"}],
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


@pytest.mark.parametrize("name", ["langfuse.jsonl", "langfuse-metadata.jsonl", "giskard.jsonl"])
def test_records_of_frameworks_are_read_from_cells_too(zoo, tmp_path, name):
    """As pandas saves them: what is an object or a list becomes JSON in a cell."""
    record = {"expected_output" if key == "expectedOutput" else key: value for key, value in RECORDS[name].items()}
    with (tmp_path / "saved.csv").open("w") as file:
        writer = csv.writer(file)
        writer.writerow(record)
        writer.writerow(value if isinstance(value, str) else json.dumps(value) for value in record.values())

    assert zoo.triples(tmp_path / "saved.csv") == [["D03"]]


def test_passages_of_several_documents_in_one_text_are_taken_apart(zoo, tmp_path):
    both = f"Document 1: {COBRAS}\n\nDocument 2: {PASSAGES['D04']}"
    record = RECORDS["giskard.jsonl"] | {"reference_context": both}
    (tmp_path / "giskard.jsonl").write_text(json.dumps(record))

    assert zoo.triples(tmp_path / "giskard.jsonl") == [["D03", "D04"]]


def test_a_passage_that_a_table_names_by_its_text_is_found_though_it_is_short(zoo, tmp_path):
    (tmp_path / "a.csv").write_text(f"question,answer,passage\nWhere do dingoes go?,x,{PASSAGES['D04']}\n")

    assert zoo.triples(tmp_path / "a.csv") == [["D04"]]


def test_a_table_of_which_every_row_stays_out_is_refused(zoo, tmp_path):
    (tmp_path / "a.csv").write_text("question,answer,passage\nWhere do dingoes go?,x,D99\n")

    with pytest.raises(CommandError, match="nothing to import: every row was left out"):
        zoo.triples(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("list.json", '["do wombats glow", "what is\\nsonar"]', ["do wombats glow", "what is sonar"]),
        ("lines.json", '[\n  "do wombats glow",\n  "what is sonar"\n]\n', ["do wombats glow", "what is sonar"]),
        (
            "clinical.xml",
            '<topics><topic number="1" type="diagnosis"><description>A man of 78.</description>'
            "<summary>old man, fever</summary></topic></topics>",
            ["old man, fever"],
        ),
    ],
)
def test_queries_without_a_known_name_are_their_words(zoo, tmp_path, name, text, expected):
    (tmp_path / name).write_text(text)

    assert [words for _, words in zoo.queries(tmp_path / name)] == expected


def test_a_list_of_texts_that_would_fill_the_memory_is_refused(zoo, tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "MOST_OF_A_LIST", 30)
    (tmp_path / "list.json").write_text('[\n"do wombats glow",\n"what is sonar"\n]')

    with pytest.raises(CommandError, match="too long to be read as one; write one query a line"):
        zoo.queries(tmp_path / "list.json")


@pytest.mark.parametrize(("text", "message"), [('["a b", 3]', "'3': is no text"), ('["a b",', "this is not JSON")])
def test_a_list_of_texts_that_is_broken_is_refused(zoo, tmp_path, text, message):
    (tmp_path / "list.json").write_text(text)

    with pytest.raises(CommandError, match=message):
        zoo.queries(tmp_path / "list.json")


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


def test_a_huge_table_becomes_parts_with_its_heading(zoo, tmp_path):
    """The case `huge-markdown-table`, which is a line of shell."""
    rows = "".join(f"| row{i} | note number {i} about otters |\n" for i in range(1, 2000))
    (tmp_path / "big.md").write_text(f"# T\n\n| a | b |\n| --- | --- |\n{rows}")

    call_command(
        "import_corpus", str(tmp_path / "big.md"), project=zoo.project.slug, corpus="c", recipe="paragraphs:200:40"
    )

    texts = [block.current.text for block in Block.objects.filter(document__corpus__slug="c")]
    assert len(texts) > 30
    assert all(text.startswith("| a | b |\n| --- | --- |\n| row") and len(text) < 6_000 for text in texts)
    assert sum(text.count("note number") for text in texts) == 1999


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
        ",question,reference,passage\n0,When?,nine,D01\n",
        "request_id,answer_id,input,answer,passage\nr one,a one,When?,nine,D01\n",
    ],
)
def test_what_a_system_answered_is_not_what_is_expected(zoo, tmp_path, text):
    path = tmp_path / "answers.csv"
    path.write_text(text)

    assert zoo.triples(path) == [["D01"]]
    assert Triple.objects.get().current.answer == "nine"


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
        ([{"number": "9-1", "turns": [{"turn_id": 1, "utterance": "Do wombats glow?"},
                                      {"turn_id": 2, "utterance": "Why?"}]}],
         [("9-1_1", "Do wombats glow?"), ("9-1_2", "Why?")]),
        ({"index": "zoo", "searches": [{"search": "do wombats glow", "qid": "w1"}, {"search": "sonar", "qid": "w2"}]},
         [("w1", "do wombats glow"), ("w2", "sonar")]),
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
        ("index.csv", ",qid,query\n0,101,do wombats glow\n1,102,what is sonar\n", {}),
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


@pytest.mark.parametrize("mark", ["\t", ",", ";"])
def test_ids_from_zero_are_ids_where_there_are_no_headings(zoo, tmp_path, mark):
    (tmp_path / "topics").write_text(f"0{mark}do wombats glow\n1{mark}what is sonar\n2{mark}price of a permit\n")

    assert [query_id for query_id, _ in zoo.queries(tmp_path / "topics")] == ["0", "1", "2"]


@pytest.mark.parametrize("index", ["", '""'])
def test_an_index_without_a_heading_hides_no_heading_beside_it(zoo, tmp_path, index):
    (tmp_path / "frame.csv").write_text(f"{index},query\n0,do wombats glow\n1,what is sonar\n")

    assert zoo.queries(tmp_path / "frame.csv") == [("Q005", "do wombats glow"), ("Q006", "what is sonar")]


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


NUMBERED = ["1) do wombats glow", "2) what is sonar", "3) price of a permit"]


@pytest.mark.parametrize("mark", [")", "."])
def test_numbers_that_count_the_lines_are_ids_or_are_left_out_as_somebody_says(zoo, tmp_path, mark):
    (tmp_path / "list.txt").write_text("\n".join(line.replace(")", mark) for line in NUMBERED) + "\n")

    with pytest.raises(CommandError, match="Does each line begin with the id of its query"):
        zoo.queries(tmp_path / "list.txt")
    found = zoo.queries(tmp_path / "list.txt", format="lines")
    assert [text for _, text in found] == ["do wombats glow", "what is sonar", "price of a permit"]
    assert "the numbers before the lines are left out" in zoo.notes


def test_numbers_that_count_the_lines_can_be_their_ids(zoo, tmp_path):
    (tmp_path / "list.txt").write_text("\n".join(NUMBERED) + "\n")

    assert zoo.queries(tmp_path / "list.txt", format="id-lines") == [
        ("1", "do wombats glow"), ("2", "what is sonar"), ("3", "price of a permit"),
    ]  # fmt: skip


def test_numbers_that_count_nothing_stay(zoo, tmp_path):
    (tmp_path / "list.txt").write_text("7) wonders of wombats\n3) wishes of otters\n")

    assert [text for _, text in zoo.queries(tmp_path / "list.txt", format="lines")] == [
        "7) wonders of wombats", "3) wishes of otters",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("K1;do wombats glow\nK2;emu\ncats;what is sonar\nK3;why otters\n", "", ["K1", "K2", "cats", "K3"]),
        ("K1;do wombats glow\nK2;what\nis sonar\nK3;why otters\n", "", ["K1", "K2", "K3"]),
        ("0,K1,do wombats glow\n1,K2,what is sonar\n", "", ["K1", "K2"]),
        (
            '{"qid": "K1", "query": "glow"}\n{"qid": "K 2", "query": "emu"}\n{"qid": "K3", "query": "owl"}\n',
            "1 row has an id with blanks",
            ["K1", "K3"],
        ),
        ('{"qid": "K1", "query": "do wombats glow"}\n{"query": "emu"}\n', "1 row has no id", ["K1", "Q005"]),
        ("query_id,text\nK1,do wombats glow\nquery_id,text\nK2,emu\n", "repeats the headings", ["K1", "K2"]),
        ("qid,query\t\nK1,do wombats glow\t\nK2,otters\t\n", "", ["K1", "K2"]),
    ],
)
def test_a_damaged_row_takes_no_id_from_the_others(zoo, tmp_path, text, said, expected):
    (tmp_path / "queries.txt").write_text(text)

    assert [query_id for query_id, _ in zoo.queries(tmp_path / "queries.txt")] == expected
    assert said in zoo.notes


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('qid,query\nK1,do wombats glow\nK2,"otters, raw\nK3,emu\n', "the quoting is broken"),
        ("\tQuery Text\t\n0\tdo wombats glow\tK0\n1\twhat is sonar\tK1\n", "looks like the headings"),
        ("Q 11\tdo wombats glow\nK2\twhat is sonar\nK3\twhy otters\n", "Does the first row have the headings"),
        ('# made in May\n[\n {\n  "qid": "K1",\n  "query": "emu"\n }\n]', "JSON or markup"),
        ("<top><num>K1</num><title>emu</null></top>\n", "opens or closes nothing"),
        ("<top><num>K1</2><title>emu</title></top>\n", "opens or closes nothing"),
        ("<top><num>K1</num><title>emu</title></top>\n<top><num>K2</num><3>otter</title></top>\n", "title: is missing"),
        ("sep=;\n<top><num>K0</num><title>are wombats", "JSON or markup"),
        ("# nothing\n", "empty"),
        ("- id: K1\n  query: emu\n- id: K2\n  query: otter\n", "JSON or markup"),
        ('[queries]\nK1 = "emu"\nK2 = "otter"\n', "line 1: '[queries]': is the beginning of a file of settings"),
        ('[[queries]]\nid = "K1"\ntext = "emu"\n', "is the beginning of a file of settings"),
        ("INSERT INTO q VALUES ('K1','emu');\nINSERT INTO q VALUES ('K2','otter');\n", "is SQL: export the rows"),
        ("-- dump\nINSERT INTO q VALUES (1,'emu'),(2,'otter');\n", "line 2"),
        ("K1=emu\nK2=otter\n", "Does each line begin with the id of its query?"),
    ],
)
def test_damaged_queries_are_refused_by_name(zoo, tmp_path, text, reason):
    (tmp_path / "queries.txt").write_text(text)

    try:
        zoo.queries(tmp_path / "queries.txt")
        refused = ""
    except CommandError as error:
        refused = str(error)
    assert reason in f"{refused}{zoo.notes}"
    assert refused


def test_a_row_of_a_question_without_a_passage_is_named(zoo, tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"question": "When?", "passage": "D01", "answer": "nine"}\n{"question": "Cost?", "answer": "twelve"}\n'
    )

    assert zoo.triples(path) == [["D01"]]
    assert "line 2, passage: is empty: the row names no passage" in zoo.notes


def test_lines_and_marks_of_markdown_are_no_queries(zoo, tmp_path):
    (tmp_path / "table.md.txt").write_text("| id | query |\n|---|:---:|\n| K1 | emu |\n| K2 | otter |\n")
    (tmp_path / "list.txt").write_text("Queries:\n- how fast is an emu\n- where otters sleep\n")

    assert zoo.queries(tmp_path / "table.md.txt") == [("K1", "emu"), ("K2", "otter")]
    assert "1 row only draws a line, and is not read." in zoo.notes
    assert [text for _, text in zoo.queries(tmp_path / "list.txt")][2:] == ["how fast is an emu", "where otters sleep"]
    assert "line 1: 'Queries:': is the heading of the list and is skipped" in (notes := zoo.notes)
    assert "the marks before the lines are left out" in notes


@pytest.mark.parametrize("first", ["[Errno 13] permission denied", "{{ page.title }} is shown", "{% include %} fails"])
def test_a_query_that_begins_with_a_bracket_makes_no_json_of_the_list(zoo, tmp_path, first):
    (tmp_path / "list.txt").write_text(f"{first}\nhow fast is an emu\n")

    assert [text for _, text in zoo.queries(tmp_path / "list.txt")] == [first, "how fast is an emu"]


def test_an_equals_sign_may_stand_behind_the_id(zoo, tmp_path):
    (tmp_path / "list.txt").write_text("K1=emu\nK2 = otter\n")

    assert zoo.queries(tmp_path / "list.txt", format="id-lines") == [("K1", "emu"), ("K2", "otter")]


def test_every_line_is_a_query_where_somebody_says_so(zoo, tmp_path):
    (tmp_path / "list.txt").write_text("[solved]\nINSERT INTO t VALUES (1)\nis it on this list\n")

    assert [text for _, text in zoo.queries(tmp_path / "list.txt", format="lines")] == [
        "[solved]", "INSERT INTO t VALUES (1)", "is it on this list",
    ]  # fmt: skip

"""Grades from a spreadsheet: queries by their words, passages by address, grades of another scale."""

import csv
import io
import json
from collections import Counter

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from apps.common.files.tabular import TableFile
from apps.corpus.actions.imports import choose_columns, confirm_import, start_import
from apps.corpus.core.import_plans import TableChoice
from apps.corpus.enums import ImportState
from apps.corpus.models import Import, RememberedColumns
from apps.judging.execution.table_import import TableDraft, read_table
from apps.judging.models import Judgement, Round
from apps.queries.models import Query
from tests.common.workbooks import workbook
from tests.conftest import SHARED_DATA
from tests.corpus.factories import import_text, make_corpus, make_document_import, make_snapshot
from tests.factories import AT, lead_of, make_project
from tests.judging.factories import make_snapshot as make_products
from tests.queries.factories import make_query
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

SITE = "https://osterby.example"
PAGES = {
    "guides/moving-a-site": "Move a site in three steps.",
    "storage/volumes": "A volume is 16 TB at most.",
    "billing/plans": "Plans are billed by month.",
}
RATINGS = (
    "query,url,rank,grade,notes\n"
    "move a site to another region,/guides/moving-a-site,1,5,exactly this\n"
    "move a site to another region,/Storage/Volumes/,2,2,only mentions regions\n"
    "how big can a volume get,/storage/volumes,1,5,\n"
    "how big can a volume get,/billing/plans,4,3,has the plan\n"
    "what does it cost,,,,\n"
)


@pytest.fixture
def snapshot():
    """Three pages of a site, each one passage with its address, and one query."""
    project = make_project()
    corpus = make_corpus(project, {})
    blocks = [
        {"block_id": f"{path}#1", "document_id": f"{path}.md", "text": text, "metadata": {"url": f"{SITE}/{path}"}}
        for path, text in PAGES.items()
    ]
    import_text(corpus, "\n".join(map(json.dumps, blocks)))
    make_query(project, outside_id="Q007", text="How big can a volume get")
    return make_snapshot(corpus=corpus)


def read(snapshot, data: str | bytes, **table) -> TableDraft:
    source = TableFile("ratings.csv", io.BytesIO(data.encode() if isinstance(data, str) else data))
    options = {"table": table} if table else {}
    return read_table(source, project=snapshot.corpus.project, snapshot=snapshot, options=options)


def grades(table: TableDraft) -> list[tuple[int, int]]:
    return [(row.line, row.grade) for row in table.draft.rows]


def titles(table: TableDraft, state: str = "") -> list[str]:
    return [message.title for message in table.view.messages if not state or message.state == state]


def answered(table: TableDraft, *names: str) -> dict:
    return table.view.choice.as_json() | {"answers": list(names)}


def test_one_raters_spreadsheet_is_read(snapshot):
    table = read(snapshot, RATINGS)

    assert list(table.view.choice.columns.values()) == ["query", "passage", "rank", "grade", "note"]
    assert grades(table) == [(2, 3), (4, 3), (5, 1)]
    assert table.new_queries == [("Q008", "move a site to another region"), ("Q009", "what does it cost")]
    assert next(iter(table.draft.rows)).note == "exactly this"
    assert table.view.button == "Import 2 queries and 3 grades"
    assert table.view.hows["url"] == "by its address"
    assert titles(table) == [
        "1 address nearly matches.",
        "The grades are read on this project's scale, as “Grades become” lists.",
        "2 new queries are created, with the ids Q008 to Q009.",
        "1 row without a grade becomes a query only.",
    ]


def test_one_row_that_cannot_be_read_or_repeats_a_grade_is_one_row(snapshot):
    again = "how big can a volume get,/storage/volumes,1,5,\n"

    shown = titles(read(snapshot, RATINGS + again + "volumes,/storage/volumes,1,5,a,b,c\n"))

    assert "1 row repeats a grade and counts once." in shown
    assert "1 row cannot be read and stays out." in shown


def test_addresses_that_nearly_match_are_matched_by_one_answer(snapshot):
    table = read(snapshot, RATINGS, **answered(read(snapshot, RATINGS), "fit-passages"))

    assert grades(table) == [(2, 3), (3, 1), (4, 3), (5, 1)]
    assert titles(table)[0].startswith("1 address matched.")
    assert table.view.messages[0].fix.button == "Undo"


def test_passages_are_found_by_id_document_whole_address_title_and_text(snapshot):
    rows = [
        ["query", "passage", "grade"],
        ["a", "guides/moving-a-site#1", 3],
        ["b", "storage/volumes.md", 2],
        ["c", f"{SITE}/billing/plans", 1],
        ["d", "Plans are  billed by MONTH.", 0],
        ["e", "A volume is 16 TB at most. It says nothing else that anybody could read.", 0],
    ]
    rows[5][1] = "A volume is 16 TB at most."

    found = read(snapshot, workbook({"Ratings": rows})).draft.rows

    assert [row.line for row in found][:3] == [2, 3, 4]
    assert len({row.version_id for row in found}) == 3


def test_grades_may_be_words_and_unknown_ones_stay_out_until_they_are_chosen(snapshot):
    words = {"a": "Relevant", "b": "Partly", "c": "Not", "d": "meh"}
    text = "Search;Page;Good?\n" + "".join(f"{query};/billing/plans;{word}\n" for query, word in words.items())

    table = read(snapshot, text)
    assert grades(table) == [(2, 3), (3, 1), (4, 0)]
    assert "1 grade has no meaning here." in titles(table, "warn")

    chosen = table.view.choice.as_json()
    chosen["grades"]["meh"] = "2"
    assert grades(read(snapshot, text, **chosen)) == [(2, 3), (3, 1), (4, 0), (5, 2)]


def test_a_pair_with_two_grades_stays_out_unless_the_last_one_counts(snapshot):
    text = "query,url,grade\na,/billing/plans,3\na,/billing/plans,1\nb,/billing/plans,2\nb,/billing/plans,2\n"

    table = read(snapshot, text)
    assert grades(table) == [(4, 2)]
    assert "1 pair has different grades in the table." in titles(table, "warn")
    assert grades(read(snapshot, text, **answered(table, "last-grades"))) == [(3, 1), (4, 2)]


def test_a_page_of_several_passages_counts_for_its_first_only_when_that_is_chosen():
    corpus = make_corpus(make_project(), {"p1": "one", "p2": "two"})
    snapshot = make_snapshot(corpus=corpus)
    text = "query,document,grade\na,d1,3\n"

    table = read(snapshot, text)
    assert grades(table) == []
    assert titles(table, "warn") == ["1 page has several passages here."]
    assert grades(read(snapshot, text, **answered(table, "first-passages"))) == [(2, 3)]


def test_passages_that_are_not_in_the_snapshot_are_one_message(snapshot):
    table = read(snapshot, "query,url,grade\na,/nowhere/at-all,3\nb,/nowhere/at-all,2\nc,/billing/plans,1\n")

    message = next(one for one in table.view.messages if one.state == "warn")
    assert message.title.startswith("1 passage is not in ")
    assert message.fix.button == "Leave out 2 rows"
    assert grades(table) == [(4, 1)]


def test_query_ids_that_nearly_fit_are_matched_by_one_answer(snapshot):
    text = "query,url,grade\nQ7,/billing/plans,3\n"

    table = read(snapshot, text)
    assert table.new_queries == []
    assert "1 query id nearly matches." in titles(table, "warn")
    assert grades(read(snapshot, text, **answered(table, "fit-queries"))) == [(2, 3)]


def test_new_queries_are_left_out_on_request(snapshot):
    table = read(snapshot, RATINGS, **answered(read(snapshot, RATINGS), "no-new-queries"))

    assert table.new_queries == []
    assert grades(table) == [(4, 3), (5, 1)]
    assert "2 queries that are not here stay out." in titles(table, "warn")


def test_only_a_missing_column_refuses_the_table(snapshot):
    table = read(snapshot, "one,two\nneither,nor\n")

    assert titles(table, "stop") == [
        "Does the first row have the headings, or is it a row like the others?",
        "Choose the column of the passages.",
        "Choose the column of the grades.",
    ]
    assert table.view.button == ""


def test_a_column_for_each_rater_and_final_grades(snapshot):
    text = (
        "query,url,agent_1_rating,agent_2_rating,agent_3_rating,final_rating\n"
        "a,/billing/plans,3,3,0,3\nb,/billing/plans,3,0,1,2\n"
    )

    draft = read(snapshot, text).draft

    assert draft.rows.raters == ["agent_1_rating", "agent_2_rating", "agent_3_rating"]
    assert len(draft.rows) == 6
    assert [each.grade for each in draft.rows.rulings()] == [2]


def upload(client, snapshot, data: bytes, name: str = "searches-checked.xlsx", **form) -> Import:
    project = snapshot.corpus.project
    client.force_login(lead_of(project))
    path = reverse("corpus:import-new", args=[project.slug, "judgements"])
    file = SimpleUploadedFile(name, data)
    client.post(path, {"file": file, "format": "auto", "snapshot": snapshot.pk, **form})
    return Import.objects.latest("pk")


def form_of(item: Import, **changes) -> dict:
    """What the page of the table sends."""
    table = item.plan["table"]
    columns = {f"column-{place}": column["role"] for place, column in enumerate(table["columns"])}
    grades = {f"grade-{place}": grade for place, (_, grade, _) in enumerate(table["grades"])}
    return columns | grades | {"person": "", "remember": "1"} | changes


def send(client, item: Import, name: str, form: dict) -> Import:
    client.post(reverse(f"corpus:{name}", args=[item.project.slug, item.pk]), form)
    item.refresh_from_db()
    return item


def sheet() -> bytes:
    rows = [line.split(",") for line in RATINGS.splitlines()]
    return workbook({"Cover": [], "Ratings": rows})


def test_the_page_imports_queries_and_grades_in_one_step(client, snapshot):
    item = upload(client, snapshot, sheet())
    page = client.get(reverse("corpus:import", args=[item.project.slug, item.pk]))
    assert "What is in each column?" in page.text
    assert "Import 2 queries and 3 grades" in page.text

    send(client, item, "import-fix", {"fix": "fit-passages"})
    assert item.plan["table"]["button"] == "Import 2 queries and 4 grades"
    send(client, item, "import-columns", form_of(item, **{"import": "1"}))

    assert item.state == ImportState.APPLIED
    assert Judgement.objects.count() == 4
    assert sorted(Query.objects.values_list("outside_id", flat=True)) == ["Q007", "Q008", "Q009"]
    assert Judgement.objects.filter(note="exactly this").get().annotator == lead_of(item.project)


def test_the_rater_of_a_table_is_named_once(client, snapshot):
    item = upload(client, snapshot, sheet())
    send(client, item, "import-columns", form_of(item, person="Ana"))
    send(client, item, "import-columns", form_of(item, person="Ana", **{"import": "1"}))

    assert {each.annotator.name for each in Judgement.objects.select_related("annotator")} == {"Ana"}


def test_what_was_not_shown_is_not_imported(client, snapshot):
    item = upload(client, snapshot, sheet())
    send(client, item, "import-columns", form_of(item, **{"column-4": "", "import": "1"}))

    assert item.state == ImportState.READY
    assert item.plan["table"]["columns"][4]["role"] == ""
    assert not Judgement.objects.exists()


def test_the_columns_are_remembered_for_the_next_table(client, snapshot):
    data = b"A;B;C\nhow big can a volume get;/storage/volumes;5\nwhat else;/billing/plans;1\n"
    first = upload(client, snapshot, data, "one.csv")
    changes = {"column-0": "query", "column-1": "passage", "column-2": "grade"}
    send(client, first, "import-columns", form_of(first, **changes))
    send(client, first, "import-columns", form_of(first, **{"import": "1"}))
    assert first.state == ImportState.APPLIED

    second = upload(client, snapshot, data.replace(b";5", b";4"), "two.csv")

    assert second.plan["table"]["is_remembered"]
    assert [column["role"] for column in second.plan["table"]["columns"]] == ["query", "passage", "grade"]


def test_nothing_is_remembered_on_request(client, snapshot):
    item = upload(client, snapshot, sheet())
    form = form_of(item, **{"import": "1"})
    del form["remember"]
    send(client, item, "import-columns", form)

    assert item.state == ImportState.APPLIED
    assert not RememberedColumns.objects.exists()


def test_a_missing_column_is_chosen_on_the_page(client, snapshot):
    item = upload(client, snapshot, b"query,two,three\nx y,/billing/plans,a\n", "odd.csv")
    assert item.state == ImportState.FAULTY
    page = client.get(reverse("corpus:import", args=[item.project.slug, item.pk]))
    assert "Choose the column of the grades." in page.text

    send(client, item, "import-columns", form_of(item, **{"column-2": "grade"}))
    assert item.state == ImportState.READY


def test_the_same_grades_again_change_nothing(client, snapshot):
    for _ in range(2):
        item = upload(client, snapshot, sheet())
        send(client, item, "import-columns", form_of(item, **{"import": "1"}))

    assert Round.objects.count() == 1
    assert item.result["counts"] == {"new": 0, "new queries": 0, "unchanged": 3}


def test_known_formats_are_recognised(client, snapshot):
    qrels = upload(client, snapshot, b"Q007 0 storage/volumes#1 2\n", "old.qrels")
    flat = upload(client, snapshot, b"query_id,block_id,grade\nQ007,storage/volumes#1,2\n", "old.csv")

    assert [item.plan["errors"] for item in (qrels, flat)] == [[], []]
    assert [item.state for item in (qrels, flat)] == [ImportState.READY] * 2
    assert not any("table" in item.plan for item in (qrels, flat))


def command(snapshot, path, **options):
    slug = snapshot.corpus.project.slug
    call_command("import_judgements", path, project=slug, snapshot=snapshot.reference, **options)


def test_the_command_imports_a_table_once_its_grades_are_named(capsys, snapshot, tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(RATINGS)

    with pytest.raises(CommandError, match="--grades 2=1,3=1,5=3"):
        command(snapshot, path)
    assert not Judgement.objects.exists()

    command(snapshot, path, grades="2=1,3=1,5=3", columns="notes=note")
    assert Judgement.objects.count() == 3
    assert "1 address nearly matches." in capsys.readouterr().err


CHORUS = SHARED_DATA / "chorus_ratings"
needs_chorus = pytest.mark.skipif(not CHORUS.exists(), reason="the ratings of Chorus are not on this machine")


def chorus_snapshot():
    with (CHORUS / "Broad_Query_Set_rated.csv").open(newline="") as file:
        return make_products(make_project(), names=sorted({row["docid"] for row in csv.DictReader(file)}))


def chorus(snapshot, name: str) -> TableDraft:
    return read(snapshot, (CHORUS / name).read_bytes())


@needs_chorus
def test_the_individual_ratings_of_chorus_are_read_as_they_are():
    table = chorus(chorus_snapshot(), "Broad_Query_Set_individual_ratings.csv")

    assert list(table.view.choice.columns.values()) == ["query", "passage", "", "", "rated", "rated", "rated", "final"]
    assert (len(table.new_queries), len(table.draft.rows), len(table.draft.rows.raters)) == (135, 9564, 3)
    assert titles(table, "warn") == []
    assert table.view.button == "Import 135 queries and 9,564 grades"


@needs_chorus
def test_the_final_ratings_of_chorus_are_read_as_they_are():
    snapshot = chorus_snapshot()

    rated, unrated = chorus(snapshot, "Broad_Query_Set_rated.csv"), chorus(snapshot, "Broad_Query_Set_unrated.csv")

    assert (len(rated.new_queries), len(rated.draft.rows)) == (135, 3668)
    assert len(unrated.draft.rows) == 6
    assert titles(unrated)[-2:] == [
        "3,148 rows without a grade become 134 queries only.",
        "34 rows without a grade stay out.",
    ]


@needs_chorus
@pytest.mark.slow
def test_products_and_ratings_of_chorus_come_in_through_the_uploads(settings, tmp_path):
    """As its readme counts: 3,188 rows of three ratings, 135 queries, 2,349 products, 124 + 262 finals of their own."""
    settings.MEDIA_ROOT = tmp_path / "files"
    path = CHORUS / "Broad_Query_Set_individual_ratings.csv"
    with path.open(newline="") as file:
        products = {row["docid"]: [row["docid"], row["name"], row["description"]] for row in csv.DictReader(file)}
    out = io.StringIO()
    csv.writer(out).writerows([["docid", "name", "description"], *products.values()])
    item = uploaded(make_document_import(out.getvalue().encode(), "products.csv"))
    project, lead = item.project, lead_of(item.project)
    confirm_import(import_id=item.pk, actor=lead, at=AT)
    run_jobs()
    snapshot = make_snapshot(corpus=project.corpora.get())

    item = start_import(
        project=project,
        kind="judgements",
        file=SimpleUploadedFile(path.name, path.read_bytes()),
        options={"format": "auto", "snapshot": snapshot.pk},
        actor=lead,
        at=AT,
    )
    choice = TableChoice.from_json(uploaded(item).plan["table"]["choice"])
    choose_columns(import_id=item.pk, choice=choice, is_final=True, actor=lead, at=AT)
    item = uploaded(item)

    assert item.state == ImportState.APPLIED
    assert (snapshot.entries.count(), project.queries.count()) == (2_349, 135)
    judgements = Judgement.objects.filter(seat__round__project=project)
    assert Counter(judgements.values_list("grade", flat=True)) == {0: 4_623, 1: 276, 2: 445, 3: 4_220}


def uploaded(item: Import) -> Import:
    """The import when the jobs that it became have run."""
    run_jobs()
    item.refresh_from_db()
    return item


def test_a_row_without_a_grade_makes_a_query_only_where_there_is_none_yet(snapshot):
    """Of the sheet of a second rater, which names queries that are here, the rows that are still empty stay out."""
    text = "query,url,grade\nHow big can a volume get,/billing/plans,\nhow big can a volume get,/storage/volumes,\n"

    known = titles(read(snapshot, text + "who pays,/billing/plans,3\nwho pays,/storage/volumes,\n"))
    new = titles(read(snapshot, text + "who pays,/billing/plans,\nwho pays,/storage/volumes,\nwhy,/billing/plans,1\n"))

    assert "3 rows without a grade stay out." in known
    assert not [title for title in known if "only" in title]
    assert "2 rows without a grade become 1 query only." in new
    assert "2 rows without a grade stay out." in new

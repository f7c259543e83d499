"""Ratings of several people in one file: raters keep their names, and finals become decisions where they decide."""

import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from apps.accounts.selectors import everybody
from apps.agreement.selectors.agreement import grade_agreement
from apps.audit.models import Event
from apps.common.errors import InputErrors
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.judging.actions.imports import import_judgements
from apps.judging.core.resolution import Resolution
from apps.judging.enums import ErrorType
from apps.judging.execution.judgement_import import read_draft
from apps.judging.formats.judgements import RATINGS, columns_of, parse_grade_map, read_judgements
from apps.judging.formats.ratings import USUAL, parse_rating_columns
from apps.judging.models import Adjudication, Judgement
from apps.judging.selectors.deciding import adjudicable
from apps.judging.selectors.pairs import resolved_grades
from apps.queries.models import Query
from tests.conftest import SHARED_DATA
from tests.factories import AT, lead_of, make_project
from tests.judging.factories import make_pool, make_snapshot
from tests.judging.undecided import undecided_as_kept, undecided_by_hand

WIDE = "query=query_text, docid=doc_id, a=rater, b=rater:Berta, c=rater, final=final"
CHORUS = SHARED_DATA / "chorus_ratings" / "Broad_Query_Set_individual_ratings.csv"
CHORUS_COLUMNS = (
    "query=query_text, docid=doc_id, agent_1_rating=rater:agent_1, agent_2_rating=rater:agent_2,"
    " agent_3_rating=rater:agent_3, final_rating=final"
)


def rows_of(text, columns, **more):
    errors = ErrorList()
    source = TableFile("ratings.csv", io.BytesIO(text.encode()))
    rows = list(read_judgements(source, errors, format=RATINGS, columns=columns_of(RATINGS, columns), **more))
    return rows, list(errors)


def test_columns_are_named_by_the_person_who_knows_the_file():
    columns = parse_rating_columns(WIDE)

    assert columns.raters == {"a": "a", "b": "Berta", "c": "c"}
    assert (columns.query, columns.by_text, columns.doc_id, columns.final) == ("query", True, "docid", "final")
    assert parse_rating_columns("  ") == USUAL


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("query", "not of the form"),
        ("q=query_id, d=doc_id, a=judge", "not of the form"),
        ("q=query_id, d=doc_id, g=grade:x, a=annotator", "not of the form"),
        ("q=query_id, t=query_text, d=doc_id, a=rater, b=rater", "one column as the query"),
        ("q=query_id, a=rater, b=rater", "doc_id"),
        ("q=query_id, d=doc_id, " + ", ".join(f"r{n}=rater" for n in range(51)), "at most 50"),
        ("q=query_id, d=doc_id, a=rater:x, b=rater:x", "name of its own"),
        ("q=query_id, d=doc_id, a=rater, b=rater, g=grade", "not both"),
        ("q=query_id, d=doc_id, a=annotator", "name a column for each rater"),
        ("q=query_id, d=doc_id, e=doc_id, a=rater, b=rater", "named twice"),
    ],
)
def test_columns_that_leave_something_open_are_refused(written, said):
    with pytest.raises(ValueError, match=said):
        parse_rating_columns(written)


def test_an_empty_cell_is_not_a_rating_and_zero_is_one():
    rows, errors = rows_of("query,docid,a,b,c,final\nx y,d1,0,,3,\n", WIDE)

    assert [(row.query_id, row.rater, row.grade, row.final) for row in rows] == [
        ("x y", "a", 0, None),
        ("x y", "c", 3, None),
    ]
    assert errors == []


@pytest.mark.parametrize("block", ["doc_id", "block"])
def test_a_row_for_each_rating_equals_a_column_for_each_rater_by_any_name_of_the_block(block):
    wide, _ = rows_of("q,d,x,y\nQ1,d1,0,3\n", "q=query_id, d=block_id, x=rater:a, y=rater:b")
    rows, _ = rows_of(f"query_id,{block},annotator,grade\nQ1,d1,a,0\nQ1,d1,b,3\n", "")

    assert [(r.query_id, r.doc_id, r.rater, r.grade) for r in rows] == [
        (r.query_id, r.doc_id, r.rater, r.grade) for r in wide
    ]


@pytest.mark.parametrize(
    ("text", "columns", "said"),
    [
        ("query,docid,a,b,c,final\nx,d1,1,1,1,1\nx,d1,2,2,2,2\n", WIDE, "rates the pair twice"),
        ("query,docid,a,b,c,final\nx,d1,1,good,1,1\n", WIDE, "not a whole number"),
        ("query,docid,a,b,c,final\nx,d1,,,,1\n", WIDE, "nobody rated"),
        ("query,docid,a,b,c,final\nx,,1,1,1,1\n", WIDE, "is empty"),
        ("query_id,doc_id,annotator,grade\nQ,d,,1\n", "", "is empty"),
        (
            "q,d,who,g,f\nQ,d,a,1,1\nQ,d,b,1,2\n",
            "q=query_id, d=doc_id, who=annotator, g=grade, f=final",
            "another final grade",
        ),
    ],
)
def test_an_invalid_row_is_named_and_left_out_whole(text, columns, said):
    _, errors = rows_of(text, columns)

    (error,) = errors
    assert said in str(error)


def test_a_grade_map_applies_to_final_grades_too():
    rows, _ = rows_of("query,docid,a,b,c,final\nx,d,4,1,9,1\n", WIDE, grades=parse_grade_map("4=0,1=3,9=skip"))

    assert [(row.grade, row.final) for row in rows] == [(0, 3), (3, 3), (None, 3)]


@pytest.fixture
def pool(db):
    return make_pool(make_project(), queries=2, blocks=4)


def draft_of(pool, text, columns=WIDE, **more):
    source = TableFile("ratings.csv", io.BytesIO(text.encode()))
    return read_draft(
        source,
        project=pool.project,
        snapshot=pool.snapshot,
        format=RATINGS,
        columns=columns_of(RATINGS, columns),
        **more,
    )


def take(pool, draft, **more):
    lead = lead_of(pool.project)
    return import_judgements(
        project=pool.project, snapshot=pool.snapshot, draft=draft, actor=lead, at=AT, origin="ratings.csv", **more
    )


def table(pool, *rows):
    query = pool.pool_queries.order_by("query_id").first().query.text
    lines = ["query,docid,a,b,c,final", *(f'"{query}",{row}' for row in rows)]
    return "\n".join(lines) + "\n"


ROWS = ("b00000,2,2,2,2", "b00001,0,0,3,3", "b00002,0,1,2,1", "b00003,1,1,2,1")


def test_raters_become_annotators_and_finals_decide_what_they_alone_decide(pool):
    draft = draft_of(pool, table(pool, *ROWS))

    done = take(pool, draft)

    assert sorted(place.annotator.name for place in done.round.annotators.all()) == ["Berta", "a", "c"]
    assert (done.round.judges, done.round.overlap_share, Judgement.objects.count()) == (3, 1.0, 12)
    assert [(pair.grade, pair.resolution) for pair in resolved_grades(done.round)] == [
        (2, Resolution.UNANIMOUS),
        (3, Resolution.ADJUDICATED),
        (1, Resolution.ADJUDICATED),
        (1, Resolution.MAJORITY),
    ]
    told = set(Adjudication.objects.values_list("error_type", "adjudicator"))
    assert told == {(ErrorType.NOT_RECORDED, lead_of(pool.project).pk)}
    assert all("ratings.csv" in decision.reason for decision in Adjudication.objects.all())
    assert Event.objects.get(action="judgements.imported").after["decisions"] == 2


def test_raters_are_names_and_not_people_of_the_house(pool):
    before = set(everybody())

    done = take(pool, draft_of(pool, table(pool, *ROWS)))

    rater = done.round.annotators.first().annotator
    assert rater.is_placeholder
    assert (rater.is_active, rater.has_usable_password()) == (False, False)
    assert not rater.memberships.exists()
    assert set(everybody()) == before


def test_a_rater_of_two_files_is_one_and_of_two_projects_two(pool):
    other = make_pool(make_project(), queries=1, blocks=4)
    for each, rows in ((pool, ROWS[:2]), (pool, ROWS[2:]), (other, ROWS)):
        take(each, draft_of(each, table(each, *rows)))

    raters = set(Judgement.objects.filter(annotator__name="Berta").values_list("annotator", "round__project"))

    assert len(raters) == 2


def test_the_same_ratings_again_change_nothing_in_either_shape(pool):
    first = take(pool, draft_of(pool, table(pool, *ROWS[:1])))
    query = pool.pool_queries.order_by("query_id").first().query.text
    rows = "".join(f'"{query}",b00000,{who},2,2\n' for who in ("a", "Berta", "c"))
    named = "query=query_text, docid=doc_id, who=annotator, g=grade, final=final"

    again = take(pool, draft_of(pool, "query,docid,who,g,final\n" + rows, named))

    assert (again.round, again.is_new) == (first.round, False)


def test_without_a_final_grade_a_pair_without_majority_needs_a_lead(pool):
    draft = draft_of(pool, table(pool, "b00000,0,1,2,", "b00001,1,1,2,"))

    done = take(pool, draft)

    assert (draft.unsettled, draft.rulings) == (1, 0)
    assert [pair.answers for pair in adjudicable(done.round, lead_of(pool.project))] == [[0, 1, 2]]


def test_imported_ratings_are_on_the_list_of_undecided_pairs_once(pool):
    split, agreed, ruled = "b00000,0,1,2,", "b00001,1,1,2,", "b00002,0,1,2,2"

    round_ = take(pool, draft_of(pool, table(pool, split, agreed, ruled))).round

    assert len(undecided_as_kept(round_)) == 1
    assert undecided_as_kept(round_) == undecided_by_hand(round_)


def test_unknown_ids_are_named_once_a_line_and_nothing_is_imported(pool):
    text = (
        "query,docid,a,b,c,final\nnobody asked this,b00000,1,1,1,1\n" + table(pool, "nowhere,1,1,1,1").split("\n", 1)[1]
    )

    with pytest.raises(InputErrors) as errors:
        take(pool, draft_of(pool, text))

    assert [(error.line, error.field) for error in errors.value.errors] == [(2, "query"), (3, "docid")]
    assert not Judgement.objects.exists()


def test_a_spreadsheet_of_one_rater_comes_in_under_their_name(pool):
    query = pool.pool_queries.first().query.outside_id
    columns = "query=query_id, docid=doc_id, grade_by_mara=rater:Mara"
    draft = draft_of(pool, f"query,docid,grade_by_mara\n{query},b00000,2\n{query},b00001,0\n", columns=columns)

    done = take(pool, draft)

    assert (draft.rows.raters, len(draft.errors)) == (["Mara"], 0)
    assert [(pair.grade, pair.judges) for pair in resolved_grades(done.round)] == [(2, 1), (0, 1)]
    assert [person.annotator.name for person in done.round.annotators.all()] == ["Mara"]


def test_the_files_of_two_raters_are_compared_though_each_contains_one_rater(pool):
    query = pool.pool_queries.first().query.outside_id
    for name, grade in (("Mara", 2), ("Sef", 1)):
        columns = f"query=query_id, docid=doc_id, grade=rater:{name}"
        take(pool, draft_of(pool, f"query,docid,grade\n{query},b00000,{grade}\n", columns=columns))

    ratings = grade_agreement(pool.project).ratings

    assert (len(ratings.people), ratings.shared) == (2, 1)


def test_a_text_shared_by_two_queries_is_rejected_as_ambiguous(pool):
    query = pool.pool_queries.order_by("query_id").first().query
    Query.objects.create(
        project=pool.project, outside_id="twin", text=query.text, created_by=lead_of(pool.project), created_at=AT
    )

    with pytest.raises(InputErrors, match="two queries"):
        take(pool, draft_of(pool, table(pool, *ROWS)))


def test_a_final_off_the_scale_stops_the_import(pool):
    with pytest.raises(InputErrors, match="not on the scale"):
        take(pool, draft_of(pool, table(pool, "b00000,1,1,1,7")))


def test_several_raters_count_as_agreement_and_a_lone_file_does_not(pool):
    take(pool, draft_of(pool, table(pool, *ROWS)))
    lone = read_draft(
        TableFile("q", io.BytesIO(f"{pool.pool_queries.last().query.outside_id} 0 b00000 2\n".encode())),
        project=pool.project, snapshot=pool.snapshot, format="qrels",
    )  # fmt: skip
    take(pool, lone)

    ratings = grade_agreement(pool.project).ratings

    assert (len(ratings.people), ratings.shared) == (3, 4)


def test_a_lead_previews_raters_and_decisions_and_takes_them_in(pool, client):
    client.force_login(lead_of(pool.project))
    new = reverse("corpus:import-new", kwargs={"slug": pool.project.slug, "kind": "judgements"})
    file = SimpleUploadedFile("ratings.csv", table(pool, *ROWS).encode())
    data = {"format": RATINGS, "snapshot": pool.snapshot.pk, "columns": WIDE, "file": file}

    preview = client.post(new, data, follow=True)
    text = preview.content.decode()
    client.post(preview.request["PATH_INFO"] + "confirm/")

    assert "3 raters: Berta, a, c." in text
    assert "2 final grades are not those of more than half of the raters" in text
    assert (Judgement.objects.count(), Adjudication.objects.count()) == (12, 2)


def test_columns_that_cannot_be_read_are_refused_on_the_page(pool, client):
    client.force_login(lead_of(pool.project))
    new = reverse("corpus:import-new", kwargs={"slug": pool.project.slug, "kind": "judgements"})
    file = SimpleUploadedFile("ratings.csv", b"a\n")

    answer = client.post(new, {"format": RATINGS, "snapshot": pool.snapshot.pk, "columns": "a=judge", "file": file})

    assert answer.status_code == 400
    assert "is not of the form column=role" in answer.content.decode()


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.skipif(not CHORUS.exists(), reason="the ratings of Chorus are not on this machine")
def test_the_ratings_of_chorus_come_in_with_their_finals_and_agreement():
    with CHORUS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    project = make_project()
    lead = lead_of(project)
    texts = sorted({row["query"] for row in rows})
    Query.objects.bulk_create(
        Query(project=project, outside_id=f"Q{n:03}", text=text, created_by=lead, created_at=AT)
        for n, text in enumerate(texts)
    )
    products = sorted({row["docid"] for row in rows})
    snapshot = make_snapshot(project, names=products)
    with CHORUS.open("rb") as stream:
        draft = read_draft(
            TableFile(CHORUS.name, stream), project=project, snapshot=snapshot, format=RATINGS,
            columns=parse_rating_columns(CHORUS_COLUMNS),
        )  # fmt: skip

    done = import_judgements(project=project, snapshot=snapshot, draft=draft, actor=lead, at=AT, origin=CHORUS.name)

    assert (len(draft.rows), len(draft.errors), draft.rows.raters) == (9564, 0, ["agent_1", "agent_2", "agent_3"])
    resolved = resolved_grades(done.round)
    ruled = {pair.entry_id: pair.grade for pair in resolved if pair.resolution is Resolution.ADJUDICATED}
    votes: dict[int, list[int]] = {}
    for entry, grade in Judgement.objects.filter(round=done.round).values_list("entry", "grade"):
        votes.setdefault(entry, []).append(grade)
    majority = {entry: max(set(given), key=given.count) for entry, given in votes.items() if len(set(given)) < 3}
    assert len(resolved) == 3188
    assert sum(entry in majority for entry in ruled) == 262
    assert all(majority[entry] != grade for entry, grade in ruled.items() if entry in majority)
    assert len(votes) - len(majority) == 124
    assert all(pair.grade is not None for pair in resolved)
    assert round(grade_agreement(project).overall.value, 4) == 0.7695

"""Judgements from outside: explicit grade maps, unknown ids named, all or nothing, the same file once."""

import gc
import io
import tracemalloc
from itertools import islice

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.audit.models import Event
from apps.common.errors import InputErrors, Refusal
from apps.common.files.tabular import TableFile
from apps.judging.actions.imports import import_judgements
from apps.judging.core.resolution import Resolution
from apps.judging.enums import RoundKind, RoundState
from apps.judging.execution.judgement_import import read_draft
from apps.judging.formats.judgements import parse_grade_map
from apps.judging.formats.ratings import USUAL, parse_rating_columns
from apps.judging.models import Judgement
from apps.judging.selectors.pairs import resolved_grades
from apps.retrieval.models import Pool
from tests.factories import AT, lead_of, make_project
from tests.judging.factories import make_pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    return make_pool(make_project(), queries=2, blocks=3)


def ids(pool):
    return [entry.query.outside_id for entry in pool.pool_queries.order_by("query_id")]


def read(pool, text, format="qrels", **more):
    source = TableFile("old.qrels", io.BytesIO(text.encode()))
    return read_draft(source, project=pool.project, snapshot=pool.snapshot, format=format, **more)


def take(pool, draft, **more):
    lead = lead_of(pool.project)
    return import_judgements(
        project=pool.project, snapshot=pool.snapshot, draft=draft, actor=lead, at=AT, origin="old.qrels", **more
    )


def test_qrels_become_a_closed_round_with_the_importer_recorded(pool):
    one, two = ids(pool)
    draft = read(pool, f"{one} 0 b00000 3\n{one} 0 b00001 0\n{two} 0 b00002 1\n")

    done = take(pool, draft)

    assert done.is_new
    assert (done.round.kind, done.round.state) == (RoundKind.IMPORTED, RoundState.CLOSED)
    assert set(done.round.judgements.values_list("annotator", flat=True)) == {lead_of(pool.project).pk}
    assert [(p.grade, p.resolution) for p in resolved_grades(done.round)] == [
        (3, Resolution.SINGLE),
        (0, Resolution.SINGLE),
        (1, Resolution.SINGLE),
    ]
    assert Event.objects.get(action="judgements.imported").after["judgements"] == 3


def test_the_same_judgements_again_change_nothing(pool):
    text = f"{ids(pool)[0]} 0 b00000 3\n"
    first = take(pool, read(pool, text))

    again = take(pool, read(pool, "# a comment\n" + text))

    assert (again.round, again.is_new) == (first.round, False)
    assert Judgement.objects.count() == 1


def test_a_downward_scale_is_turned_round_by_an_explicit_map(pool):
    query = ids(pool)[0]
    grades = parse_grade_map("1=3,2=2,3=1,4=0,-1=skip")

    draft = read(pool, f"{query} 0 b00000 1\n{query} 0 b00001 4\n{query} 0 b00002 -1\n", grades=grades)

    assert (draft.rows.by_grade, draft.skipped, len(draft.errors)) == ({0: 1, 3: 1}, 1, 0)


def test_a_grade_off_the_scale_is_named_and_never_guessed(pool):
    query = ids(pool)[0]
    draft = read(pool, f"{query} 0 b00000 2\n{query} 0 b00001 4\n")

    with pytest.raises(InputErrors) as errors:
        take(pool, draft)

    (error,) = errors.value.errors
    assert (error.file, error.line, error.field, error.value) == ("old.qrels", 2, "grade", "4")
    assert not Judgement.objects.exists()


def test_unknown_queries_and_blocks_are_named_and_stop_the_import(pool):
    query = ids(pool)[0]
    draft = read(pool, f"{query} 0 b00000 2\nQX 0 b00001 1\n{query} 0 nowhere 1\n")

    with pytest.raises(InputErrors) as errors:
        take(pool, draft)

    assert [(e.line, e.field, e.value) for e in errors.value.errors] == [
        (2, "query_id", "QX"),
        (3, "doc_id", "nowhere"),
    ]
    assert Pool.objects.count() == 1


def test_unknown_ids_may_be_left_out_on_request(pool):
    draft = read(pool, f"{ids(pool)[0]} 0 b00000 2\nQX 0 b00001 1\n")

    assert take(pool, draft, skip_unknown=True).round.judgements.count() == 1


def test_the_flat_csv_layout_brings_its_notes(pool):
    query = ids(pool)[0]
    text = f'query_id,doc_id,grade,notes\n{query},b00000,2,"Names, but no mode"\n'

    done = take(pool, read(pool, text, format="csv"))

    assert done.round.judgements.get().note == "Names, but no mode"


def test_ratings_keep_the_order_of_the_file_and_have_a_seat_each(pool):
    one, two = ids(pool)
    text = (
        "query_id,doc_id,annotator,grade\n"
        f"{one},b00001,ann,3\n{two},b00000,ann,1\n{one},b00001,bo,2\n{two},b00000,bo,1\n{one},b00001,cy,0\n"
    )

    given = take(pool, read(pool, text, format="ratings", columns=USUAL)).round.judgements.order_by("pk")

    rows = given.values_list("entry__query__outside_id", "annotator__name", "grade", "seat__number")
    assert list(rows) == [
        (one, "ann", 3, 1),
        (two, "ann", 1, 1),
        (one, "bo", 2, 2),
        (two, "bo", 1, 2),
        (one, "cy", 0, 3),
    ]


def test_mistakes_are_listed_line_by_line_up_to_where_the_file_breaks(pool):
    query = ids(pool)[0]
    text = f"{query} 0 b00000 2\n{query} 0 b00000 1\n{query} 0 b00001 x\n{query} 0\n{query} 0 b00001 1\rX\n"

    errors = read(pool, text).errors

    assert [(error.line, error.message[:32]) for error in errors] == [
        (2, "the pair is listed twice for que"),
        (3, "x is not a whole number; map it "),
        (4, "2 columns where there must be 4:"),
        (5, "the line contains a carriage ret"),
    ]


def qrels_of(pool, count):
    """So many judgements of distinct pairs; the pool has a hundred passages a query."""
    pairs = ((query, block) for query in ids(pool) for block in range(100))
    return "".join(f"{query} 0 b{block:05} 1\n" for query, block in islice(pairs, count))


def test_statements_grow_with_parts_of_the_file_and_not_with_rows():
    pool = make_pool(make_project(), queries=4, blocks=100)

    def statements(count):
        with CaptureQueriesContext(connection) as queries:
            take(pool, read(pool, qrels_of(pool, count)))
        return len(queries)

    statements(20)
    assert statements(400) - statements(100) < 12  # on SQLite a hundred rows are a statement


def ratings_of(pool, count):
    """The same pairs, each rated by two people alike."""
    return "query_id,doc_id,ann,bo,final\n" + qrels_of(pool, count).replace(" 0 ", ",").replace(" 1\n", ",1,2,2\n")


RATED = "query_id=query_id, doc_id=doc_id, ann=rater, bo=rater, final=final"


@pytest.mark.parametrize(
    ("text_of", "form"),
    [(qrels_of, {}), (ratings_of, {"format": "ratings", "columns": parse_rating_columns(RATED)})],
)
def test_a_file_takes_the_same_memory_however_long_it_is(text_of, form):
    pool = make_pool(make_project(), queries=120, blocks=100)

    def peak(count):
        text = text_of(pool, count)
        gc.collect()  # else when the next collection comes decides what the peak counts
        tracemalloc.start()
        read(pool, text, **form)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak - len(text)

    peak(100)
    assert peak(12_000) < 1.3 * peak(4_000)


def test_a_file_that_cannot_be_read_leaves_nothing(pool):
    draft = read(pool, "query_id,doc\nQ1,b1\n", format="csv")

    with pytest.raises(InputErrors, match="this column is missing"):
        take(pool, draft)


def test_an_empty_file_and_one_with_every_row_left_out_are_refused(pool):
    with pytest.raises(InputErrors, match="no judgement"):
        take(pool, read(pool, ""))
    skipped = read(pool, f"{ids(pool)[0]} 0 b00000 9\n", grades={"9": None})
    with pytest.raises(Refusal, match="every row was left out"):
        take(pool, skipped)


def command(pool, path, **options):
    said = io.StringIO()
    call_command(
        "import_judgements",
        str(path),
        project=pool.project.slug,
        snapshot=pool.snapshot.digest,
        stdout=said,
        **options,
    )
    return said.getvalue()


def test_the_command_imports_previews_and_says_when_nothing_changes(pool, tmp_path):
    path = tmp_path / "old.qrels"
    path.write_text(f"{ids(pool)[0]} 0 b00000 1\n{ids(pool)[0]} 0 b00001 4\n")
    options = {"format": "qrels", "grades": "1=3,4=skip"}

    dry = command(pool, path, dry_run=True, **options)
    assert not Judgement.objects.exists()
    first = command(pool, path, **options)
    again = command(pool, path, **options)

    assert "1 judgement: 1 new" in dry
    assert first.startswith("Imported, a round on")
    assert "1 judgement: nothing changed." in again
    assert Judgement.objects.get().grade == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"grades": "1-3"}, "--grades: "),
        ({"columns": "query_id doc"}, "--columns: "),
        ({"snapshot": "nowhere@1"}, "No snapshot is called nowhere@1"),
        ({}, "line 2, doc_id"),
    ],
)
def test_the_command_ends_with_a_sentence_and_code_2(pool, tmp_path, options, said):
    path = tmp_path / "old.qrels"
    path.write_text(f"{ids(pool)[0]} 0 b00000 1\n{ids(pool)[0]} 0 nowhere 2\n")

    with pytest.raises(CommandError, match=said) as error:
        call_command(
            "import_judgements",
            str(path),
            **{"project": pool.project.slug, "snapshot": pool.snapshot.digest, "format": "qrels", **options},
        )

    assert error.value.returncode == 2
    assert not Judgement.objects.exists()


def test_a_lead_previews_and_takes_in_a_file_on_a_page(pool, client):
    client.force_login(lead_of(pool.project))
    new = reverse("corpus:import-new", kwargs={"slug": pool.project.slug, "kind": "judgements"})
    text = f"{ids(pool)[0]} 0 b00000 2\n{ids(pool)[0]} 0 b00001 3\n"
    data = {"format": "qrels", "snapshot": pool.snapshot.pk, "file": SimpleUploadedFile("old.qrels", text.encode())}

    assert client.get(new).status_code == 200
    preview = client.post(new, data, follow=True)
    assert "1 of grade 2, 1 of grade 3" in preview.content.decode()
    confirm = preview.request["PATH_INFO"] + "confirm/"
    done = client.post(confirm, follow=True)

    assert done.status_code == 200
    assert Judgement.objects.count() == 2


def test_one_button_leaves_out_the_rows_with_unknown_ids(pool, client):
    project, text = pool.project, f"{ids(pool)[0]} 0 b00000 3\nQ999 0 b00001 1\nQ998 0 b00001 1\n"
    client.force_login(lead_of(project))
    file = SimpleUploadedFile("old.qrels", text.encode())
    form = {"file": file, "format": "qrels", "snapshot": pool.snapshot_id}
    page = client.post(reverse("corpus:import-new", args=[project.slug, "judgements"]), form, follow=True)
    item = page.context["item"]
    fix = reverse("corpus:import-fix", args=[project.slug, item.pk])
    assert "Leave out 2 rows" in page.text

    refused = client.post(fix, {"fix": "format:csv"})
    page = client.post(fix, {"fix": "skip-unknown"}, follow=True)

    assert (refused.status_code, page.context["item"].state) == (409, "ready")
    assert page.context["plan"]["counts"] == {"new": 1, "unchanged": 0}
    assert "is not a query of this project" in page.text


def test_ids_that_nearly_fit_are_matched_by_one_button(pool, client):
    project, (one, two) = pool.project, ids(pool)
    text = f"{one.lower()} 0 B00000 3\n{two.lower()} 0 B00001 1\n"
    client.force_login(lead_of(project))
    form = {"file": SimpleUploadedFile("old.qrels", text.encode()), "format": "qrels", "snapshot": pool.snapshot_id}
    page = client.post(reverse("corpus:import-new", args=[project.slug, "judgements"]), form, follow=True)
    item = page.context["item"]
    fix = reverse("corpus:import-fix", args=[project.slug, item.pk])
    assert "2 queries nearly match. The ids differ by capitals" in page.text

    client.post(fix, {"fix": "match-queries"})
    page = client.post(fix, {"fix": "match-passages"}, follow=True)
    assert page.context["plan"]["counts"] == {"new": 2, "unchanged": 0}

    page = client.post(fix, {"fix": "unmatch-queries"}, follow=True)
    assert page.context["item"].state == "faulty"


def test_the_command_matches_ids_on_request(pool, capsys, tmp_path):
    path = tmp_path / "old.qrels"
    path.write_text(f"{ids(pool)[0].lower()} 0 b00000 3\n")
    options = {"project": pool.project.slug, "snapshot": pool.snapshot.digest}

    with pytest.raises(CommandError):
        call_command("import_judgements", str(path), **options)
    assert "Import with --match-ids to read them so." in capsys.readouterr().err

    call_command("import_judgements", str(path), match_ids=True, **options)
    assert Judgement.objects.count() == 1


def test_what_few_files_need_is_folded_until_it_has_a_mistake_which_is_said_in_words(pool, client):
    client.force_login(lead_of(pool.project))
    new = reverse("corpus:import-new", args=[pool.project.slug, "judgements"])
    file = SimpleUploadedFile("old.qrels", b"x 0 y 1\n")

    fresh = client.get(new)
    refused = client.post(new, {"format": "qrels", "snapshot": pool.snapshot_id, "file": file, "grades": "1>2"})

    assert '<details class="form-details"><summary>Advanced' in fresh.text
    assert '<details class="form-details" open><summary>Advanced' in refused.text
    assert (refused.status_code, "is not of the form" in refused.text) == (400, True)

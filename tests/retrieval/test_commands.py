from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.retrieval.models import Pool, PoolEntry, Run
from tests.retrieval.factories import trec

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "theirs.run"
    path.write_text("\n".join(trec([("Q01", "a", 9.0), ("Q02", "c", 3.5)])) + "\n")
    return path


def karat(*words):
    out = StringIO()
    call_command(*map(str, words), stdout=out)
    return out.getvalue()


def place(project, snapshot):
    return ["--project", project.slug, "--snapshot", f"{snapshot.corpus.slug}@1"]


def test_import_run_twice_changes_nothing_the_second_time(project, snapshot, file):
    first = karat("import_run", file, *place(project, snapshot), "--system", "ours")
    again = karat("import_run", file, *place(project, snapshot), "--system", "ours")

    assert first.startswith("Imported: theirs, 2 queries, 2 results, sha256 ")
    assert again.startswith("Nothing changed, this run is already here: theirs")
    assert Run.objects.get().system.name == "ours"


@pytest.mark.parametrize(
    "written", ["query,passage,rank,score\nQ01,a,1,0.9\nQ02,c,1,0.8\n", "qid\tdocno\trank\nQ01\ta\t1\nQ02\tc\t1\n"]
)
def test_import_run_reads_a_table_with_a_heading(project, snapshot, tmp_path, written):
    table = tmp_path / "nightly.csv"
    table.write_text(written)

    told = karat("import_run", table, *place(project, snapshot))

    assert told.startswith("Imported: nightly, 2 queries, 2 results, sha256 ")
    run = Run.objects.get()
    assert (run.tag, run.system.name, run.origin) == ("nightly", "nightly", "nightly.csv")


def test_import_run_notes_what_the_run_used(project, snapshot, file):
    karat("import_run", file, *place(project, snapshot), "--usage", "requests=12 timeouts=2")

    assert Run.objects.get().usage == {"requests": 12, "timeouts": 2}
    with pytest.raises(CommandError, match="'12' is not name=value"):
        karat("import_run", file, *place(project, snapshot), "--usage", "12")


def test_a_mistake_in_a_table_is_named_with_its_line(project, snapshot, tmp_path):
    table = tmp_path / "nightly.csv"
    table.write_text("query,passage,score\nQ01,a,high\n")

    with pytest.raises(CommandError, match="line 2, score") as ended:
        karat("import_run", table, *place(project, snapshot))
    assert ended.value.returncode == 2


def test_a_dry_run_changes_nothing(project, snapshot, file):
    assert karat("import_run", file, *place(project, snapshot), "--dry-run") == "Dry run: 2 queries, 2 results.\n"
    assert not Run.objects.exists()


def test_unknown_ids_end_with_code_2_and_are_named(project, snapshot, file):
    file.write_text(file.read_text() + "Q01 Q0 ghost 2 1.0 theirs\n")

    with pytest.raises(CommandError, match="line 3, block: 'ghost' is not a passage") as ended:
        karat("import_run", file, *place(project, snapshot))
    assert ended.value.returncode == 2
    assert "leave out the rows that name these ids with --skip-unknown" in str(ended.value)

    assert "1 rows left out" in karat("import_run", file, *place(project, snapshot), "--skip-unknown")


def test_leaving_out_unknown_ids_is_offered_only_where_it_is_enough(project, snapshot, file):
    file.write_text("Q01 Q0 ghost 2 1.0 theirs\nQ01 Q0 a 2 nan theirs\n")

    with pytest.raises(CommandError, match="is not a passage") as ended:
        karat("import_run", file, *place(project, snapshot))

    assert "--skip-unknown" not in str(ended.value)


@pytest.mark.parametrize("words", [["--snapshot", "ghost@1"], ["--project", "ghost"]])
def test_what_is_not_there_is_named(project, snapshot, file, words):
    with pytest.raises(CommandError, match="ghost"):
        karat("import_run", file, *place(project, snapshot), *words)


def test_an_unreadable_file_is_reported(project, snapshot, tmp_path):
    with pytest.raises(CommandError, match="cannot be read"):
        karat("import_run", tmp_path / "none", *place(project, snapshot))


def test_pool_makes_systems_by_engine_name_and_builds_at_once(project, snapshot):
    told = karat(
        "pool", *place(project, snapshot), "--name", "P", "--depth", 2, "--system", "bm25", "--system", "tfidf"
    )

    assert told == "P: 4 pairs for 3 queries, 0 to 2 a query, median 2\n"
    assert PoolEntry.objects.count() == 4
    assert sorted(Run.objects.values_list("system__name", flat=True)) == ["BM25", "TF-IDF cosine"]


def test_pool_can_be_left_to_a_worker(project, snapshot):
    assert karat("pool", *place(project, snapshot), "--name", "P", "--system", "bm25", "--queue").startswith(
        "Queued: P"
    )
    assert Pool.objects.get().state == "pending"


def test_pool_takes_a_budget_and_draws(project, snapshot):
    told = karat(
        "pool", *place(project, snapshot), "--name", "P", "--system", "bm25", "--method", "rrf", "--budget", 3,
        "--per", "all", "--random", 1, "--seed", 5,
    )  # fmt: skip

    assert told.endswith("; sampled: 3 random\n")
    assert PoolEntry.objects.filter(sampled__isnull=True).count() == 3
    assert Pool.objects.get().plan["seed"] == 5


def test_a_budget_needs_a_method(project, snapshot):
    with pytest.raises(CommandError, match="needs a --method"):
        karat("pool", *place(project, snapshot), "--name", "P", "--system", "bm25", "--budget", 3)


@pytest.mark.parametrize("words", [["--system", "ghost"], ["--run", "ghost"], []])
def test_pool_refuses_what_it_cannot_draw_from(project, snapshot, words):
    with pytest.raises(CommandError) as ended:
        karat("pool", *place(project, snapshot), "--name", "P", *words)

    assert ended.value.returncode == 2
    assert not Pool.objects.exists()

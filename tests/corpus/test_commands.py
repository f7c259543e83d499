import json

import pytest
from django.core.management import CommandError, call_command

from apps.corpus.models import Block, Corpus, Snapshot
from apps.queries.models import Query
from tests.conftest import REPO
from tests.corpus.factories import make_corpus
from tests.factories import make_member, make_project
from tests.queries.factories import make_source

pytestmark = pytest.mark.django_db


@pytest.fixture
def blocks(tmp_path):
    path = tmp_path / "blocks.jsonl"
    path.write_text("\n".join(json.dumps({"block_id": f"b{n}", "document_id": "d", "text": "t"}) for n in (1, 2)))
    return path


def run(capsys, *arguments, **options) -> str:
    call_command(*map(str, arguments), **options)
    return capsys.readouterr().out.strip()


def import_corpus(capsys, into, file, **options) -> str:
    given = {"project": into.slug, "corpus": "Handbook", "format": "jsonl"} | options
    return run(capsys, "import_corpus", file, **given)


def test_import_corpus_makes_the_corpus_and_says_what_it_did(capsys, blocks):
    project = make_project()

    said = import_corpus(capsys, project, blocks)

    assert said == "Imported, the corpus Handbook: 2 blocks: 2 new, 0 changed, 0 unchanged, 0 gone."
    assert Block.objects.filter(corpus__slug="handbook").count() == 2


def test_import_corpus_twice_changes_nothing_and_says_so(capsys, blocks):
    project = make_project()
    import_corpus(capsys, project, blocks)

    assert import_corpus(capsys, project, blocks, corpus="handbook").endswith("2 blocks: nothing changed.")


def test_a_dry_run_changes_nothing(capsys, blocks):
    said = import_corpus(capsys, make_project(), blocks, dry_run=True)

    assert said.startswith("Dry run, a new corpus, Handbook: 2 blocks: 2 new")
    assert Corpus.objects.count() == 0


def test_bad_input_is_reported_by_line_with_code_2_and_nothing_is_created(capsys, blocks):
    blocks.write_text('{"block_id": "b 1", "document_id": "d", "text": "t"}\nnot json\n')

    with pytest.raises(CommandError) as caught:
        import_corpus(capsys, make_project(), blocks)

    assert caught.value.returncode == 2
    assert str(caught.value).splitlines() == [
        "blocks.jsonl, line 1, block_id: 'b 1': an id must not contain blanks or control characters",
        "blocks.jsonl, line 2: 'not json': this is not JSON: Expecting value at column 1",
        "Nothing was imported.",
    ]
    assert Corpus.objects.count() == 0


@pytest.mark.parametrize("page", ["docs/tutorial.md", "docs/reference/files.md"])
def test_a_refusal_reads_as_the_pages_show_it(page, capsys, tmp_path, monkeypatch):
    first, second = {"block_id": "A", "text": "x"}, {"block_id": "B", "document_id": "D", "text": "y", "pages": "3"}
    (tmp_path / "bad.jsonl").write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(CommandError) as caught:
        import_corpus(capsys, make_project(), "bad.jsonl")

    assert f"\n{caught.value}\n```" in (REPO / page).read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"project": "nowhere"}, "There is no project nowhere."),
        ({"user": "nobody@example.org"}, "nobody@example.org is not a lead"),
        ({"ids": "position"}, "ids by position are for SMART files only"),
    ],
)
def test_options_that_do_not_fit_end_with_code_2(capsys, blocks, options, said):
    with pytest.raises(CommandError, match=said) as caught:
        import_corpus(capsys, make_project(), blocks, **options)

    assert caught.value.returncode == 2


def test_a_file_that_is_not_there_ends_with_code_2(capsys, tmp_path):
    with pytest.raises(CommandError, match="cannot be opened") as caught:
        import_corpus(capsys, make_project(), tmp_path / "none.jsonl")

    assert caught.value.returncode == 2


def test_only_a_lead_can_be_the_one_who_does_it(capsys, blocks):
    project = make_project()
    reviewer = make_member(project, "reviewer")

    with pytest.raises(CommandError, match="is not a lead"):
        import_corpus(capsys, project, blocks, user=reviewer.email)


def test_import_queries_with_a_source(capsys, tmp_path):
    project = make_project()
    source = make_source(project, name="Log")
    path = tmp_path / "q.csv"
    path.write_text("query_id,text\nQ1,one\n")

    said = run(capsys, "import_queries", path, project=project.slug, format="csv", source="log")

    assert said == "Imported, the queries of this project: 1 query: 1 new, 0 changed, 0 unchanged."
    assert Query.objects.get().source == source


def test_freeze_returns_the_digest_and_rejects_a_second_call(capsys):
    corpus = make_corpus()

    said = run(capsys, "freeze", project=corpus.project.slug, corpus=corpus.slug, name="Spring")

    snapshot = Snapshot.objects.get()
    assert said == (f"Frozen, {corpus.slug}@1 (Spring): 3 blocks in 1 document, sha256 {snapshot.digest}")
    with pytest.raises(CommandError, match="Nothing to freeze") as caught:
        run(capsys, "freeze", project=corpus.project.slug, corpus=corpus.slug)
    assert caught.value.returncode == 2


def test_cranfield_freezes_to_1400_blocks_and_has_225_queries(capsys, shared_data):
    project, folder = make_project(), shared_data / "cranfield"

    first = import_corpus(capsys, project, folder / "cran.all.1400", corpus="cranfield", format="smart", ids="file")
    again = import_corpus(capsys, project, folder / "cran.all.1400", corpus="cranfield", format="smart", ids="file")
    frozen = run(capsys, "freeze", project=project.slug, corpus="cranfield")
    queries = run(capsys, "import_queries", folder / "cran.qry", project=project.slug, format="smart", ids="position")

    assert "1,400 blocks: 1,400 new" in first
    assert "1,400 blocks: nothing changed." in again
    assert "1,400 blocks in 1,400 documents" in frozen
    assert "225 queries: 225 new" in queries
    assert sorted(map(int, Query.objects.values_list("outside_id", flat=True))) == list(range(1, 226))

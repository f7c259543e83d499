"""The commands of the corpus: `karat import` and `karat freeze`."""

import json
import subprocess

import pytest
from django.core.management import CommandError, call_command

from apps.corpus.models import Block, Corpus, Snapshot
from apps.queries.models import Query
from tests.conftest import REPO
from tests.corpus.factories import make_corpus, zipped
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


def test_a_dry_run_says_what_it_would_do_and_changes_nothing(capsys, blocks):
    said = import_corpus(capsys, make_project(), blocks, dry_run=True)

    assert said == "Dry run, a new corpus, Handbook: 2 blocks: 2 new, 0 changed, 0 unchanged, 0 gone."
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


def test_only_a_lead_can_be_the_one_who_does_it(capsys, blocks, project):
    reviewer = make_member(project, "reviewer")

    with pytest.raises(CommandError, match="is not a lead"):
        import_corpus(capsys, project, blocks, user=reviewer.email)


def test_import_queries_with_a_source(capsys, tmp_path, project):
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

    first = import_corpus(capsys, project, folder / "cran.all.1400", corpus="cranfield", format="auto")
    again = import_corpus(capsys, project, folder / "cran.all.1400", corpus="cranfield", format="smart", ids="file")
    frozen = run(capsys, "freeze", project=project.slug, corpus="cranfield")
    queries = run(capsys, "import_queries", folder / "cran.qry", project=project.slug, format="smart", ids="position")

    assert "1,400 blocks: 1,400 new" in first
    assert "1,400 blocks: nothing changed." in again
    assert "1,400 blocks in 1,400 documents" in frozen
    assert "225 queries: 225 new" in queries
    assert sorted(map(int, Query.objects.values_list("outside_id", flat=True))) == list(range(1, 226))


# Documents: files, folders and zips ----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    docs = tmp_path / "docs"
    (docs / "deploy").mkdir(parents=True)
    (docs / "index.md").write_text("# Guide\n\nHello.\n")
    (docs / "deploy" / "pin.md").write_text("# Deploy\n\nA site follows its branch.\n\n## Pin\n\nName it.\n")
    (docs / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (docs / ".cache").mkdir()
    (docs / ".cache" / "x.md").write_text("Not this.")
    return docs


def import_documents(*paths, project=None, **options) -> None:
    given = {"project": (project or make_project()).slug, "corpus": "Handbook"} | options
    call_command("import_corpus", *map(str, paths), **given)


def ids() -> set[str]:
    return set(Block.objects.filter(current__isnull=False).values_list("outside_id", flat=True))


def test_a_folder_is_imported_and_what_stays_unread_is_named(capsys, folder):
    import_documents(folder)

    said = capsys.readouterr()
    assert said.out == "Imported, the corpus Handbook: 3 blocks: 3 new, 0 changed, 0 unchanged, 0 gone.\n"
    assert said.err == "not read: PNG picture: 1 file (logo.png)\nnot read: hidden: 1 file (.cache/)\n"
    assert ids() == {"index", "deploy/pin", "deploy/pin#pin"}


def test_a_nightly_job_reads_as_the_corpus_was_read_until_somebody_says_otherwise(capsys, folder, project):
    import_documents(folder, project=project, recipe="whole", base_url="https://docs.example.org")
    addresses = Block.objects.filter(outside_id="deploy/pin").values_list("current__metadata", flat=True)

    import_documents(folder, project=project, corpus="handbook")
    assert capsys.readouterr().out.endswith("Imported, the corpus Handbook: 2 blocks: nothing changed.\n")
    assert Corpus.objects.get().recipe == "whole"
    assert addresses.get() == {"url": "https://docs.example.org/deploy/pin"}

    import_documents(folder, project=project, corpus="handbook", base_url="")
    assert addresses.get() == {}


def test_files_of_a_named_ending_are_read_as_text_now_and_next_time(capsys, folder, project):
    (folder / "site.yaml").write_text("port: 80\n")
    import_documents(folder, project=project)
    assert "(site.yaml); --also-text yaml reads them as text\n" in capsys.readouterr().err

    import_documents(folder, project=project, corpus="handbook", also_text=".YAML")
    assert "site.yaml" in ids()

    import_documents(folder, project=project, corpus="handbook")
    assert "site.yaml" in ids()

    import_documents(folder, project=project, corpus="handbook", also_text="")
    assert "site.yaml" not in ids()


def test_an_ending_that_is_none_is_refused(folder):
    with pytest.raises(CommandError, match=r"\*\.yaml is not the ending of a file's name"):
        import_documents(folder, also_text="*.yaml")


def test_a_folder_its_zip_and_its_files_have_the_same_ids(folder, tmp_path):
    import_documents(folder, corpus="Folder")
    of_folder = ids()
    archive = tmp_path / "all.zip"
    files = {f"docs/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    archive.write_bytes(zipped(files))

    import_documents(archive, corpus="Zip")

    assert ids() == of_folder


def test_several_files_and_folders_keep_their_names_and_a_zip_beside_them_is_unpacked(folder, tmp_path):
    (tmp_path / "faq.md").write_text("Ask Petra.")
    archive = tmp_path / "more.zip"
    archive.write_bytes(zipped({"faq.md": "Ask Petra."}))

    import_documents(folder / "deploy", tmp_path / "faq.md", archive)

    assert ids() == {"deploy/pin", "deploy/pin#pin", "faq", "more/faq"}


def test_a_checkout_says_its_commit(capsys, folder):
    git = ["git", "-C", str(folder), "-c", "user.name=P", "-c", "user.email=p@example.org"]
    try:
        subprocess.run([*git, "init", "-q"], check=True)
    except FileNotFoundError:
        pytest.skip("git is not here")
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()

    import_documents(folder)

    assert f"note: Git commit {commit}.\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"recipe": "chapters"}, "chapters is not a recipe. Recipes are headings, paragraphs:200"),
        ({"base_url": "nowhere"}, "--base-url nowhere is not the address of a site"),
        ({"ids": "position"}, "Ids by position are for SMART files"),
    ],
)
def test_options_of_documents_that_do_not_fit_are_refused(folder, options, said):
    with pytest.raises(CommandError, match=said) as caught:
        import_documents(folder, **options)

    assert caught.value.returncode == 2
    assert Corpus.objects.count() == 0


def test_a_path_that_is_not_there_is_refused(folder):
    with pytest.raises(CommandError, match="there is no such file or folder") as caught:
        import_documents(folder, folder / "nowhere")
    assert caught.value.returncode == 2

    with pytest.raises(CommandError, match="cannot be opened") as caught:
        import_documents(folder / "none.jsonl", format="jsonl")
    assert caught.value.returncode == 2


def test_nothing_readable_is_refused_with_the_reasons(folder):
    (folder / "index.md").unlink()
    (folder / "deploy" / "pin.md").unlink()

    reasons = r"none of its files can be read \(PNG picture: 1 file, hidden: 1 file\)"
    with pytest.raises(CommandError, match=reasons) as caught:
        import_documents(folder)

    assert caught.value.returncode == 2


def test_the_kind_can_be_named(folder):
    import_documents(folder / "index.md", format="text")

    assert Block.objects.get().current.text == "# Guide\n\nHello."


def test_files_without_a_document_of_the_corpus_empty_it_only_in_words(folder, tmp_path, project):
    import_documents(folder, project=project)
    before = ids()
    other = tmp_path / "menu.md"
    other.write_text("# Menu\n\nSoup.\n")

    with pytest.raises(CommandError, match="No document of this file is in Handbook, and all its 3 passages would be"):
        import_documents(other, project=project, corpus="handbook")
    assert ids() == before

    import_documents(other, project=project, corpus="handbook", mode="merge")
    assert ids() == {*before, "menu"}
    import_documents(folder, project=project, corpus="handbook")
    import_documents(other, project=project, corpus="handbook", empty=True)
    assert ids() == {"menu"}

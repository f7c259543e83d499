"""`karat import corpus` with documents: files, folders and zips."""

import subprocess

import pytest
from django.core.management import CommandError, call_command

from apps.corpus.models import Block, Corpus
from tests.corpus.factories import zipped
from tests.factories import make_project

pytestmark = pytest.mark.django_db


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


def import_corpus(*paths, project=None, **options) -> None:
    given = {"project": (project or make_project()).slug, "corpus": "Handbook"} | options
    call_command("import_corpus", *map(str, paths), **given)


def ids() -> set[str]:
    return set(Block.objects.filter(current__isnull=False).values_list("outside_id", flat=True))


def test_a_folder_is_imported_and_what_stays_unread_is_named(capsys, folder):
    import_corpus(folder)

    said = capsys.readouterr()
    assert said.out == "Imported, the corpus Handbook: 3 blocks: 3 new, 0 changed, 0 unchanged, 0 gone.\n"
    assert said.err == "not read: picture: 1 file (logo.png)\nnot read: hidden: 1 file (.cache/)\n"
    assert ids() == {"index", "deploy/pin", "deploy/pin#pin"}


def test_files_of_a_named_ending_are_read_as_text_now_and_next_time(capsys, folder):
    project = make_project()
    (folder / "site.yaml").write_text("port: 80\n")
    import_corpus(folder, project=project)
    assert "(site.yaml); --also-text yaml reads them as text\n" in capsys.readouterr().err

    import_corpus(folder, project=project, corpus="handbook", also_text=".YAML")
    assert "site.yaml" in ids()

    import_corpus(folder, project=project, corpus="handbook")
    assert "site.yaml" in ids()

    import_corpus(folder, project=project, corpus="handbook", also_text="")
    assert "site.yaml" not in ids()


def test_an_ending_that_is_none_is_refused(folder):
    with pytest.raises(CommandError, match=r"\*\.yaml is not the ending of a file's name"):
        import_corpus(folder, also_text="*.yaml")


def test_the_second_run_changes_nothing(capsys, folder):
    project = make_project()
    import_corpus(folder, project=project)
    capsys.readouterr()

    import_corpus(folder, project=project, corpus="handbook")

    assert capsys.readouterr().out == "Imported, the corpus Handbook: 3 blocks: nothing changed.\n"


def test_a_folder_its_zip_and_its_files_have_the_same_ids(folder, tmp_path):
    import_corpus(folder, corpus="Folder")
    of_folder = ids()
    archive = tmp_path / "all.zip"
    files = {f"docs/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    archive.write_bytes(zipped(files))

    import_corpus(archive, corpus="Zip")

    assert ids() == of_folder


def test_several_files_and_folders_keep_their_names(folder, tmp_path):
    (tmp_path / "faq.md").write_text("Ask Petra.")

    import_corpus(folder / "deploy", tmp_path / "faq.md")

    assert ids() == {"deploy/pin", "deploy/pin#pin", "faq"}


def test_a_zip_beside_other_paths_is_unpacked(folder, tmp_path):
    archive = tmp_path / "more.zip"
    archive.write_bytes(zipped({"faq.md": "Ask Petra."}))

    import_corpus(folder / "deploy", archive)

    assert ids() == {"deploy/pin", "deploy/pin#pin", "more/faq"}


def test_a_nightly_job_keeps_the_recipe_of_the_corpus(capsys, folder):
    project = make_project()
    import_corpus(folder, project=project, recipe="whole")

    import_corpus(folder, project=project, corpus="handbook")

    assert capsys.readouterr().out.endswith("2 blocks: nothing changed.\n")
    assert Corpus.objects.get().recipe == "whole"


def test_another_recipe_is_said_to_change_ids(capsys, folder):
    project = make_project()
    import_corpus(folder, project=project)
    capsys.readouterr()

    import_corpus(folder, project=project, corpus="handbook", recipe="whole", dry_run=True)

    assert capsys.readouterr().err.startswith("note: Ids change: until now the corpus was cut by headings")


def test_with_the_address_of_the_site_passages_link_to_their_pages(folder):
    import_corpus(folder, base_url="https://docs.example.org")

    pinned = Block.objects.get(outside_id="deploy/pin#pin").current
    assert pinned.metadata == {"url": "https://docs.example.org/deploy/pin#pin"}


def test_the_next_import_keeps_the_address_of_the_site_until_it_is_taken_away(folder):
    project = make_project()
    import_corpus(folder, project=project, base_url="https://docs.example.org")
    addresses = Block.objects.filter(outside_id="deploy/pin#pin").values_list("current__metadata", flat=True)

    import_corpus(folder, project=project, corpus="handbook")
    assert addresses.get() == {"url": "https://docs.example.org/deploy/pin#pin"}

    import_corpus(folder, project=project, corpus="handbook", base_url="")
    assert addresses.get() == {}


def test_a_checkout_says_its_commit(capsys, folder):
    git = ["git", "-C", str(folder), "-c", "user.name=P", "-c", "user.email=p@example.org"]
    try:
        subprocess.run([*git, "init", "-q"], check=True)
    except FileNotFoundError:
        pytest.skip("git is not here")
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()

    import_corpus(folder)

    assert f"note: Git commit {commit}.\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"recipe": "chapters"}, "chapters is not a recipe. Recipes are headings, paragraphs:200"),
        ({"base_url": "nowhere"}, "--base-url nowhere is not the address of a site"),
        ({"ids": "position"}, "Ids by position are for SMART files"),
    ],
)
def test_options_that_do_not_fit_are_refused(folder, options, said):
    with pytest.raises(CommandError, match=said) as caught:
        import_corpus(folder, **options)

    assert caught.value.returncode == 2
    assert Corpus.objects.count() == 0


def test_a_path_that_is_not_there_is_refused(folder):
    with pytest.raises(CommandError, match="there is no such file or folder") as caught:
        import_corpus(folder, folder / "nowhere")

    assert caught.value.returncode == 2


def test_nothing_readable_is_refused_with_the_reasons(folder):
    (folder / "index.md").unlink()
    (folder / "deploy" / "pin.md").unlink()

    reasons = r"none of its files can be read \(picture: 1 file, hidden: 1 file\)"
    with pytest.raises(CommandError, match=reasons) as caught:
        import_corpus(folder)

    assert caught.value.returncode == 2


def test_the_kind_can_be_named(folder):
    import_corpus(folder / "index.md", format="text")

    assert Block.objects.get().current.text == "# Guide\n\nHello."


def test_files_without_a_document_of_the_corpus_empty_it_only_in_words(folder, tmp_path):
    project = make_project()
    import_corpus(folder, project=project)
    before = ids()
    other = tmp_path / "menu.md"
    other.write_text("# Menu\n\nSoup.\n")

    with pytest.raises(CommandError, match="No document of this file is in Handbook, and all its 3 passages would be"):
        import_corpus(other, project=project, corpus="handbook")
    assert ids() == before

    import_corpus(other, project=project, corpus="handbook", mode="merge")
    assert ids() == {*before, "menu"}
    import_corpus(folder, project=project, corpus="handbook")
    import_corpus(other, project=project, corpus="handbook", empty=True)
    assert ids() == {"menu"}

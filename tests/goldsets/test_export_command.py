import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.audit.models import Event
from apps.config.commandline import main as karat
from apps.goldsets.actions.slices import make_rotating_slice
from apps.goldsets.enums import VersionState
from tests.factories import AT
from tests.goldsets.factories import DENSE, LEXICAL, make_bench, make_ranked_bench, make_version

pytestmark = pytest.mark.django_db


def run(*words: str) -> None:
    call_command("export", *words)


def test_export_twice_gives_the_same_bytes_which_karat_verify_finds_intact(tmp_path, capsys, bench):
    version = make_version(VersionState.RELEASED, bench)
    for name in ("one", "two"):
        run("--project", version.gold_set.project.slug, "--version", "handbook/v1", "--out", str(tmp_path / name))

    assert f"{tmp_path / 'one' / 'trec' / 'qrels.txt'}\n" in capsys.readouterr().out
    assert karat(["verify", str(tmp_path / "one")]) == 0
    assert capsys.readouterr().out.startswith("Intact: 33 files")
    one, two = (
        {p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file()}
        for name in ("one", "two")
    )
    assert one == two


def test_slices_come_along_when_they_are_asked_for(tmp_path, capsys):
    version = make_version(VersionState.RELEASED, make_bench(queries=6), test_share=0.0)
    make_rotating_slice(version_id=version.pk, size=3, actor=version.created_by, at=AT)
    slug = version.gold_set.project.slug

    run("--project", slug, "--format", "trec", "--out", str(tmp_path / "plain"))
    run("--project", slug, "--format", "trec", "--slices", "--out", str(tmp_path / "sliced"))

    assert not (tmp_path / "plain/slices.json").exists()
    assert f"{tmp_path / 'sliced/slices.json'}\n" in capsys.readouterr().out
    assert karat(["verify", str(tmp_path / "sliced")]) == 0


def test_runs_are_named_for_their_scores(tmp_path, capsys):
    bench = make_ranked_bench(lexical=LEXICAL, dense=DENSE)
    make_version(VersionState.RELEASED, bench, test_share=0.0)

    run("--project", bench.project.slug, "--format", "letor", "--run", "dense", "--out", str(tmp_path / "one"))

    assert (tmp_path / "one/letor/dev.txt").read_text().startswith("2 qid:1 1:-1.5 # ")
    with pytest.raises(CommandError, match="sparse is no complete run"):
        run("--project", bench.project.slug, "--format", "letor", "--run", "sparse", "--out", str(tmp_path / "two"))


def test_without_a_name_the_latest_release_is_written_and_recorded(tmp_path, bench):
    make_version(VersionState.RELEASED, bench)
    make_version(VersionState.FROZEN, bench)

    run("--project", bench.project.slug, "--format", "trec", "--format", "csv", "--out", str(tmp_path))

    event = Event.objects.get(action="version.exported")
    assert (event.actor, event.object_label) == (None, "Handbook v1")
    assert event.after == {"formats": ["trec", "csv"], "splits": ["dev", "test"]}


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["--project", "nowhere"], "There is no project “nowhere”", 2),
        (["--version", "handbook"], "“handbook” does not name a version. Write it as handbook/v3", 2),
        (["--version", "handbook/v9"], "There is no version “handbook/v9” in .*There are: handbook/v1", 2),
        ([], "No version is released yet", 2),
        (["--version", "handbook/v1"], "v1 is a draft", 3),
    ],
)
def test_wrong_names_and_a_draft_are_refused_in_words(tmp_path, words, said, code, bench):
    version = make_version(VersionState.DRAFT, bench)
    given = words if "--project" in words else ["--project", version.gold_set.project.slug, *words]

    with pytest.raises(CommandError, match=said) as wrong:
        run(*given, "--out", str(tmp_path))
    assert wrong.value.returncode == code


def test_a_folder_that_is_not_empty_is_never_written_into(tmp_path, bench):
    version = make_version(VersionState.RELEASED, bench)
    (tmp_path / "mine.txt").write_text("keep")

    with pytest.raises(CommandError, match="is not empty"):
        run("--project", version.gold_set.project.slug, "--out", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_tutorial_prints_the_files_that_its_command_writes(tmp_path, capsys, bench):
    """Its version has both splits and a Q&A; names, times and so bytes are other ones here."""
    tutorial = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text()
    command, listed, count = re.search(
        r"^\$ karat export --project hut --out gold(.*)\n((?:gold/.*\n)+)\$ karat verify gold\nIntact: (\d+) files,",
        tutorial,
        re.MULTILINE,
    ).groups()
    version = make_version(VersionState.RELEASED, bench, test_share=0.5)

    run("--project", version.gold_set.project.slug, "--out", str(tmp_path / "gold"), *command.split())

    assert capsys.readouterr().out.replace(f"{tmp_path}/", "") == listed
    assert karat(["verify", str(tmp_path / "gold")]) == 0
    assert capsys.readouterr().out.startswith(f"Intact: {count} files,")

"""A released version keeps its bytes whatever people do afterwards, and nothing forged leaves the house."""

import json
from copy import deepcopy
from hashlib import sha256
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.accounts.actions.people import deactivate_user
from apps.accounts.models import User
from apps.audit.execution.sealing import seal_all
from apps.audit.execution.verification import verify_chain
from apps.common.database import triggers
from apps.corpus.actions.corpora import create_corpus, redact_version
from apps.corpus.enums import ImportMode
from apps.corpus.execution.freezing import freeze_snapshot
from apps.corpus.models import Block, BlockVersion, Document, Snapshot
from apps.goldsets.enums import VersionState
from apps.goldsets.execution import exporting
from apps.goldsets.execution.exporting import fault_of
from apps.goldsets.execution.freezing import items_digest
from apps.goldsets.formats.folder import manifest_bytes
from apps.goldsets.formats.verification import verify
from apps.goldsets.formats.zipping import CHECKSUMS, MANIFEST, checksums
from apps.goldsets.models import GoldSet, Version
from apps.queries.models import Query, Source
from tests.corpus.factories import import_text
from tests.factories import AT, lead_of, make_project
from tests.goldsets.factories import Bench, by_block, make_bench, make_source, make_version
from tests.judging.factories import judge_all, make_pool, make_round

pytestmark = pytest.mark.django_db

BLOCKS = [
    {
        "block_id": "access",
        "document_id": "security",
        "document_title": "Security handbook",
        "title": "Access",
        "text": "A session lasts at most eight hours.",
        "metadata": {"url": "https://example.org/access", "owner": "IT"},
    },
    {"block_id": "backups", "document_id": "security", "title": "Backups", "text": "Copied twice a day."},
    {"block_id": "keys", "document_id": "keys", "document_title": "Keys", "title": "Keys", "text": "Ada holds one."},
]


def jsonl(blocks: list[dict]) -> str:
    return "\n".join(json.dumps(block) for block in blocks)


@pytest.fixture(scope="module")
def _version(module_rows) -> Version:
    project = make_project()
    lead = lead_of(project)
    corpus = create_corpus(project=project, name="Handbook", actor=lead, at=AT)
    import_text(corpus, jsonl(BLOCKS))
    snapshot = freeze_snapshot(corpus_id=corpus.pk, actor=lead, at=AT)
    source = make_source(project)
    pool = make_pool(project, queries=2, snapshot=snapshot)
    Query.objects.filter(project=project).update(source=source)
    round_ = make_round(project, pool=pool, annotators=1, overlap=0)
    for place in round_.annotators.select_related("annotator"):
        judge_all(round_, place.annotator, by_block)
    return make_version(VersionState.RELEASED, Bench(project, snapshot, pool, round_, source))


@pytest.fixture
def version(db, _version) -> Version:
    """Released on a corpus that was imported, with titles of documents and metadata of blocks."""
    return deepcopy(_version)


def bytes_of(version: Version, folder: Path, **options) -> dict[str, bytes]:
    """Every file of every form, as it is exported now."""
    folder.mkdir()
    version = Version.objects.select_related("gold_set__project", "snapshot", "guideline").get(pk=version.pk)
    exporting.write(version, folder, formats=["all"], **options)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def force(statement: str, *values) -> None:
    """What somebody with the database's own password can do: past the guards."""
    connection.check_constraints()
    kept = triggers.drop_all(connection)
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
    connection.check_constraints()
    triggers.restore_all(connection, kept)


def change_everything(version: Version) -> None:
    """Import other titles, metadata and texts, rename what has a name, end what can be ended."""
    project, corpus = version.gold_set.project, version.snapshot.corpus
    other = [
        {**block, "document_title": "Renamed", "metadata": {"url": "https://elsewhere.example"}} for block in BLOCKS
    ]
    import_text(corpus, jsonl(other), mode=ImportMode.MERGE)
    import_text(corpus, jsonl([{**block, "title": "Other", "text": "Other words."} for block in other[:2]]))
    freeze_snapshot(corpus_id=corpus.pk, actor=lead_of(project), at=AT)
    type(project).objects.filter(pk=project.pk).update(name="Renamed", slug="renamed")
    GoldSet.objects.filter(pk=version.gold_set_id).update(name="Renamed", description="Other")
    type(corpus).objects.filter(pk=corpus.pk).update(name="Renamed", slug="renamed", language="de")
    Source.objects.filter(project=project).update(name="Renamed", slug="renamed", target_share=0.1)
    Query.objects.filter(project=project).update(
        retired_at=AT, difficulty="hard", domain="other", query_type="other", tags=["other"], label="Other"
    )
    people = User.objects.filter(memberships__project=project, is_operator=False).exclude(pk=lead_of(project).pk)
    for user in people.distinct():
        deactivate_user(user_id=user.pk, actor=None, at=AT)
    User.objects.update(name="Renamed")


def test_a_released_version_keeps_every_byte_whatever_is_imported_renamed_and_ended(version, tmp_path):
    before = bytes_of(version, tmp_path / "before")
    assert b"https://example.org/access" in before["jsonl/corpus.jsonl"]
    assert b"Security handbook" in before["jsonl/corpus.jsonl"]

    change_everything(version)

    after = bytes_of(version, tmp_path / "after")
    assert sorted(after) == sorted(before)
    assert [path for path in before if after[path] != before[path]] == []
    assert verify(tmp_path / "after").is_intact


def test_a_next_version_has_the_titles_and_metadata_of_its_own_snapshot(version, tmp_path):
    change_everything(version)

    newest = Snapshot.objects.latest("pk")

    titles = dict(newest.titles.values_list("document__outside_id", "title"))
    assert titles == {"security": "Renamed"}
    assert newest.digest != version.snapshot.digest


@pytest.mark.parametrize(
    ("statement", "values", "said"),
    [
        ("UPDATE corpus_blockversion SET text = %s WHERE title = 'Keys'", ["Eve holds one."], "text of block keys"),
        ("UPDATE corpus_blockversion SET title = %s WHERE title = 'Keys'", ["Locks"], "text of block keys"),
        ("UPDATE corpus_blockversion SET metadata = %s WHERE title = 'Access'", ["{}"], "metadata of block access"),
        ("UPDATE corpus_document SET outside_id = %s WHERE outside_id = 'keys'", ["locks"], "ids or titles"),
        ("UPDATE corpus_block SET outside_id = %s WHERE outside_id = 'keys'", ["locks"], "another block"),
        ("UPDATE corpus_snapshotdocument SET title = %s WHERE title = 'Keys'", ["Locks"], "ids or titles"),
        ("UPDATE corpus_snapshot SET digest = %s", ["0" * 64], "Version"),
        (
            "UPDATE corpus_blockversion SET text = '', redaction_reason = 'x', redacted_at = %s WHERE title = 'Keys'",
            [AT],
            "the audit records no redaction",
        ),
    ],
)
def test_a_forged_corpus_is_detected_and_not_exported(version, tmp_path, statement, values, said):
    seal_all()
    force(statement, *values)

    with pytest.raises(exporting.ExportRefused, match=said) as refused:
        bytes_of(version, tmp_path / "export")

    assert "karat verify-audit" in refused.value.sentence
    assert list((tmp_path / "export").iterdir()) == []
    verdict = verify_chain(version.gold_set.project)
    assert verdict.broken is None
    assert any(said in fault for fault in verdict.faults)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE goldsets_versiongrade SET grade = grade + 1", "its items are not those"),
        ("UPDATE goldsets_versionquery SET text = 'Other'", "its items are not those"),
        ("UPDATE goldsets_versiongrade SET position = 0", "a grade refers to another block"),
        (
            "UPDATE goldsets_versiongrade SET block_version_id = (SELECT MIN(id) FROM corpus_blockversion)"
            " WHERE block_id = 'keys' AND id = (SELECT MIN(id) FROM goldsets_versiongrade WHERE block_id = 'keys')",
            "a grade refers to another block",
        ),
        ("UPDATE goldsets_version SET digest = '1'", "its items are not those"),
        ("UPDATE accounts_project SET scale = '[]'", "its items are not those"),
    ],
)
def test_a_forged_version_is_detected_and_not_exported(version, tmp_path, statement, said):
    seal_all()
    if "block_version_id" in statement:
        force("DELETE FROM goldsets_versiongrade WHERE block_id = 'access'")
    force(statement)

    with pytest.raises(exporting.ExportRefused):
        bytes_of(version, tmp_path / "export")

    assert any(said in fault or "its items" in fault for fault in verify_chain(version.gold_set.project).faults)


def test_a_digest_that_was_forged_along_with_the_items_is_detected_by_the_audit(version):
    seal_all()
    force("UPDATE goldsets_versionquery SET text = 'Other'")
    forged = items_digest(version)
    force("UPDATE goldsets_version SET digest = %s", forged)
    version.refresh_from_db()

    assert fault_of(version) == f"Version {version}: the audit trail has another digest than {forged}."


def test_a_forged_manifest_is_detected(version):
    seal_all()
    force("UPDATE goldsets_version SET manifest = %s", json.dumps({**version.manifest, "note": "Other"}))
    version.refresh_from_db()

    assert fault_of(version) == f"Version {version}: its manifest is not the one that was frozen."


def test_an_attack_by_replace_is_rejected_and_detected(version, tmp_path):
    """A text was put in the place of a released one, under its old digest, and everything called it intact."""
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL knows no REPLACE")
    seal_all()
    forged = BlockVersion.objects.get(block__outside_id="keys")
    columns = [field.column for field in BlockVersion._meta.concrete_fields]
    chosen = ", ".join("'Eve holds one.'" if column == "text" else f'"{column}"' for column in columns)
    statement = f"REPLACE INTO corpus_blockversion ({', '.join(columns)}) SELECT {chosen} FROM corpus_blockversion"

    with pytest.raises(Exception, match="never replaced"), connection.cursor() as cursor:
        cursor.execute(f"{statement} WHERE id = %s", [forged.pk])
    assert fault_of(version) is None
    force(f"{statement} WHERE id = %s", forged.pk)

    said = "the text of block keys is not the one that was frozen"
    with pytest.raises(exporting.ExportRefused, match=said):
        bytes_of(version, tmp_path / "export")
    with pytest.raises(SystemExit):
        call_command("verify_audit")
    slug = version.gold_set.project.slug
    with pytest.raises(CommandError, match=said):
        call_command("export", project=slug, out=tmp_path / "command")


def test_a_redacted_text_leaves_the_export_intact(version, tmp_path):
    text = BlockVersion.objects.get(block__outside_id="access")
    redact_version(version_id=text.pk, reason="asked for", actor=lead_of(version.gold_set.project), at=AT)

    there = bytes_of(version, tmp_path / "export")

    line = json.loads(there["jsonl/corpus.jsonl"].splitlines()[0])
    assert (line["text"], line["redacted"]["digest"]) == ("", text.digest)
    assert verify(tmp_path / "export").faults == []


def test_karat_verify_finds_a_text_that_was_forged_with_its_manifest(version, tmp_path):
    """The digests of the files were taken anew; those of the release were not."""
    folder = tmp_path / "export"
    there = bytes_of(version, folder)
    (folder / "jsonl/corpus.jsonl").write_bytes(there["jsonl/corpus.jsonl"].replace(b"Ada", b"Eve"))
    (folder / "jsonl/queries.jsonl").write_bytes(there["jsonl/queries.jsonl"].replace(b"Q", b"R"))
    sign_files_anew(folder)

    faults = verify(folder).faults

    assert faults == [
        "jsonl/corpus.jsonl does not contain the texts of the snapshot in the manifest.",
        "The items are not those that were frozen under the digest in the manifest.",
    ]


def sign_files_anew(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_bytes())
    for entry in manifest["files"]:
        data = (folder / entry["path"]).read_bytes()
        entry |= {"bytes": len(data), "sha256": sha256(data).hexdigest()}
    data = manifest_bytes(manifest)
    (folder / MANIFEST).write_bytes(data)
    (folder / CHECKSUMS).write_bytes(checksums(manifest, data))


def test_an_export_of_one_side_without_names_is_intact(version, tmp_path):
    bytes_of(version, tmp_path / "export", splits=["dev"], names=False)

    assert verify(tmp_path / "export").faults == []


def test_a_version_cut_from_every_kind_of_item_is_as_it_was_frozen():
    version = make_version(VersionState.RELEASED, make_bench())

    assert fault_of(version) is None
    assert verify_chain(version.gold_set.project).faults == []
    corpus = version.snapshot.corpus
    assert Block.objects.filter(corpus=corpus).count() == 3
    assert Document.objects.filter(corpus=corpus).count() == 1

from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, append_only, frozen_when, same, with_project


def version_is_frozen(row: str) -> str:
    return f'(SELECT "state" FROM "goldsets_version" WHERE "id" = {row}."version_id") <> \'draft\''


VERSION_FACTS = same(
    "id",
    "gold_set_id",
    "number",
    "snapshot_id",
    "guideline_id",
    "test_share",
    "group_by",
    "seed",
    "note",
    "digest",
    "manifest",
    "created_by_id",
    "created_at",
    "frozen_by_id",
    "frozen_at",
)

RELEASE_FACTS = same("released_by_id", "released_at")

NEXT_STATE = (
    '(OLD."state" = NEW."state"'
    " OR (OLD.\"state\" = 'frozen' AND NEW.\"state\" = 'released')"
    " OR (OLD.\"state\" = 'released' AND NEW.\"state\" = 'superseded'))"
)

ITEMS = ("goldsets_versionquery", "goldsets_versiongrade", "goldsets_versiontriple", "goldsets_version_rounds")


def items_are_frozen(table: str) -> list[Guard]:
    return [
        *frozen_when(table, version_is_frozen("OLD"), "an item of a frozen version"),
        Guard(table, "INSERT", "a frozen version takes no further items", version_is_frozen("NEW")),
    ]


WITHDRAWN = 'EXISTS (SELECT 1 FROM "judging_round" WHERE "id" = NEW."round_id" AND "withdrawn_at" IS NOT NULL)'

IN_A_VERSION = """NEW."withdrawn_at" IS NOT NULL
  AND EXISTS (SELECT 1 FROM "goldsets_version_rounds" WHERE "round_id" = NEW."id")"""

SLICES, MEMBERS = "goldsets_slice", "goldsets_slicemember"


def of_slice(column: str) -> str:
    return f'(SELECT "{column}" FROM "{SLICES}" WHERE "id" = NEW."slice_id")'


def is_foreign(table: str, column: str) -> str:
    """The item is of another version, or of the sealed test split."""
    return (
        f'NEW."{column}" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "{table}" WHERE "id" = NEW."{column}"'
        f' AND "split" = \'dev\' AND "version_id" = {of_slice("version_id")})'
    )


DRAFT = '(SELECT "state" FROM "goldsets_version" WHERE "id" = NEW."version_id") = \'draft\''
HELD = f'(SELECT COUNT(*) FROM "{MEMBERS}" WHERE "slice_id" = NEW."slice_id")'
FULL = f"{of_slice('rows')} IS NOT NULL AND {HELD} >= {of_slice('rows')}"

KEYS = "goldsets_signingkey"
KEY_FACTS = same("id", "project_id", "public_key", "sealed", "made_by_id", "made_at")

RELEASES, STAYS, PARTS = "goldsets_publicrelease", "goldsets_publicstay", "goldsets_publicpart"
PREPARED = same(
    "id",
    "version_id",
    "title",
    "holder",
    "licence",
    "splits",
    "card",
    "report",
    "digest",
    "size",
    "prepared_by_id",
    "prepared_at",
    "asked_id",
    "asked_at",
)
SIGNED = same("signed_by_id", "signed_at")
RELEASED = same("released_by_id", "released_at")
CHOOSING = "('preparing', 'failed', 'prepared')"
NEXT_STEP = (
    '(OLD."state" = NEW."state"'
    " OR (OLD.\"state\" = 'preparing' AND NEW.\"state\" IN ('prepared', 'failed', 'withdrawn'))"
    " OR (OLD.\"state\" = 'failed' AND NEW.\"state\" IN ('preparing', 'withdrawn'))"
    " OR (OLD.\"state\" = 'prepared' AND NEW.\"state\" IN ('preparing', 'signed', 'withdrawn'))"
    " OR (OLD.\"state\" = 'signed' AND NEW.\"state\" IN ('released', 'withdrawn'))"
    " OR (OLD.\"state\" = 'released' AND NEW.\"state\" = 'withdrawn'))"
)
HAS_FILES = f'EXISTS (SELECT 1 FROM "{PARTS}" WHERE "release_id" = NEW."id")'
NEVER_OUT = (
    f'EXISTS (SELECT 1 FROM "{RELEASES}" WHERE "id" = OLD."release_id"'
    ' AND ("state" = \'preparing\' OR ("state" = \'withdrawn\' AND "released_at" IS NULL)))'
)


def state_of(row: str) -> str:
    return f'(SELECT "state" FROM "{RELEASES}" WHERE "id" = {row}."release_id")'


MANIFESTS = "goldsets_trainingmanifest"
MANIFEST_FACTS = same("id", "project_id", "name", "file", "digest", "counts", "added_by_id", "added_at")

VERSION = "version_id goldsets_version gold_set_id goldsets_goldset project_id"
PATHS = {
    "goldsets_publiclook": f"release_id goldsets_publicrelease {VERSION}",
    "goldsets_publicpart": f"release_id goldsets_publicrelease {VERSION}",
    "goldsets_publicrelease": VERSION,
    "goldsets_publicstay": f"release_id goldsets_publicrelease {VERSION}",
    "goldsets_signingkey": "project_id",
    "goldsets_slice": VERSION,
    "goldsets_slicemember": f"slice_id goldsets_slice {VERSION}",
    "goldsets_trainingentry": "manifest_id goldsets_trainingmanifest project_id",
    "goldsets_trainingmanifest": "project_id",
    "goldsets_version": "gold_set_id goldsets_goldset project_id",
    "goldsets_version_rounds": VERSION,
    "goldsets_versiongrade": VERSION,
    "goldsets_versionloss": VERSION,
    "goldsets_versionquery": VERSION,
    "goldsets_versiontriple": VERSION,
}

GUARDS = with_project(
    [
        Guard(
            "goldsets_version",
            "UPDATE",
            "a frozen version never changes",
            f"OLD.\"state\" <> 'draft' AND NOT ({VERSION_FACTS} AND {NEXT_STATE})",
        ),
        Guard(
            "goldsets_version",
            "UPDATE",
            "a released version stays released as it was",
            f'OLD."released_at" IS NOT NULL AND NOT ({RELEASE_FACTS})',
            name="release",
        ),
        Guard(
            "goldsets_version",
            "UPDATE",
            "a frozen version stays split as it was",
            f"OLD.\"state\" <> 'draft' AND NOT ({same('split_by')})",
            name="split_by",
        ),
        Guard("goldsets_version", "DELETE", "a frozen version is never deleted", "OLD.\"state\" <> 'draft'"),
        *frozen_when("goldsets_versionloss", version_is_frozen("OLD"), "what a frozen version left out"),
        Guard("goldsets_versionloss", "INSERT", "what a frozen version left out is fixed", version_is_frozen("NEW")),
        *(guard for table in ITEMS for guard in items_are_frozen(table)),
        Guard("goldsets_version_rounds", "INSERT", "a version takes no withdrawn grades", WITHDRAWN, name="withdrawn"),
        Guard(
            "judging_round",
            "UPDATE",
            "grades that a version rests on are not withdrawn",
            IN_A_VERSION,
            name="in_version",
        ),
        *append_only(SLICES, "a slice"),
        *append_only(MEMBERS, "a question of a slice"),
        Guard(SLICES, "INSERT", "a draft has no slices", DRAFT),
        Guard(MEMBERS, "INSERT", "a rotating slice takes no further questions", FULL),
        Guard(
            MEMBERS,
            "INSERT",
            "a slice has dev queries of its version",
            is_foreign("goldsets_versionquery", "query_id"),
            name="query",
        ),
        Guard(
            MEMBERS,
            "INSERT",
            "a slice has dev triples of its version",
            is_foreign("goldsets_versiontriple", "triple_id"),
            name="triple",
        ),
        Guard(
            KEYS,
            "UPDATE",
            "a signing key never changes, and ends once",
            f'OLD."ended_at" IS NOT NULL OR NOT ({KEY_FACTS})',
        ),
        Guard(KEYS, "DELETE", "a signing key is never deleted: what it signed names it"),
        Guard(RELEASES, "DELETE", "a public release is never deleted; withdraw it"),
        Guard(
            RELEASES,
            "UPDATE",
            "a signed public release never changes",
            f"NOT {NEXT_STEP}"
            f' OR ((OLD."state" NOT IN {CHOOSING} OR NEW."state" = \'signed\') AND NOT ({PREPARED}))'
            f' OR (OLD."signed_at" IS NOT NULL AND NOT ({SIGNED}))'
            f' OR (OLD."released_at" IS NOT NULL AND NOT ({RELEASED}))'
            " OR OLD.\"state\" = 'withdrawn'"
            f" OR (OLD.\"state\" = 'preparing' AND NEW.\"state\" = 'prepared' AND NOT {HAS_FILES})",
        ),
        *frozen_when(STAYS, f"{state_of('OLD')} <> 'preparing'", "what a prepared public release keeps in"),
        Guard(STAYS, "INSERT", "what a prepared public release keeps in is fixed", f"{state_of('NEW')} <> 'preparing'"),
        *append_only("goldsets_publiclook", "a look at a public release"),
        Guard(PARTS, "UPDATE", "a part of a public release is never changed"),
        Guard(
            PARTS,
            "DELETE",
            "the files of a prepared public release are never deleted",
            f"NOT {NEVER_OUT}",
            and_truncation=True,
        ),
        Guard(
            PARTS,
            "INSERT",
            "a public release has its files when it is prepared",
            f"{state_of('NEW')} <> 'preparing'",
        ),
        Guard(
            MANIFESTS,
            "UPDATE",
            "a training manifest never changes, and is retired once",
            f'OLD."retired_at" IS NOT NULL OR NOT ({MANIFEST_FACTS})',
        ),
        Guard(
            MANIFESTS, "DELETE", "a training manifest is never deleted: versions name what they were checked against"
        ),
        *append_only("goldsets_trainingentry", "an entry of a training manifest"),
    ],
    PATHS,
)


class Migration(migrations.Migration):
    """What nobody changes or deletes, from any client; the rows of a project that is deleted go with it."""

    replaces = [
        ("goldsets", "0002_guards"),
        ("goldsets", "0003_withdrawn_rounds"),
        ("goldsets", "0004_slices"),
        ("goldsets", "0006_signing_key_guards"),
        ("goldsets", "0007_public_releases"),
        ("goldsets", "0008_split_by_time"),
        ("goldsets", "0009_public_jobs"),
        ("goldsets", "0010_training_manifests"),
        ("goldsets", "0011_deleted_projects"),
    ]

    dependencies = [
        ("goldsets", "0001_tables"),
    ]

    operations = [InstallGuards(GUARDS)]

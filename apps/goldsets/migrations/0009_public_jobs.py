"""The files of a public release are built by a job, and kept from the moment when it is prepared."""

from importlib import import_module

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Q

from apps.common.database.triggers import Guard, InstallGuards, LiftGuards, append_only, frozen_when

before = import_module("apps.goldsets.migrations.0007_public_releases")

RELEASES, STAYS, PARTS = before.RELEASES, "goldsets_publicstay", "goldsets_publicpart"
PREPARED, SIGNED, RELEASED, state_of = before.PREPARED, before.SIGNED, before.RELEASED, before.state_of
CHOOSING = "('preparing', 'failed', 'prepared')"
NEXT_STATE = (
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
    " AND (\"state\" = 'preparing' OR (\"state\" = 'withdrawn' AND \"released_at\" IS NULL)))"
)

GUARDS = [
    before.GUARDS[0],
    Guard(
        RELEASES,
        "UPDATE",
        "a signed public release never changes",
        f"NOT {NEXT_STATE}"
        f' OR ((OLD."state" NOT IN {CHOOSING} OR NEW."state" = \'signed\') AND NOT ({PREPARED}))'
        f' OR (OLD."signed_at" IS NOT NULL AND NOT ({SIGNED}))'
        f' OR (OLD."released_at" IS NOT NULL AND NOT ({RELEASED}))'
        " OR OLD.\"state\" = 'withdrawn'"
        f" OR (OLD.\"state\" = 'preparing' AND NEW.\"state\" = 'prepared' AND NOT {HAS_FILES})",
    ),
    *frozen_when(STAYS, f"{state_of('OLD')} <> 'preparing'", "what a prepared public release keeps in"),
    Guard(
        STAYS, "INSERT", "what a prepared public release keeps in is fixed", f"{state_of('NEW')} <> 'preparing'"
    ),
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
]

STATES = [
    ("preparing", "being prepared"),
    ("failed", "not prepared"),
    ("prepared", "prepared"),
    ("signed", "signed"),
    ("released", "released"),
    ("withdrawn", "withdrawn"),
]
FITS = "public_release_state_fits_its_times"
AFTER_SIGNING = (
    Q(state="signed", signed_at__isnull=False, released_at=None, withdrawn_at=None)
    | Q(state="released", signed_at__isnull=False, released_at__isnull=False, withdrawn_at=None)
    | Q(state="withdrawn", withdrawn_at__isnull=False)
)
NO_FILES = "It was prepared before Karat kept the files of what is prepared. Prepare it again."


def begin_anew(apps, schema_editor):
    """What was not released yet has no files: what is prepared is prepared again, what is signed is withdrawn."""
    releases = apps.get_model("goldsets", "PublicRelease").objects
    releases.filter(state="prepared").update(state="failed", digest="", size=0, report={})
    releases.filter(state="signed").update(
        state="withdrawn", withdrawn_at=F("signed_at"), withdrawn_by=F("signed_by"), withdrawal_reason=NO_FILES
    )
    _check_rows_now(schema_editor.connection)


def forget_files(apps, schema_editor):
    """Files of what is not released are built again at its release; what has none is withdrawn."""
    releases = apps.get_model("goldsets", "PublicRelease").objects
    releases.filter(state__in=["preparing", "failed"]).update(
        state="withdrawn", withdrawn_at=F("prepared_at"), withdrawal_reason="It was not prepared."
    )
    apps.get_model("goldsets", "PublicPart").objects.filter(release__released_at=None).delete()
    _check_rows_now(schema_editor.connection)


def _check_rows_now(connection):
    """PostgreSQL does not alter a table with rows whose foreign keys are not checked yet."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    dependencies = [
        ("goldsets", "0008_split_by_time"),
        ("jobs", "0001_initial"),
    ]

    operations = [
        LiftGuards(before.GUARDS),
        migrations.RemoveConstraint("publicrelease", FITS),
        migrations.AddField(
            "publicrelease",
            "job",
            models.ForeignKey(
                help_text="The last one that built the files.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="jobs.job",
            ),
        ),
        migrations.AlterField(
            "publicrelease", "state", models.CharField(choices=STATES, default="preparing", max_length=12)
        ),
        migrations.AlterField("publicrelease", "digest", models.CharField(blank=True, max_length=64)),
        migrations.AlterField("publicrelease", "size", models.PositiveBigIntegerField(default=0)),
        migrations.RunPython(begin_anew, forget_files),
        migrations.AddConstraint(
            "publicrelease",
            models.CheckConstraint(
                name=FITS,
                condition=Q(
                    state__in=["preparing", "failed", "prepared"], signed_at=None, released_at=None, withdrawn_at=None
                )
                | AFTER_SIGNING,
            ),
        ),
        migrations.AddConstraint(
            "publicrelease",
            models.CheckConstraint(
                name="public_release_has_a_digest",
                condition=Q(state__in=["preparing", "failed", "withdrawn"]) | ~Q(digest=""),
            ),
        ),
        InstallGuards(GUARDS),
    ]

from django.db import migrations

from apps.common.database.triggers import on_deletion, with_project
from apps.common.database.triggers import InstallGuards, LiftGuards

OLD = on_deletion(
    "goldsets 0002_guards",
    "goldsets 0004_slices",
    "goldsets 0006_signing_key_guards",
    "goldsets 0009_public_jobs",
    "goldsets 0010_training_manifests",
)
VERSION = "version_id goldsets_version gold_set_id goldsets_goldset project_id"
GUARDS = with_project(
    OLD,
    {
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
    },
)


class Migration(migrations.Migration):
    """What never goes by itself goes with its project, when that is deleted."""

    dependencies = [
        ("goldsets", "0010_training_manifests"),
        ("accounts", "0008_project_deletions"),
    ]

    operations = [LiftGuards(OLD), InstallGuards(GUARDS)]

from django.db import migrations

from apps.common.triggers import Guard, InstallGuards, frozen_when

SUBMITTED = 'OLD."submitted_at" IS NOT NULL'


def revision_is_submitted(row: str) -> str:
    return f'(SELECT "submitted_at" FROM "triples_revision" WHERE "id" = {row}."revision_id") IS NOT NULL'


GUARDS = [
    *frozen_when("triples_revision", SUBMITTED, "a submitted revision"),
    *frozen_when("triples_expectedblock", revision_is_submitted("OLD"), "an expected block of a submitted revision"),
    Guard(
        "triples_expectedblock",
        "INSERT",
        "a submitted revision takes no further blocks",
        revision_is_submitted("NEW"),
    ),
    Guard("triples_triple", "DELETE", "a triple is never deleted; drop or retire it"),
]


class Migration(migrations.Migration):
    dependencies = [("triples", "0001_initial")]

    operations = [InstallGuards(GUARDS)]

from django.db import migrations, models
from django.db.models import Q

from apps.common.database.triggers import Guard, InstallGuards, KeepGuards

DIGEST = "Over the measures, with the hit rule and the slice where there is one."
SIZE = "The first questions of the slice, by number, that were scored."
HAS_SIZE = Q(slice=None, slice_size=None) | Q(slice__isnull=False, slice_size__isnull=False, slice_size__gte=1)

ELSEWHERE = (
    'NEW."slice_id" IS NOT NULL AND (NEW."split" <> \'dev\' OR NOT EXISTS (SELECT 1 FROM "goldsets_slice"'
    ' WHERE "id" = NEW."slice_id" AND "version_id" = NEW."version_id"))'
)

GUARDS = [
    Guard(
        "evaluation_evaluation",
        "INSERT",
        "an evaluation is on a slice of its version, on dev",
        ELSEWHERE,
        name="slice",
    ),
]


class Migration(migrations.Migration):
    """The slice that an evaluation is on, and how many of its questions. The digest of the measures covers both."""

    dependencies = [
        ("evaluation", "0003_hit_rules"),
        ("goldsets", "0004_slices"),
    ]

    operations = [
        KeepGuards(
            migrations.AddField(
                "evaluation",
                "slice",
                models.ForeignKey(
                    null=True, on_delete=models.PROTECT, related_name="evaluations", to="goldsets.slice"
                ),
            )
        ),
        KeepGuards(
            migrations.AddField(
                "evaluation", "slice_size", models.PositiveIntegerField(help_text=SIZE, null=True)
            )
        ),
        KeepGuards(
            migrations.AddConstraint(
                "evaluation", models.CheckConstraint(condition=HAS_SIZE, name="evaluation_slice_has_a_size")
            )
        ),
        KeepGuards(
            migrations.AlterField("evaluation", "measures_digest", models.CharField(help_text=DIGEST, max_length=64))
        ),
        InstallGuards(GUARDS),
    ]

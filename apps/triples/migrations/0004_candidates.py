import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.common.triggers import Guard, InstallGuards, append_only

UNADOPTED = 'NEW."is_machine_written" AND NEW."adopted_by_id" IS NULL'
LEFT_DRAFT = f"{UNADOPTED} AND NEW.\"state\" NOT IN ('draft', 'withdrawn')"
NEEDS_A_PERSON = "a machine-written triple leaves draft only after a person has adopted it"
GUARDS = [
    Guard("triples_triple", "UPDATE", NEEDS_A_PERSON, LEFT_DRAFT, name="machine_update"),
    Guard("triples_triple", "INSERT", NEEDS_A_PERSON, LEFT_DRAFT, name="machine_insert"),
    Guard(
        "triples_triple",
        "UPDATE",
        "a machine-written triple stays marked as one",
        'OLD."is_machine_written" AND NOT NEW."is_machine_written"',
        name="machine_mark",
    ),
    Guard(
        "triples_triple",
        "UPDATE",
        "who adopted a triple is never changed",
        'OLD."adopted_by_id" IS NOT NULL AND'
        ' (NEW."adopted_by_id" IS NULL OR NEW."adopted_by_id" <> OLD."adopted_by_id")',
        name="machine_adopter",
    ),
    *append_only("triples_rejection", "why a candidate was rejected"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("triples", "0003_imported_entries"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField("importedentry", "digest", models.CharField(max_length=64, null=True)),
        migrations.AddIndex("importedentry", models.Index(fields=["digest"], name="imported_entry_by_digest")),
        migrations.AddIndex(
            "triple",
            models.Index(
                condition=models.Q(("adopted_by", None), ("is_machine_written", True), ("state", "draft")),
                fields=["project", "number"],
                name="triple_candidates",
            ),
        ),
        migrations.CreateModel(
            name="Rejection",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("reason", models.TextField()),
                ("rejected_at", models.DateTimeField()),
                (
                    "rejected_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "triple",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="rejection", to="triples.triple"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True), name="rejection_has_a_reason"
                    )
                ],
            },
        ),
        InstallGuards(GUARDS),
    ]

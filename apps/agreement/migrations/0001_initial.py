import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_tables"),
        ("jobs", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="ReadGrades",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("rounds", models.JSONField(help_text="Keys of the rounds, ascending.")),
                ("digest", models.CharField(max_length=64)),
                ("packed", models.BinaryField(help_text="As `columns.packed` writes them.", null=True)),
                ("newest", models.BigIntegerField(default=0)),
                ("read_at", models.DateTimeField(null=True)),
                ("asked_at", models.DateTimeField()),
                (
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="jobs.job"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.project"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "read grades",
                "constraints": [
                    models.UniqueConstraint(fields=("project", "digest"), name="read_grades_once_per_rounds")
                ],
            },
        ),
    ]

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("review", "0005_fill_answered_and_closed"), ("triples", "0003_imported_entries")]

    operations = [
        migrations.CreateModel(
            name="Escalation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField(help_text="When the triple began to wait: its `changed_at` then.")),
                ("told_at", models.DateTimeField()),
                (
                    "triple",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="escalations", to="triples.triple"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=["triple", "since"], name="escalation_once")],
            },
        ),
    ]

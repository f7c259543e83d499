import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """What an import of passages changed, so that it can be undone."""

    dependencies = [
        ("corpus", "0005_remembered_columns"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="import",
            name="undone_at",
            field=models.DateTimeField(help_text="When what it changed was put back.", null=True),
        ),
        migrations.AddField(
            model_name="import",
            name="undone_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.CreateModel(
            name="FormerTitle",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("former", models.TextField(blank=True)),
                ("current", models.TextField(blank=True)),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="corpus.document"
                    ),
                ),
                (
                    "imported",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="former_titles", to="corpus.import"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("imported", "document"), name="former_title_once")],
            },
        ),
        migrations.CreateModel(
            name="FormerVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "block",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="corpus.block"),
                ),
                (
                    "current",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="corpus.blockversion",
                    ),
                ),
                (
                    "former",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="corpus.blockversion",
                    ),
                ),
                (
                    "imported",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="former_versions", to="corpus.import"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("imported", "block"), name="former_version_once")],
            },
        ),
    ]

import django.db.models.deletion
from django.db import migrations, models

from apps.common.triggers import Guard, InstallGuards, frozen_when

TABLE = "goldsets_versionloss"


def version_is_frozen(row: str) -> str:
    return f'(SELECT "state" FROM "goldsets_version" WHERE "id" = {row}."version_id") <> \'draft\''


class Migration(migrations.Migration):
    dependencies = [("goldsets", "0002_guards")]

    operations = [
        migrations.CreateModel(
            name="VersionLoss",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("query", "query"), ("pair", "judged pair")], max_length=8)),
                ("query_name", models.CharField(max_length=200)),
                ("block_name", models.CharField(blank=True, max_length=300)),
                ("grade", models.SmallIntegerField(null=True)),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("text_changed", "The block has another text in this snapshot."),
                            ("block_gone", "The block is not in this snapshot."),
                            ("query_retired", "The query is retired."),
                            ("ruled_out", "A lead has decided that it can’t be judged."),
                            ("not_chosen", "No chosen round has judged it."),
                            ("nothing_left", "No judged pair and no triple of it is left."),
                        ],
                        max_length=16,
                    ),
                ),
                ("sentence", models.TextField()),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="losses", to="goldsets.version"
                    ),
                ),
            ],
            options={"verbose_name_plural": "version losses"},
        ),
        InstallGuards(
            [
                *frozen_when(TABLE, version_is_frozen("OLD"), "what a frozen version left out"),
                Guard(TABLE, "INSERT", "what a frozen version left out is fixed", version_is_frozen("NEW")),
            ]
        ),
    ]

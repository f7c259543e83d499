import django.db.models.deletion
from django.db import migrations, models

from apps.common.triggers import InstallGuards, append_only


class Migration(migrations.Migration):
    dependencies = [
        ("judging", "0006_judgements_of_a_person"),
        ("retrieval", "0003_engines_plans_and_draws"),
    ]

    operations = [
        migrations.CreateModel(
            name="KeptPair",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "entry",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="retrieval.poolentry"
                    ),
                ),
                (
                    "kept_from",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="judging.round"
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="kept_pairs", to="judging.round"
                    ),
                ),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("round", "entry"), name="kept_pair_once")]},
        ),
        InstallGuards(append_only("judging_keptpair", "a pair that keeps its grade")),
    ]

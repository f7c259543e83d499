import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.common.database.triggers import KeepGuards


class Migration(migrations.Migration):
    """Each pair of a new round is in the share of somebody who can judge it. Rounds that are open go on as before."""

    dependencies = [
        ("judging", "0002_triggers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="roundannotator",
            name="share",
            field=models.PositiveIntegerField(
                help_text="How many first grades were planned for them when the round opened.", null=True
            ),
        ),
        KeepGuards(
            migrations.AddField(
                model_name="seat",
                name="meant_for",
                field=models.ForeignKey(
                    db_index=False,
                    help_text="In whose share it is. Empty: in nobody's.",
                    null=True,
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="+",
                    to=settings.AUTH_USER_MODEL,
                ),
            )
        ),
        migrations.AddIndex(
            model_name="seat",
            index=models.Index(
                condition=models.Q(("state", "open")),
                fields=["round", "meant_for", "query"],
                name="judging_seat_meant",
            ),
        ),
    ]

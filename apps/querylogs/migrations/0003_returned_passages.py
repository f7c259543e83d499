"""What systems returned for an offered query, and what was asked before it in its conversation."""

from django.db import migrations, models
from django.db.models import Q

from apps.common.database.triggers import KeepGuards


class Migration(migrations.Migration):
    """Queries of before have neither."""

    dependencies = [
        ("querylogs", "0002_triggers"),
        ("retrieval", "0003_usage"),
    ]

    operations = [
        KeepGuards(
            migrations.AddField(
                "offeredquery",
                "history",
                models.JSONField(default=list, help_text="What was asked before it in a conversation, masked."),
            )
        ),
        KeepGuards(
            migrations.AddField(
                "offeredquery",
                "returned",
                models.JSONField(
                    default=dict, help_text="What each system returned: ids that are known here, and masked texts."
                ),
            )
        ),
        KeepGuards(
            migrations.AddConstraint(
                "offeredquery",
                models.CheckConstraint(
                    condition=~Q(text="") | Q(history=[], returned={}) | Q(state="kept"),
                    name="offered_query_forgets_with_its_text",
                ),
            )
        ),
    ]

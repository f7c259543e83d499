from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("review", "0003_leases")]

    operations = [
        migrations.AddField(
            "reviewseat",
            "answered_at",
            models.DateTimeField(help_text="When the first verdict came from this seat.", null=True),
        ),
        migrations.AddField(
            "reviewseat",
            "closed_at",
            models.DateTimeField(help_text="When both verdicts of the round were in.", null=True),
        ),
        migrations.AddIndex(
            "reviewseat",
            models.Index(
                fields=["reviewer", "opened_at"],
                name="review_seat_waiting",
                condition=Q(released_at=None, answered_at=None),
            ),
        ),
        migrations.AddIndex(
            "reviewseat",
            models.Index(
                fields=["reviewer", "-answered_at"],
                name="review_seat_in_open_round",
                condition=Q(released_at=None, closed_at=None),
            ),
        ),
    ]

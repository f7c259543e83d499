import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.common.database.schema import without_own_index
from apps.common.database.triggers import GuardReplacement

PROTECT = django.db.models.deletion.PROTECT


class Migration(migrations.Migration):
    """Fewer and smaller indexes of what each grade writes, in the order in which they are looked up."""

    dependencies = [
        ("judging", "0003_withdrawn_rounds"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        GuardReplacement(["judging_seat"]),  # for the way back
        migrations.RemoveConstraint(model_name="seat", name="judging_one_seat_per_person_pair_and_pass"),
        migrations.AddConstraint(
            model_name="seat",
            constraint=models.UniqueConstraint(
                condition=models.Q(("annotator__isnull", False)),
                fields=("round", "annotator", "entry", "pass_number"),
                name="judging_one_seat_per_person_pair_and_pass",
            ),
        ),
        migrations.RemoveIndex(model_name="seat", name="judging_seat_mine"),
        migrations.RemoveIndex(model_name="seat", name="judging_seat_reserved"),
        migrations.AddIndex(
            model_name="seat",
            index=models.Index(
                condition=models.Q(("state", "leased")),
                fields=["round", "annotator", "lease_expires_at"],
                name="judging_seat_leased",
            ),
        ),
        migrations.AddIndex(
            model_name="seat",
            index=models.Index(
                condition=models.Q(("reserved_for__isnull", False)),
                fields=["round", "reserved_for", "state"],
                name="judging_seat_reserved",
            ),
        ),
        without_own_index(
            "judging.Seat",
            {
                "round": models.ForeignKey(
                    db_index=False, on_delete=PROTECT, related_name="seats", to="judging.round"
                ),
                "annotator": models.ForeignKey(
                    db_index=False, null=True, on_delete=PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                ),
                "reserved_for": models.ForeignKey(
                    db_index=False, null=True, on_delete=PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                ),
            },
        ),
        without_own_index(
            "judging.Judgement",
            {
                "round": models.ForeignKey(
                    db_index=False, on_delete=PROTECT, related_name="judgements", to="judging.round"
                ),
                "annotator": models.ForeignKey(
                    db_index=False, on_delete=PROTECT, related_name="judgements", to=settings.AUTH_USER_MODEL
                ),
            },
        ),
        GuardReplacement(["judging_seat"]),
    ]

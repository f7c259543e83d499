from django.db import migrations

from apps.common.triggers import GuardReplacement

TABLES = ["review_disputemessage", "review_resolution", "review_reviewseat", "review_verdict"]


class Migration(migrations.Migration):
    dependencies = [("review", "0007_seats_and_verdicts_match")]

    operations = [GuardReplacement(TABLES)]

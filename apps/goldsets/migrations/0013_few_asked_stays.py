"""A query of a search log can stay in because too few people asked it."""

from django.db import migrations, models

REASONS = [
    ("no_source", "No source is recorded"),
    ("no_permission", "Its source has no permission"),
    ("revoked", "Permission was revoked"),
    ("expired", "Permission has run out"),
    ("internal", "Permission says internal"),
    ("customer", "Customer’s material"),
    ("sealed", "It is in the test split"),
    ("passage", "Its passage stays in"),
    ("name", "A person’s name cannot be taken out"),
    ("word", "An internal word cannot be taken out"),
    ("personal", "An address, a number or a token cannot be taken out"),
    ("redacted", "Its text was redacted"),
    ("few_asked", "Too few people asked it in a search log"),
    ("nothing_left", "None of its passages goes out"),
]


class Migration(migrations.Migration):
    dependencies = [("goldsets", "0012_personal_stays")]

    operations = [
        migrations.AlterField("publicstay", "reason", models.CharField(choices=REASONS, max_length=16)),
    ]

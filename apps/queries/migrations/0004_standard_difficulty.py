from django.db import migrations, models

CHOICES = [("easy", "easy"), ("standard", "standard"), ("medium", "medium"), ("hard", "hard")]


class Migration(migrations.Migration):
    """A difficulty that published triples have. No column changes: on SQLite Django would rebuild the table."""

    dependencies = [
        ("queries", "0003_asked_questions"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    "query", "difficulty", models.CharField(blank=True, choices=CHOICES, max_length=10)
                ),
            ],
        ),
    ]

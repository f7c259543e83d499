from django.db import migrations, models


class Migration(migrations.Migration):
    """Only the choices that forms and pages know; nothing changes in the database."""

    dependencies = [("judging", "0004_plan_guards")]

    operations = [
        migrations.AlterField(
            model_name="adjudication",
            name="error_type",
            field=models.CharField(
                choices=[
                    ("unclear_query", "unclear query"),
                    ("unclear_guideline", "unclear guideline"),
                    ("unreadable", "unreadable block"),
                    ("slip", "slip"),
                    ("ambiguity", "real ambiguity"),
                    ("not_recorded", "not recorded"),
                ],
                max_length=20,
            ),
        )
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judging", "0005_decisions_from_elsewhere")]

    operations = [
        migrations.AddIndex(
            model_name="judgement",
            index=models.Index(fields=["round", "annotator", "given_at"], name="judgement_of_person"),
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("triples", "0005_list_indexes")]

    operations = [
        migrations.AddIndex(
            "triple",
            models.Index(
                fields=["project", "changed_at"], condition=models.Q(is_stale=True), name="triple_stale_by_age"
            ),
        ),
    ]

from django.db import migrations, models

from apps.common.triggers import GuardReplacement


class Migration(migrations.Migration):
    dependencies = [("triples", "0007_guards_on_replacement")]

    operations = [
        migrations.AddField(
            "triple",
            "idempotency_key",
            models.CharField(help_text="Of the new bench that it was first saved from.", max_length=64, null=True),
        ),
        migrations.AddConstraint(
            "triple",
            models.UniqueConstraint(
                fields=["author", "idempotency_key"],
                condition=models.Q(idempotency_key__isnull=False),
                name="triple_key_once_per_author",
            ),
        ),
        GuardReplacement(["triples_triple"]),
    ]

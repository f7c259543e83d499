from django.db import migrations


class Migration(migrations.Migration):
    """It changed a function of PostgreSQL that is dropped two migrations later; databases have its name on record."""

    dependencies = [("judging", "0012_shares"), ("queries", "0002_triggers")]

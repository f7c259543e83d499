from django.db import migrations, models


class Migration(migrations.Migration):
    """A link for a new password ends in one way, and a person has one at most."""

    dependencies = [
        ('accounts', '0003_archived_projects'),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='passwordreset',
            constraint=models.CheckConstraint(condition=models.Q(('used_at', None), ('revoked_at', None), _connector='OR'), name='reset_used_or_revoked'),
        ),
        migrations.AddConstraint(
            model_name='passwordreset',
            constraint=models.UniqueConstraint(condition=models.Q(('revoked_at', None), ('used_at', None)), fields=('user',), name='reset_one_open_link'),
        ),
    ]

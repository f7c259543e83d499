from django.db import migrations, models

from apps.common.database.triggers import KeepGuards


class Migration(migrations.Migration):
    """A project that is archived says who did it."""

    dependencies = [
        ('accounts', '0004_open_links'),
    ]

    operations = [
        KeepGuards(migrations.AddConstraint(
            model_name='project',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('archived_at', None), ('archived_by', None)), models.Q(('archived_at__isnull', False), ('archived_by__isnull', False)), _connector='OR'), name='project_archived_by_goes_with_archived_at'),
        )),
    ]

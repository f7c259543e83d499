from django.db import migrations, models


class Migration(migrations.Migration):
    """An import that is undone was applied and says by whom it was undone; what it changed, it changed."""

    dependencies = [
        ('corpus', '0006_undo_imports'),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='formerversion',
            constraint=models.CheckConstraint(condition=models.Q(('former__isnull', False), ('current__isnull', False), _connector='OR'), name='former_version_is_a_change'),
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('undone_at', None), ('undone_by', None)), models.Q(('state', 'applied'), ('undone_at__isnull', False), ('undone_by__isnull', False)), _connector='OR'), name='import_undone_at_goes_with_undone_by'),
        ),
    ]

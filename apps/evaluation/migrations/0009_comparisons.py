"""Which runs were compared on a version, and at how many queries the fixed test of two systems decides."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0008_prices_and_figures'),
        ('goldsets', '0012_personal_stays'),
        ('retrieval', '0002_triggers'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Comparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('split', models.CharField(blank=True, max_length=4)),
                ('hit', models.CharField(blank=True, max_length=60)),
                ('slice_size', models.PositiveIntegerField(null=True)),
                ('measure', models.CharField(max_length=80)),
                ('n', models.PositiveIntegerField(help_text='Queries, or questions, that both runs have a value for.')),
                ('seen_at', models.DateTimeField()),
                ('first', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='retrieval.run')),
                ('second', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='retrieval.run')),
                ('seen_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('slice', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='goldsets.slice')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='comparisons', to='goldsets.version')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('slice', None)), fields=('version', 'split', 'hit', 'measure', 'first', 'second'), name='comparison_once'), models.UniqueConstraint(condition=models.Q(('slice__isnull', False)), fields=('version', 'split', 'hit', 'slice', 'slice_size', 'measure', 'first', 'second'), name='comparison_on_slice_once'), models.CheckConstraint(condition=models.Q(('first__lt', models.F('second'))), name='comparison_is_in_order')],
            },
        ),
        migrations.CreateModel(
            name='PlannedComparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('split', models.CharField(blank=True, max_length=4)),
                ('hit', models.CharField(blank=True, max_length=60)),
                ('measure', models.CharField(max_length=80)),
                ('queries', models.PositiveIntegerField()),
                ('planned_at', models.DateTimeField()),
                ('first', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='retrieval.system')),
                ('gold_set', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='goldsets.goldset')),
                ('second', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='retrieval.system')),
                ('planned_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('gold_set', 'split', 'hit', 'measure', 'first', 'second'), name='comparison_planned_once'), models.CheckConstraint(condition=models.Q(('first__lt', models.F('second'))), name='planned_comparison_is_in_order'), models.CheckConstraint(condition=models.Q(('queries__gte', 6)), name='planned_comparison_is_enough')],
            },
        ),
    ]

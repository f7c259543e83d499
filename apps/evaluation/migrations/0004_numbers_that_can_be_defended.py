import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.common.triggers import InstallGuards, append_only, frozen_when

GUARDS = [
    *append_only("evaluation_gateresult", "what a gate said"),
    *append_only("evaluation_closedcomparison", "a closed comparison"),
    *frozen_when("evaluation_stabilityreport", 'OLD."computed_at" IS NOT NULL', "a finished stability report"),
]


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_secrets'),
        ('evaluation', '0003_bias_report'),
        ('goldsets', '0002_guards'),
        ('jobs', '0004_notification_about'),
        ('retrieval', '0003_engines_plans_and_draws'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='regressionnote',
            name='pool',
            field=models.ForeignKey(help_text='Where its pairs are judged again.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='retrieval.pool'),
        ),
        migrations.AddField(
            model_name='score',
            name='bca_high',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='score',
            name='bca_low',
            field=models.FloatField(help_text='The same interval, bias-corrected and accelerated.', null=True),
        ),
        migrations.AddField(
            model_name='score',
            name='people_high',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='score',
            name='people_low',
            field=models.FloatField(help_text="Interval that also resamples the annotators' grades.", null=True),
        ),
        migrations.CreateModel(
            name='Gate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('tier', models.CharField(choices=[('smoke', 'smoke: a minute at most'), ('full', 'full: every query'), ('deep', 'deep: every query, slice and test')], default='full', max_length=5)),
                ('split', models.CharField(blank=True, help_text='Empty: dev and test together.', max_length=4)),
                ('rule', models.JSONField(help_text='As `gating.as_facts` writes it.')),
                ('created_at', models.DateTimeField()),
                ('retired_at', models.DateTimeField(null=True)),
                ('baseline', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='retrieval.run')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('gold_set', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='gates', to='goldsets.goldset')),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='gates', to='retrieval.system')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('retired_at', None)), fields=('gold_set', 'system', 'name'), name='gate_name_in_use_once'), models.CheckConstraint(condition=models.Q(('tier__in', ['smoke', 'full', 'deep'])), name='gate_tier_is_known')],
            },
        ),
        migrations.CreateModel(
            name='GateResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('passed', 'passed'), ('failed', 'failed'), ('unknown', 'not known')], max_length=8)),
                ('value', models.FloatField(null=True)),
                ('bound', models.FloatField(null=True)),
                ('words', models.CharField(max_length=400)),
                ('decided_at', models.DateTimeField()),
                ('evaluation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='gate_results', to='evaluation.evaluation')),
                ('gate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='results', to='evaluation.gate')),
            ],
            options={
                'indexes': [models.Index(fields=['gate', '-id'], name='gate_result_newest_first')],
                'constraints': [models.UniqueConstraint(fields=('gate', 'evaluation'), name='gate_result_once'), models.CheckConstraint(condition=models.Q(('state__in', ['passed', 'failed', 'unknown'])), name='gate_state_is_known')],
            },
        ),
        migrations.CreateModel(
            name='RunNote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tried', models.TextField(blank=True)),
                ('commit', models.CharField(blank=True, max_length=80)),
                ('configuration', models.TextField(blank=True)),
                ('verdict', models.TextField(blank=True)),
                ('cost', models.DecimalField(decimal_places=4, help_text="Of 1,000 queries, in the project's currency.", max_digits=12, null=True)),
                ('written_at', models.DateTimeField()),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='ledger', to='retrieval.run')),
                ('written_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('cost', None), ('cost__gte', 0), _connector='OR'), name='run_cost_is_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='StabilityReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('split', models.CharField(blank=True, help_text='Empty: dev and test together.', max_length=4)),
                ('runs', models.JSONField(help_text='Keys of the runs, ascending.')),
                ('measures', models.JSONField(help_text='Measure names in the order asked for.')),
                ('digest', models.CharField(max_length=64)),
                ('result', models.JSONField(default=dict, help_text='As `execution` writes it.')),
                ('requested_at', models.DateTimeField()),
                ('computed_at', models.DateTimeField(null=True)),
                ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='jobs.job')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='stability_reports', to='accounts.project')),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='stability_reports', to='goldsets.version')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('version', 'digest'), name='stability_report_once')],
            },
        ),
        migrations.CreateModel(
            name='Badge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('gold_set', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='badges', to='goldsets.goldset')),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='badges', to='retrieval.system')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('revoked_at', None)), fields=('gold_set', 'system'), name='badge_one_in_use')],
            },
        ),
        migrations.CreateModel(
            name='ClosedComparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('measure', models.CharField(max_length=80)),
                ('verdict', models.TextField()),
                ('closed_at', models.DateTimeField()),
                ('baseline', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.evaluation')),
                ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.evaluation')),
                ('closed_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('baseline', 'candidate', 'measure'), name='comparison_closed_once')],
            },
        ),
        InstallGuards(GUARDS),
    ]

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.common.database.schema import CreateTables
from apps.common.database.triggers import InstallGuards, KeepGuards, append_only, with_project

PATHS = {
    "judging_secondlook": "round_id judging_round project_id",
    "judging_secondgrade": "look_id judging_secondlook round_id judging_round project_id",
}
GUARDS = with_project(
    [
        *append_only("judging_secondlook", "a second look"),
        *append_only("judging_secondgrade", "a second grade"),
    ],
    PATHS,
)


class Migration(migrations.Migration):
    """Judges may settle a difference after a second look, a lead holds grades; a decision says who made it."""

    dependencies = [
        ('judging', '0015_drop_plain_steps'),
        ('retrieval', '0003_usage'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        KeepGuards(
        migrations.AddField(
            model_name='adjudication',
            name='decided_by',
            field=models.CharField(choices=[('lead', 'a lead'), ('lead_who_judged', 'a lead who also judged the pair'), ('judges', "its judges, who saw each other's grades")], db_default='lead', default='lead', max_length=16),
        )
        ),
        CreateTables([
        migrations.CreateModel(
            name='SecondLook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('looked_at', models.DateTimeField()),
                ('entry', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='second_looks', to='retrieval.poolentry')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='second_looks', to='judging.round')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('round', 'entry', 'judge'), name='second_look_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='SecondGrade',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('grade', models.SmallIntegerField(null=True)),
                ('cant_judge', models.CharField(blank=True, choices=[('unclear_query', 'unclear query'), ('unreadable', 'unreadable passage'), ('needs_expert', 'needs an expert'), ('missing_context', 'missing context')], max_length=20)),
                ('reason', models.TextField(blank=True)),
                ('is_last', models.BooleanField(help_text='Nobody may answer after it: it is settled, or left to a lead.')),
                ('idempotency_key', models.CharField(max_length=64)),
                ('given_at', models.DateTimeField()),
                ('look', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='grades', to='judging.secondlook')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('look', 'idempotency_key'), name='second_grade_key_once'),
                    models.CheckConstraint(condition=models.Q(models.Q(('cant_judge', ''), ('grade__isnull', False)), models.Q(('grade', None), models.Q(('cant_judge', ''), _negated=True)), _connector='OR'), name='second_grade_is_a_grade_or_a_reason'),
                ],
            },
        ),
        migrations.CreateModel(
            name='HeldDecision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('grade', models.SmallIntegerField(help_text="Empty: the pair can't be judged at all.", null=True)),
                ('answers', models.CharField(help_text='A digest of the answers that the lead saw.', max_length=64)),
                ('held_at', models.DateTimeField()),
                ('entry', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='retrieval.poolentry')),
                ('lead', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='held_decisions', to='judging.round')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('round', 'entry', 'lead'), name='held_decision_once')],
            },
        ),
        ]),
        KeepGuards(
            migrations.AddConstraint(
                model_name="adjudication",
                constraint=models.CheckConstraint(
                    name="adjudication_of_judges_is_a_grade",
                    condition=~models.Q(decided_by="judges") | models.Q(grade__isnull=False),
                ),
            )
        ),
        InstallGuards(GUARDS),
    ]

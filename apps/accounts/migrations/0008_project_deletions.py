import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards, same

KEEPS = same("id", "project_id", "slug", "name", "counts", "requested_by_id", "requested_at")
HEAD = f"""OLD."head" <> '' AND NOT ({same("links", "head")})"""
GUARDS = [
    Guard(
        "accounts_projectdeletion",
        "UPDATE",
        "that a project was deleted is never changed",
        f'NOT ({KEEPS}) OR ({HEAD}) OR OLD."finished_at" IS NOT NULL',
    ),
    Guard("accounts_projectdeletion", "DELETE", "that a project was deleted is never deleted"),
]


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0007_visits'),
    ]

    operations = [
        migrations.CreateModel(
            name='ProjectDeletion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=60)),
                ('name', models.CharField(max_length=120)),
                ('counts', models.JSONField(default=dict, help_text='What was in it, when somebody asked.')),
                ('requested_at', models.DateTimeField()),
                ('links', models.PositiveBigIntegerField(default=0)),
                ('head', models.CharField(blank=True, default='', max_length=64)),
                ('finished_at', models.DateTimeField(null=True)),
                ('project', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='deletion', to='accounts.project')),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('finished_at', None), models.Q(('head', ''), _negated=True), _connector='OR'), name='project_deletion_ends_with_the_head_noted')],
            },
        ),
        InstallGuards(GUARDS),
    ]

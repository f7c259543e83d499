import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.common.database.triggers import Guard, InstallGuards, append_only

SLICES, MEMBERS = "goldsets_slice", "goldsets_slicemember"


def of_slice(column: str) -> str:
    return f'(SELECT "{column}" FROM "{SLICES}" WHERE "id" = NEW."slice_id")'


def is_foreign(table: str, column: str) -> str:
    """The item is of another version, or of the sealed test split."""
    return (
        f'NEW."{column}" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "{table}" WHERE "id" = NEW."{column}"'
        f' AND "split" = \'dev\' AND "version_id" = {of_slice("version_id")})'
    )


DRAFT = '(SELECT "state" FROM "goldsets_version" WHERE "id" = NEW."version_id") = \'draft\''
HELD = f'(SELECT COUNT(*) FROM "{MEMBERS}" WHERE "slice_id" = NEW."slice_id")'
FULL = f'{of_slice("rows")} IS NOT NULL AND {HELD} >= {of_slice("rows")}'

GUARDS = [
    *append_only(SLICES, "a slice"),
    *append_only(MEMBERS, "a question of a slice"),
    Guard(SLICES, "INSERT", "a draft has no slices", DRAFT),
    Guard(MEMBERS, "INSERT", "a rotating slice takes no further questions", FULL),
    Guard(MEMBERS, "INSERT", "a slice has dev queries of its version", is_foreign("goldsets_versionquery", "query_id"), name="query"),
    Guard(MEMBERS, "INSERT", "a slice has dev triples of its version", is_foreign("goldsets_versiontriple", "triple_id"), name="triple"),
]


class Migration(migrations.Migration):

    dependencies = [
        ('goldsets', '0003_withdrawn_rounds'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Slice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('rotating', 'Rotating'), ('challenge', 'Challenge'), ('regression', 'Regression'), ('canary', 'Canary')], max_length=10)),
                ('quarter', models.CharField(blank=True, help_text='Of a rotating slice, such as 2026-Q4: its seed.', max_length=7)),
                ('rows', models.PositiveIntegerField(help_text='The members of a rotating slice; it takes no more.', null=True)),
                ('created_at', models.DateTimeField()),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='slices', to='goldsets.version')),
            ],
        ),
        migrations.CreateModel(
            name='SliceMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(help_text='Of the question, from 1 in the order of adding.')),
                ('name', models.CharField(help_text='The outside id of the query, else the label of the triple.', max_length=200)),
                ('why', models.CharField(help_text='Why the question is in the slice, as a sentence or its end.', max_length=200)),
                ('added_at', models.DateTimeField()),
                ('added_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('query', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='goldsets.versionquery')),
                ('slice', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='members', to='goldsets.slice')),
                ('triple', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='goldsets.versiontriple')),
            ],
        ),
        migrations.AddConstraint(
            model_name='slice',
            constraint=models.UniqueConstraint(fields=('version', 'kind', 'quarter'), name='slice_once'),
        ),
        migrations.AddConstraint(
            model_name='slice',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'rotating'), ('rows__isnull', False), models.Q(('quarter', ''), _negated=True)), models.Q(('kind__in', ['challenge', 'regression', 'canary']), ('quarter', ''), ('rows', None)), _connector='OR'), name='slice_rotates_by_quarter'),
        ),
        migrations.AddIndex(
            model_name='slicemember',
            index=models.Index(fields=['slice', 'number'], name='slice_member_in_order'),
        ),
        migrations.AddConstraint(
            model_name='slicemember',
            constraint=models.UniqueConstraint(fields=('slice', 'query'), name='slice_query_once'),
        ),
        migrations.AddConstraint(
            model_name='slicemember',
            constraint=models.UniqueConstraint(fields=('slice', 'triple'), name='slice_triple_once'),
        ),
        migrations.AddConstraint(
            model_name='slicemember',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('query', None), ('triple__isnull', False)), models.Q(('query__isnull', False), ('triple', None)), _connector='OR'), name='slice_member_is_query_or_triple'),
        ),
        InstallGuards(GUARDS),
    ]

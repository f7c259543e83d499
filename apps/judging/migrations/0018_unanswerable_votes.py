import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Two people vote, without seeing each other, on whether anything in a snapshot answers a query."""

    dependencies = [
        ('corpus', '0015_first_row'),
        ('judging', '0017_facets'),
        ('queries', '0004_facets'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='UnanswerableVote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('attempt', models.PositiveSmallIntegerField(default=1)),
                ('number', models.PositiveSmallIntegerField()),
                ('is_nothing', models.BooleanField(help_text='Whether nothing in the snapshot answers the query.')),
                ('reason', models.TextField(blank=True)),
                ('basis', models.JSONField(help_text='What was judged for the query at that time.')),
                ('given_at', models.DateTimeField()),
                ('passage', models.ForeignKey(help_text='The passage that answers it.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='corpus.blockversion')),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('query', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='unanswerable_votes', to='queries.query')),
                ('snapshot', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='corpus.snapshot')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('query', 'snapshot', 'attempt', 'number'), name='unanswerable_vote_number_once'), models.UniqueConstraint(condition=models.Q(('number__gt', 0)), fields=('query', 'snapshot', 'attempt', 'person'), name='unanswerable_vote_person_once'), models.CheckConstraint(condition=models.Q(('number__lte', 2)), name='unanswerable_vote_is_of_two_or_a_lead'), models.CheckConstraint(condition=models.Q(models.Q(('is_nothing', True), ('passage', None)), models.Q(('is_nothing', False), ('passage__isnull', False)), _connector='OR'), name='unanswerable_vote_names_a_passage_or_nothing'), models.CheckConstraint(condition=models.Q(models.Q(('number', 0), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='unanswerable_vote_of_a_lead_has_a_reason')],
            },
        ),
    ]

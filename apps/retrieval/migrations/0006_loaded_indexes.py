import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Snapshots that Karat loads into search servers, and the kind of the systems that search them there."""

    dependencies = [
        ('accounts', '0008_project_deletions'),
        ('corpus', '0014_deleted_projects'),
        ('jobs', '0003_standard_webhooks'),
        ('retrieval', '0005_deleted_projects'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='LoadedIndex',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.CharField(help_text='Address of the cluster.', max_length=1000)),
                ('auth', models.JSONField(default=dict, help_text='How requests sign in: the name of a secret, never its value.')),
                ('name', models.CharField(max_length=80)),
                ('mark', models.CharField(max_length=32)),
                ('state', models.CharField(choices=[('loading', 'loading'), ('ready', 'ready'), ('failed', 'failed'), ('dropped', 'dropped')], default='loading', max_length=10)),
                ('noted', models.PositiveIntegerField(default=0, help_text='Passages that the server has for certain.')),
                ('server', models.CharField(blank=True, help_text='opensearch or elasticsearch, once it has answered.', max_length=20)),
                ('server_version', models.CharField(blank=True, max_length=40)),
                ('failure', models.TextField(blank=True)),
                ('created_at', models.DateTimeField()),
                ('ready_at', models.DateTimeField(null=True)),
                ('dropped_at', models.DateTimeField(null=True)),
            ],
            options={
                'verbose_name_plural': 'loaded indexes',
            },
        ),
        migrations.RemoveConstraint(
            model_name='system',
            name='system_kind_is_known',
        ),
        migrations.AlterField(
            model_name='system',
            name='kind',
            field=models.CharField(choices=[('bm25', 'BM25'), ('tfidf', 'TF-IDF cosine'), ('lsa', 'LSA'), ('dense', 'dense embeddings'), ('fusion', 'reciprocal-rank fusion'), ('http', 'HTTP endpoint'), ('opensearch', 'OpenSearch or Elasticsearch'), ('loaded', 'loaded index'), ('uploaded', 'uploaded run')], max_length=20),
        ),
        migrations.AddConstraint(
            model_name='system',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['bm25', 'tfidf', 'lsa', 'dense', 'fusion', 'http', 'opensearch', 'loaded', 'uploaded'])), name='system_kind_is_known'),
        ),
        migrations.AddField(
            model_name='loadedindex',
            name='created_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='loadedindex',
            name='dense',
            field=models.ForeignKey(help_text='The system whose model makes the vectors.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='retrieval.system'),
        ),
        migrations.AddField(
            model_name='loadedindex',
            name='job',
            field=models.ForeignKey(help_text='Loads it, or drops it.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='jobs.job'),
        ),
        migrations.AddField(
            model_name='loadedindex',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='loaded_indexes', to='accounts.project'),
        ),
        migrations.AddField(
            model_name='loadedindex',
            name='snapshot',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='loaded_indexes', to='corpus.snapshot'),
        ),
        migrations.AddConstraint(
            model_name='loadedindex',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'dropped'), _negated=True), fields=('project', 'url', 'name'), name='loaded_index_once_at_an_address'),
        ),
        migrations.AddConstraint(
            model_name='loadedindex',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['loading', 'ready', 'failed', 'dropped'])), name='loaded_index_state_is_known'),
        ),
        migrations.AddConstraint(
            model_name='loadedindex',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'ready'), _negated=True), models.Q(('ready_at__isnull', False), models.Q(('server', ''), _negated=True)), _connector='OR'), name='loaded_index_ready_has_server_and_time'),
        ),
        migrations.AddConstraint(
            model_name='loadedindex',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('dropped_at__isnull', False), ('state', 'dropped')), models.Q(models.Q(('state', 'dropped'), _negated=True), ('dropped_at', None)), _connector='OR'), name='loaded_index_dropped_has_time'),
        ),
    ]

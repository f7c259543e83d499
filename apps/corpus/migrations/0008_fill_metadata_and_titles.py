from django.db import migrations

from apps.common.bulk import chunks
from apps.corpus.blocks import metadata_digest

CHUNK = 2_000


def name_metadata(apps, schema_editor):
    versions = apps.get_model("corpus", "BlockVersion").objects.exclude(metadata={}).values_list("pk", "metadata")
    for chunk in chunks(versions.iterator(chunk_size=CHUNK), CHUNK):
        with schema_editor.connection.cursor() as cursor:
            cursor.executemany(
                "UPDATE corpus_blockversion SET metadata_digest = %s WHERE id = %s",
                [(metadata_digest(metadata), pk) for pk, metadata in chunk],
            )


def keep_titles(apps, schema_editor):
    """What documents are called today is the best that is known of snapshots frozen so far."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO corpus_snapshotdocument (snapshot_id, document_id, title)"
            " SELECT DISTINCT entry.snapshot_id, document.id, document.title FROM corpus_snapshotblock entry"
            " JOIN corpus_block block ON block.id = entry.block_id"
            " JOIN corpus_document document ON document.id = block.document_id WHERE document.title <> ''"
        )


class Migration(migrations.Migration):
    dependencies = [("corpus", "0007_metadata_and_titles")]

    operations = [
        migrations.RunPython(name_metadata, migrations.RunPython.noop),
        migrations.RunPython(keep_titles, migrations.RunPython.noop),
    ]

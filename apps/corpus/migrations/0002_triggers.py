from django.db import migrations

from apps.common.database.triggers import Guard, InstallGuards, append_only, same, with_project

REDACTION = 'OLD."redacted_at" IS NULL AND NEW."redacted_at" IS NOT NULL AND NEW."text" = \'\' AND ' + same(
    "id", "block_id", "digest", "text_digest", "metadata_digest", "page_start", "page_end", "created_at"
)

HAS_ITS_LIST = 'EXISTS (SELECT 1 FROM "corpus_snapshotblock" entry WHERE entry."snapshot_id" = NEW."snapshot_id")'

SAID = same("id", "corpus_id", "owner", "evidence", "recorded_by_id", "recorded_at")

PATHS = {
    "corpus_block": "corpus_id corpus_corpus project_id",
    "corpus_blockversion": "block_id corpus_block corpus_id corpus_corpus project_id",
    "corpus_document": "corpus_id corpus_corpus project_id",
    "corpus_publictexts": "corpus_id corpus_corpus project_id",
    "corpus_snapshot": "corpus_id corpus_corpus project_id",
    "corpus_snapshotblock": "snapshot_id corpus_snapshot corpus_id corpus_corpus project_id",
    "corpus_snapshotdocument": "snapshot_id corpus_snapshot corpus_id corpus_corpus project_id",
}

GUARDS = with_project(
    [
        *append_only("corpus_snapshot", "a frozen snapshot"),
        *append_only("corpus_snapshotblock", "an entry of a frozen snapshot"),
        Guard(
            "corpus_snapshotblock",
            "INSERT",
            "a frozen snapshot takes no further entries",
            'NEW."position" >= (SELECT "block_count" FROM "corpus_snapshot" WHERE "id" = NEW."snapshot_id")',
        ),
        Guard(
            "corpus_document",
            "UPDATE",
            "a document keeps its id and its corpus",
            f"NOT ({same('id', 'corpus_id', 'outside_id')})",
        ),
        Guard("corpus_document", "DELETE", "a document is never deleted"),
        Guard(
            "corpus_block",
            "UPDATE",
            "a block keeps its id, its document and its corpus",
            f"NOT ({same('id', 'corpus_id', 'document_id', 'outside_id')})",
        ),
        Guard("corpus_block", "DELETE", "a block is never deleted"),
        Guard(
            "corpus_blockversion",
            "UPDATE",
            "a block version is never changed; only a redaction may empty it",
            f"NOT ({REDACTION})",
        ),
        Guard("corpus_blockversion", "DELETE", "a block version is never deleted"),
        *append_only("corpus_snapshotdocument", "a title in a frozen snapshot"),
        Guard("corpus_snapshotdocument", "INSERT", "a frozen snapshot takes no further titles", HAS_ITS_LIST),
        Guard("corpus_publictexts", "DELETE", "what was said of the texts of a corpus stays; end it"),
        Guard(
            "corpus_publictexts",
            "UPDATE",
            "what was said of the texts of a corpus never changes; it ends once",
            f'OLD."ended_at" IS NOT NULL OR NOT ({SAID})',
        ),
    ],
    PATHS,
)

SQLITE = [
    # External content: the index holds words only, the texts stay in their table.
    """CREATE VIRTUAL TABLE "corpus_search" USING fts5(
        title, text, content='corpus_blockversion', content_rowid='id', tokenize='porter unicode61'
    )""",
    # Which versions are in the index: FTS5 cannot tell cheaply.
    'CREATE TABLE "corpus_searched" ("version_id" integer PRIMARY KEY)',
]
POSTGRESQL = [
    'CREATE TABLE "corpus_searched" ("version_id" bigint PRIMARY KEY, "words" tsvector NOT NULL)',
    'CREATE INDEX "corpus_searched_words" ON "corpus_searched" USING gin ("words")',
]


def create_search(apps, schema_editor):
    for statement in SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRESQL:
        schema_editor.execute(statement)


def drop_search(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute('DROP TABLE "corpus_search"')
    schema_editor.execute('DROP TABLE "corpus_searched"')


class Migration(migrations.Migration):
    """What nobody changes or deletes, from any client; the rows of a project that is deleted go with it. And full text search."""

    replaces = [
        ("corpus", "0002_guards"),
        ("corpus", "0003_search"),
        ("corpus", "0011_public_texts"),
        ("corpus", "0014_deleted_projects"),
    ]

    dependencies = [
        ("corpus", "0001_tables"),
    ]

    operations = [InstallGuards(GUARDS), migrations.RunPython(create_search, drop_search)]

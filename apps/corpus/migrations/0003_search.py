from django.db import migrations

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


def create(apps, schema_editor):
    for statement in SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRESQL:
        schema_editor.execute(statement)


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute('DROP TABLE "corpus_search"')
    schema_editor.execute('DROP TABLE "corpus_searched"')


class Migration(migrations.Migration):
    dependencies = [("corpus", "0002_guards")]

    operations = [migrations.RunPython(create, drop)]

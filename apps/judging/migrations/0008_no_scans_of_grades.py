from importlib import import_module

from django.db import migrations

from apps.common.database.functions import SetForFunctions

KEEPERS = import_module("apps.judging.migrations.0005_undecided_pairs").KEEPERS[:2]


class Migration(migrations.Migration):
    """With each grade, the grades of one pair are found by an index, also in a table that the server has not counted.

    A connection plans what a trigger does once: where the first grades were given before the table was counted, it read
    all grades of all rounds for each further one.
    """

    dependencies = [("judging", "0007_plain_steps")]

    operations = [SetForFunctions([keeper.trigger for keeper in KEEPERS], "enable_seqscan", "off")]

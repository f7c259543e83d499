from django.db import migrations

from apps.common.errors import Refusal

TAKEN_IN = (
    "The history of {names} came from another server by `karat project import`, which was never released and is gone. "
    "This version cannot verify it. With the version before, run `karat project export` for each, restore the file into "
    "a server of its own, and delete the project here. Nothing was changed."
)


def refuse_taken_in(apps, schema_editor):
    chains = apps.get_model("audit", "Chain").objects.filter(moves__isnull=False)
    projects = apps.get_model("accounts", "Project").objects.filter(pk__in=chains.values("project"))
    if names := sorted(projects.values_list("name", flat=True)):
        raise Refusal(TAKEN_IN.format(names=", ".join(names)), code="taken_in")


class Migration(migrations.Migration):
    """A project has one chain, sealed under the keys that its rows have."""

    dependencies = [
        ("audit", "0002_triggers"),
        ("accounts", "0002_triggers"),
    ]

    operations = [
        migrations.RunPython(refuse_taken_in, migrations.RunPython.noop),
        migrations.RemoveField("chain", "moves"),
    ]

from django.db import migrations

from apps.common.triggers import InstallGuards, append_only


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [
        InstallGuards(append_only("audit_event", "an audit event")),
        InstallGuards(append_only("audit_link", "a link of the audit chain")),
    ]

"""Of every table it is known whose its rows are: a project's, or the server's."""

from django.apps import apps
from django.conf import settings

from apps.backups.selectors.project_rows import PROJECTS, RECORD_OF_DELETION, project_tables

OF_THE_SERVER = {
    "accounts_identity", "accounts_loginattempt", "accounts_passwordreset", "accounts_usedstate", "accounts_user",
    "accounts_visit", "audit_sealmark", "backups_backup", "jobs_mailchoice", "jobs_periodictask", "jobs_workerbeat",
    "judging_keymap", RECORD_OF_DELETION,
}  # fmt: skip
"""People, how they sign in, what they choose for themselves, and what the server does for all projects."""


def test_every_table_is_of_a_project_or_of_the_server():
    ours = {app for app in settings.INSTALLED_APPS if app.startswith("apps.")}
    tables = {
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and apps.get_app_config(model._meta.app_label).name in ours
    }

    assert tables - {each.table for each in project_tables()} == OF_THE_SERVER


def test_the_project_is_last_and_its_history_just_before():
    assert [each.table for each in project_tables()][-4:] == ["audit_event", "audit_link", "audit_chain", PROJECTS]

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "apps.dashboard"
    label = "dashboard"

    def ready(self) -> None:
        from apps.common.discovery import later
        from apps.common.hooks import answer_next_step
        from apps.corpus.models import Import
        from apps.retrieval.models import Run

        answer_next_step(Import, later("apps.dashboard.pages.shell.after_import"))
        answer_next_step(Run, later("apps.dashboard.pages.shell.after_run"))

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "apps.dashboard"
    label = "dashboard"

    def ready(self) -> None:
        from apps.common.web.next_steps import answer_next_step
        from apps.corpus.models import Import
        from apps.dashboard.edges.next_steps import after_import, after_run
        from apps.retrieval.models import Run

        answer_next_step(Import, after_import)
        answer_next_step(Run, after_run)

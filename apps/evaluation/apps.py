from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "apps.evaluation"
    label = "evaluation"

    def ready(self) -> None:
        from apps.evaluation.actions import score_on_release
        from apps.evaluation.edges.run_panels import results_panel, scores_panel
        from apps.goldsets.execution.listeners import on_release
        from apps.retrieval.edges.panels import on_run_page

        on_release(score_on_release)
        on_run_page(scores_panel)
        on_run_page(results_panel)

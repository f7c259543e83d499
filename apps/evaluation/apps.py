from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "apps.evaluation"
    label = "evaluation"

    def ready(self) -> None:
        from apps.evaluation.actions import score_on_release
        from apps.goldsets.execution.listeners import on_release

        on_release(score_on_release)

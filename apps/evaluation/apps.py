from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "apps.evaluation"
    label = "evaluation"

    def ready(self) -> None:
        from apps.evaluation.actions import run_again_on_release, score_on_release
        from apps.evaluation.edges.run_again import run_again_panel
        from apps.evaluation.edges.run_panels import results_panel, scores_panel
        from apps.evaluation.selectors.slice_finders import fallen_in, missed_in
        from apps.goldsets.edges.panels import on_version_page
        from apps.goldsets.enums import SliceKind
        from apps.goldsets.execution.listeners import on_release
        from apps.goldsets.selectors.slices import finds_for
        from apps.retrieval.edges.panels import on_run_page

        on_release(score_on_release)
        on_release(run_again_on_release)
        finds_for(SliceKind.CHALLENGE, missed_in)
        finds_for(SliceKind.CHALLENGE, fallen_in)
        finds_for(SliceKind.REGRESSION, fallen_in)
        on_version_page(run_again_panel)
        on_run_page(scores_panel)
        on_run_page(results_panel)

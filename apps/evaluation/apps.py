from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "apps.evaluation"
    label = "evaluation"

    def ready(self) -> None:
        from apps.common.discovery import later
        from apps.goldsets.enums import SliceKind
        from apps.goldsets.execution.public_jobs import on_release
        from apps.goldsets.presenters import on_version_page
        from apps.goldsets.selectors.slices import finds_for
        from apps.retrieval.presenters import on_run_page

        fallen_in = later("apps.evaluation.selectors.slice_values.fallen_in")
        on_release.add(later("apps.evaluation.actions.scoring.score_on_release"))
        on_release.add(later("apps.evaluation.actions.scoring.run_again_on_release"))
        finds_for(SliceKind.CHALLENGE, later("apps.evaluation.selectors.slice_values.missed_in"))
        finds_for(SliceKind.CHALLENGE, fallen_in)
        finds_for(SliceKind.REGRESSION, fallen_in)
        on_version_page.add(later("apps.evaluation.presenters.run_again.run_again_panel"))
        on_run_page.add(later("apps.evaluation.presenters.run_panels.scores_panel"))
        on_run_page.add(later("apps.evaluation.presenters.run_panels.results_panel"))

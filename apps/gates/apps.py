from django.apps import AppConfig


class GatesConfig(AppConfig):
    name = "apps.gates"
    label = "gates"

    def ready(self) -> None:
        from apps.common.discovery import later
        from apps.evaluation.execution.listeners import on_cost, on_scored, on_scored_by_hits
        from apps.evaluation.presenters.run_panels import on_evaluation_page, on_slices_page

        on_scored.add(later("apps.gates.execution.decide_when_scored"))
        on_scored_by_hits.add(later("apps.gates.execution.decide_when_scored"))
        on_cost.add(later("apps.gates.actions.check_cost_gates"))
        on_evaluation_page.add(later("apps.gates.presenters.results_panel"))
        on_slices_page.add(later("apps.gates.presenters.slices_panel"))

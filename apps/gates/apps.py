from django.apps import AppConfig


class GatesConfig(AppConfig):
    name = "apps.gates"
    label = "gates"

    def ready(self) -> None:
        from apps.evaluation.edges.panels import on_evaluation_page, on_slices_page
        from apps.evaluation.execution.listeners import on_cost, on_scored, on_scored_by_hits
        from apps.gates.actions import check_cost_gates
        from apps.gates.edges import results_panel, slices_panel
        from apps.gates.execution.checks import decide_when_scored, decide_when_scored_by_hits

        on_scored(decide_when_scored)
        on_scored_by_hits(decide_when_scored_by_hits)
        on_cost(check_cost_gates)
        on_evaluation_page(results_panel)
        on_slices_page(slices_panel)

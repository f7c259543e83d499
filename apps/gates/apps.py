from django.apps import AppConfig


class GatesConfig(AppConfig):
    name = "apps.gates"
    label = "gates"

    def ready(self) -> None:
        from apps.evaluation.edges.panels import on_evaluation_page
        from apps.evaluation.execution.listeners import on_cost, on_scored
        from apps.gates.actions import hold_to_cost
        from apps.gates.edges import results_panel
        from apps.gates.execution.decisions import decide_when_scored

        on_scored(decide_when_scored)
        on_cost(hold_to_cost)
        on_evaluation_page(results_panel)

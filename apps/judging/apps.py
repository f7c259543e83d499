from django.apps import AppConfig


class JudgingConfig(AppConfig):
    name = "apps.judging"
    label = "judging"

    def ready(self) -> None:
        from apps.accounts.execution.leaving import on_leaving
        from apps.common.discovery import later
        from apps.judging.selectors import sealed
        from apps.retrieval.selectors.blinding import add_pool_check
        from apps.retrieval.selectors.pools import add_grade_source, add_withdrawn_check

        sealed.register()
        add_pool_check(later("apps.judging.selectors.rounds.pools_judged_by"))
        add_grade_source(later("apps.judging.selectors.pairs.grades_for_pool"))
        add_withdrawn_check(later("apps.judging.selectors.rounds.withdrawn_pools"))
        on_leaving(
            later("apps.judging.selectors.rounds.held_pairs"), later("apps.judging.actions.seats.return_all_seats_of")
        )

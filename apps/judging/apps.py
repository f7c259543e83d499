from django.apps import AppConfig


class JudgingConfig(AppConfig):
    name = "apps.judging"
    label = "judging"

    def ready(self) -> None:
        from apps.judging.selectors import sealed
        from apps.judging.selectors.pairs import grades_for_pool
        from apps.judging.selectors.rounds import pools_judged_by, withdrawn_pools
        from apps.retrieval.selectors.blinding import add_pool_check
        from apps.retrieval.selectors.known_grades import add_grade_source
        from apps.retrieval.selectors.withdrawn import add_withdrawn_check

        sealed.register()
        add_pool_check(pools_judged_by)
        add_grade_source(grades_for_pool)
        add_withdrawn_check(withdrawn_pools)

from django.apps import AppConfig


class JudgingConfig(AppConfig):
    name = "apps.judging"
    label = "judging"

    def ready(self) -> None:
        from apps.judging.selectors import sealed
        from apps.judging.selectors.grades import grades_for_pool
        from apps.judging.selectors.rounds import is_judging_from
        from apps.retrieval.selectors.blinding import ask
        from apps.retrieval.selectors.known_grades import keeps_grades

        sealed.register()
        ask(is_judging_from)
        keeps_grades(grades_for_pool)

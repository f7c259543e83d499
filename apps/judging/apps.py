from django.apps import AppConfig


class JudgingConfig(AppConfig):
    name = "apps.judging"
    label = "judging"

    def ready(self) -> None:
        from apps.judging import sealing
        from apps.judging.selectors.grades import grades_beside
        from apps.judging.selectors.rounds import is_judging_from
        from apps.retrieval.blinding import ask
        from apps.retrieval.grading import keeps_grades

        sealing.register()
        ask(is_judging_from)
        keeps_grades(grades_beside)

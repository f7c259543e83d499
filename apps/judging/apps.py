from django.apps import AppConfig


class JudgingConfig(AppConfig):
    name = "apps.judging"
    label = "judging"

    def ready(self) -> None:
        from apps.accounts.execution.leaving import on_leaving
        from apps.common.discovery import later
        from apps.jobs.selectors.notification_lines import ToldTogether, told_together
        from apps.judging.enums import NOTICES
        from apps.judging.selectors import sealed
        from apps.retrieval.selectors.blinding import pool_checks
        from apps.retrieval.selectors.pools import after_pooling, effort_words, grade_sources, withdrawn_checks

        sealed.register()
        for kind, (words, page) in NOTICES.items():
            told_together.add(ToldTogether(kind, words, page))
        pool_checks.add(later("apps.judging.selectors.rounds.pools_judged_by"))
        grade_sources.add(later("apps.judging.selectors.pairs.grades_for_pool"))
        after_pooling.add(later("apps.judging.actions.rounds.open_pilot"))
        effort_words.add(later("apps.judging.selectors.plans.words_for"))
        withdrawn_checks.add(later("apps.judging.selectors.rounds.withdrawn_pools"))
        on_leaving(
            later("apps.judging.selectors.rounds.held_pairs"), later("apps.judging.actions.seats.return_all_seats_of")
        )

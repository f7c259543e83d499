from django.apps import AppConfig


class TriplesConfig(AppConfig):
    name = "apps.triples"
    label = "triples"

    def ready(self) -> None:
        from apps.common.discovery import later
        from apps.corpus.execution.freezing import after_freezing
        from apps.queries.actions.sources import rests_on_permissions
        from apps.queries.selectors import count_triples_with
        from apps.retrieval.selectors.question_sets import names_of_queries

        after_freezing.add(later("apps.triples.actions.triples.compare_with_snapshot"))
        rests_on_permissions(later("apps.triples.actions.triples.TriplesOnPermissions"))
        count_triples_with(later("apps.triples.selectors.triples.counts_by_stratum"))
        names_of_queries.add(later("apps.triples.selectors.triples.asked_by_label"))

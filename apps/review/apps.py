from django.apps import AppConfig


class ReviewConfig(AppConfig):
    name = "apps.review"
    label = "review"

    def ready(self) -> None:
        from apps.accounts.execution.leaving import on_leaving
        from apps.common.discovery import later
        from apps.corpus.presenters import on_import_page
        from apps.queries.actions.sources import rests_on_permissions
        from apps.retrieval.selectors.blinding import query_checks
        from apps.review.selectors import reviews
        from apps.triples.selectors.imported import rests_on_accepted

        reviews.register()
        on_import_page.add(later("apps.review.presenters.elsewhere.elsewhere_panel"))
        rests_on_accepted.add(later("apps.review.selectors.elsewhere.rests_on"))
        rests_on_permissions(later("apps.review.actions.seating.ReviewsOnPermissions"))
        query_checks.add(later("apps.review.selectors.reviews.results_hidden_from"))
        on_leaving(
            later("apps.review.selectors.seats.held_reviews"), later("apps.review.actions.seating.give_up_seats")
        )

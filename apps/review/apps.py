from django.apps import AppConfig


class ReviewConfig(AppConfig):
    name = "apps.review"
    label = "review"

    def ready(self) -> None:
        from apps.accounts.execution.leaving import on_leaving
        from apps.common.discovery import later
        from apps.queries.execution.revoking import rests_on_permissions
        from apps.retrieval.selectors.blinding import query_checks
        from apps.review.selectors import reviews

        reviews.register()
        rests_on_permissions(later("apps.review.actions.seating.ReviewsOnPermissions"))
        query_checks.add(later("apps.review.selectors.reviews.results_hidden_from"))
        on_leaving(
            later("apps.review.selectors.seats.held_reviews"), later("apps.review.actions.seating.give_up_seats")
        )

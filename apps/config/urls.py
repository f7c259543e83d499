"""The URLs of all pages and endpoints."""

from django.urls import include, path

from apps.dashboard.edges.health import healthz, readyz
from apps.dashboard.edges.metrics import metrics

handler400 = "apps.dashboard.edges.errors.bad_request"
handler403 = "apps.dashboard.edges.errors.forbidden"
handler404 = "apps.dashboard.edges.errors.not_found"
handler500 = "apps.dashboard.edges.errors.server_error"

PROJECT_PAGES = [
    path("", include("apps.accounts.pages.members")),
    path("corpus/", include("apps.corpus.pages.urls")),
    path("queries/", include("apps.queries.pages.urls")),
    path("runs/", include("apps.retrieval.pages.urls")),
    path("triples/", include("apps.triples.pages.urls")),
    path("review/", include("apps.review.pages.urls")),
    path("judging/", include("apps.judging.pages.urls")),
    path("agreement/", include("apps.agreement.pages.urls")),
    path("agreement/", include("apps.calibration.pages.urls")),
    path("versions/", include("apps.goldsets.pages.urls")),
    path("editions/", include("apps.editions.pages.urls")),
    path("evaluation/gates/", include("apps.gates.pages.urls")),
    path("evaluation/", include("apps.reports.pages.urls")),
    path("evaluation/", include("apps.evaluation.pages.urls")),
    path("jobs/", include("apps.jobs.pages.urls")),
    path("notifications/", include("apps.jobs.pages.notification_urls")),
    path("audit/", include("apps.audit.pages.views")),
]

PROJECT_API = [
    path("judging/", include("apps.judging.api.urls")),  # asked most often, and looked at in this order
    path("people/", include("apps.accounts.api.urls")),
    path("settings/", include("apps.dashboard.api.settings")),
    path("jobs/", include("apps.jobs.api.urls")),
    path("notifications/", include("apps.jobs.api.notification_urls")),
    path("corpus/", include("apps.corpus.api.urls")),
    path("queries/", include("apps.queries.api.urls")),
    path("runs/", include("apps.retrieval.api.urls")),
    path("systems/", include("apps.retrieval.api.system_urls")),
    path("triples/export/", include("apps.review.api.reviews")),
    path("triples/", include("apps.triples.api.urls")),
    path("review/", include("apps.review.api.urls")),
    path("collections/", include("apps.judging.api.collections")),
    path("agreement/", include("apps.agreement.api.urls")),
    path("agreement/", include("apps.calibration.api.urls")),
    path("versions/", include("apps.goldsets.api.urls")),
    path("editions/", include("apps.editions.api.urls")),
    path("evaluation/gates/", include("apps.gates.api.urls")),
    path("evaluation/", include("apps.reports.api.urls")),
    path("evaluation/", include("apps.evaluation.api.urls")),
]

urlpatterns = [
    path("api/v1/projects/<slug:slug>/", include(PROJECT_API)),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("", include("apps.dashboard.pages.urls")),
    path("", include("apps.accounts.pages.urls")),
    path("", include("apps.jobs.pages.mail_urls")),
    path("server/webhook/", include("apps.jobs.pages.server_urls")),
    path("", include("apps.gates.pages.badge_urls")),
    path("p/<slug:slug>/", include(PROJECT_PAGES)),
    path("api/", include("apps.dashboard.api.urls")),
]

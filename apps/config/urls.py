"""Where every page and endpoint hangs."""

from django.urls import include, path

from apps.dashboard.health import healthz

handler400 = "apps.dashboard.errors.bad_request"
handler403 = "apps.dashboard.errors.forbidden"
handler404 = "apps.dashboard.errors.not_found"
handler500 = "apps.dashboard.errors.server_error"

PROJECT_PAGES = [
    path("", include("apps.accounts.project_urls")),
    path("corpus/", include("apps.corpus.urls")),
    path("queries/", include("apps.queries.urls")),
    path("runs/", include("apps.retrieval.urls")),
    path("triples/", include("apps.triples.urls")),
    path("review/", include("apps.review.urls")),
    path("judging/", include("apps.judging.urls")),
    path("agreement/", include("apps.agreement.urls")),
    path("versions/", include("apps.goldsets.urls")),
    path("evaluation/gates/", include("apps.gates.pages.urls")),
    path("evaluation/", include("apps.reports.pages.urls")),
    path("evaluation/", include("apps.evaluation.pages.urls")),
    path("jobs/", include("apps.jobs.urls")),
    path("notifications/", include("apps.jobs.notification_urls")),
    path("audit/", include("apps.audit.urls")),
]

PROJECT_API = [
    path("jobs/", include("apps.jobs.api_urls")),
    path("notifications/", include("apps.jobs.notification_api_urls")),
    path("corpus/", include("apps.corpus.api_urls")),
    path("queries/", include("apps.queries.api_urls")),
    path("runs/", include("apps.retrieval.api_urls")),
    path("systems/", include("apps.retrieval.system_api_urls")),
    path("triples/export/", include("apps.review.export_urls")),
    path("triples/", include("apps.triples.api_urls")),
    path("review/", include("apps.review.api_urls")),
    path("judging/", include("apps.judging.api_urls")),
    path("agreement/", include("apps.agreement.api_urls")),
    path("versions/", include("apps.goldsets.api_urls")),
    path("evaluation/gates/", include("apps.gates.api.urls")),
    path("evaluation/", include("apps.reports.api.urls")),
    path("evaluation/", include("apps.evaluation.api.urls")),
]

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("", include("apps.dashboard.urls")),
    path("", include("apps.accounts.urls")),
    path("", include("apps.jobs.mail_urls")),
    path("", include("apps.gates.pages.badge_urls")),
    path("p/<slug:slug>/", include(PROJECT_PAGES)),
    path("api/v1/projects/<slug:slug>/", include(PROJECT_API)),
    path("api/", include("apps.dashboard.api_urls")),
]

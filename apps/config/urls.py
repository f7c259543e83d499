"""The URLs of all pages and endpoints."""

from django.urls import include, path

from apps.accounts import urls as accounts
from apps.agents import urls as agents
from apps.agreement import urls as agreement
from apps.audit import urls as audit
from apps.calibration import urls as calibration
from apps.corpus import urls as corpus
from apps.dashboard import urls as dashboard
from apps.dashboard.pages.health import healthz, readyz
from apps.dashboard.pages.metrics import metrics
from apps.editions import urls as editions
from apps.evaluation import urls as evaluation
from apps.gates import urls as gates
from apps.goldsets import urls as goldsets
from apps.jobs import urls as jobs
from apps.judging import urls as judging
from apps.queries import urls as queries
from apps.querylogs import urls as querylogs
from apps.reports import urls as reports
from apps.retrieval import urls as retrieval
from apps.review import urls as review
from apps.triples import urls as triples

handler400 = "apps.dashboard.pages.errors.bad_request"
handler403 = "apps.dashboard.pages.errors.forbidden"
handler404 = "apps.dashboard.pages.errors.not_found"
handler500 = "apps.dashboard.pages.errors.server_error"

PROJECT_PAGES = [
    path("", include((accounts.project_pages, "people"))),
    path("corpus/", include((corpus.pages, "corpus"))),
    path("queries/logs/", include((querylogs.pages, "querylogs"))),
    path("queries/", include((queries.pages, "queries"))),
    path("runs/", include((retrieval.pages, "retrieval"))),
    path("triples/", include((triples.pages, "triples"))),
    path("review/", include((review.pages, "review"))),
    path("judging/", include((judging.pages, "judging"))),
    path("agreement/", include((agreement.pages, "agreement"))),
    path("agreement/", include((calibration.pages, "calibration"))),
    path("versions/", include((goldsets.pages, "goldsets"))),
    path("editions/", include((editions.pages, "editions"))),
    path("evaluation/gates/", include((gates.pages, "gates"))),
    path("evaluation/", include((reports.pages, "reports"))),
    path("evaluation/", include((evaluation.pages, "evaluation"))),
    path("jobs/", include((jobs.pages, "jobs"))),
    path("notifications/", include((jobs.notification_pages, "notifications"))),
    path("audit/", include((audit.pages, "audit"))),
]

PROJECT_API = [
    path("judging/", include((judging.api, "judging-api"))),  # asked most often, and looked at in this order
    path("people/", include((accounts.api, "people-api"))),
    path("settings/", include((dashboard.settings_api, "settings-api"))),
    path("jobs/", include((jobs.api, "jobs-api"))),
    path("notifications/", include((jobs.notification_api, "notifications-api"))),
    path("corpus/", include((corpus.api, "corpus-api"))),
    path("queries/logs/", include((querylogs.api, "querylogs-api"))),
    path("queries/", include((queries.api, "queries-api"))),
    path("runs/", include((retrieval.api, "retrieval-api"))),
    path("systems/", include((retrieval.system_api, "systems-api"))),
    path("triples/export/", include((review.export_api, "triples-export"))),
    path("triples/", include((triples.api, "triples-api"))),
    path("review/", include((review.api, "review-api"))),
    path("collections/", include((judging.collection_api, "collections-api"))),
    path("agreement/", include((agreement.api, "agreement-api"))),
    path("agreement/", include((calibration.api, "calibration-api"))),
    path("versions/", include((goldsets.api, "goldsets-api"))),
    path("editions/", include((editions.api, "editions-api"))),
    path("evaluation/gates/", include((gates.api, "gates-api"))),
    path("evaluation/", include((reports.api, "reports-api"))),
    path("evaluation/", include((evaluation.api, "evaluation-api"))),
]

urlpatterns = [
    path("api/v1/projects/<slug:slug>/", include(PROJECT_API)),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("", include((agents.urlpatterns, "agents"))),
    path("", include((dashboard.pages, "dashboard"))),
    path("", include((accounts.pages, "accounts"))),
    path("", include((jobs.mail_pages, "mail"))),
    path("server/webhook/", include((jobs.server_webhook_pages, "server-webhook"))),
    path("", include((gates.badges, "badges"))),
    path("", include((querylogs.receiver, "traces"))),
    path("p/<slug:slug>/", include(PROJECT_PAGES)),
    path("api/", include((dashboard.api, "api"))),
]

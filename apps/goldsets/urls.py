"""The addresses of the pages and of the API."""

from django.urls import URLPattern, URLResolver, include, path

from apps.goldsets.api import public as public_api
from apps.goldsets.api import slices as slices_api
from apps.goldsets.api import training as training_api
from apps.goldsets.api import views
from apps.goldsets.pages import public, slices, training, versions

PUBLIC: list[URLPattern | URLResolver] = [
    path("", public.public_page, name="public"),
    path("prepare/", public.prepare, name="public-prepare"),
    path("texts/", public.texts, name="public-texts"),
    path("card/", public.card, name="public-card"),
    path("preview/<slug:kind>/<int:record>/", public.preview, name="public-preview"),
    path("stays-in/<slug:kind>/<slug:reason>/", public.stays, name="public-exclusions"),
    path("texts-found/", public.decide, name="public-decide"),
    path("ask/", public.ask, name="public-ask"),
    path("sign/", public.sign, name="public-sign"),
    path("release/", public.publish, name="public-release"),
    path("withdraw/", public.withdraw, name="public-withdraw"),
    path("file/", public.file, name="public-file"),
]

VERSION: list[URLPattern | URLResolver] = [
    path("", versions.version_page, name="version"),
    path("change/", versions.change_version, name="change"),
    path("freeze/", versions.freeze, name="freeze"),
    path("release/", versions.release, name="release"),
    path("discard/", versions.discard, name="discard"),
    path("difference/", versions.difference, name="difference"),
    path("documents/", versions.documents, name="documents"),
    path("left-out/", versions.left_out, name="left-out"),
    path("export/", versions.export, name="export"),
    path("grades-back/", versions.send_grades, name="send-grades"),
    path("slices/draw/", slices.draw, name="draw-slice"),
    path("slices/<slug:part>/", slices.slice_page, name="slice"),
    path("slices/<slug:part>/pick/", slices.pick, name="pick-questions"),
    path("slices/<slug:part>/found/", slices.add_found, name="add-found"),
    path("public/", include(PUBLIC)),
    path("training/", training.training_found, name="training-found"),
    path("items/<slug:split>/<slug:kind>/", versions.items, name="items"),
]

pages: list[URLPattern | URLResolver] = [
    path("", versions.version_list, name="list"),
    path("new/", versions.new_gold_set, name="new"),
    path("signing-key/", versions.signing, name="signing"),
    path("signing-key/new/", versions.make_key, name="make-key"),
    path("training/", training.training_list, name="training"),
    path("training/<int:pk>/retire/", training.retire, name="retire-training"),
    path("<slug:gold_set>/new/", versions.new_version, name="new-version"),
    path("<slug:gold_set>/v<int:number>/", include(VERSION)),
]

PUBLIC = [
    path("", public_api.PublicReleaseDetail.as_view(), name="public"),
    path("all/", public_api.PublicReleaseList.as_view(), name="public-list"),
    path("texts/", public_api.PublicTextsView.as_view(), name="public-texts"),
    path("texts-found/", public_api.PublicReleaseTexts.as_view(), name="public-decide"),
    path("ask/", public_api.PublicReleaseAsk.as_view(), name="public-ask"),
    path("sign/", public_api.PublicReleaseSign.as_view(), name="public-sign"),
    path("release/", public_api.PublicReleaseRelease.as_view(), name="public-release"),
    path("withdraw/", public_api.PublicReleaseWithdraw.as_view(), name="public-withdraw"),
    path("preview/<slug:kind>/<int:record>/", public_api.PublicReleasePreview.as_view(), name="public-preview"),
    path("stays-in/", public_api.PublicReleaseStays.as_view(), name="public-exclusions"),
    path("file/", public_api.PublicReleaseFile.as_view(), name="public-file"),
]

SLICES = [
    path("", slices_api.SliceList.as_view(), name="slices"),
    path("draw/", slices_api.SliceDraw.as_view(), name="draw-slice"),
    path("<slug:part>/", slices_api.SliceDetail.as_view(), name="slice"),
    path("<slug:part>/offers/", slices_api.SliceOffers.as_view(), name="slice-offers"),
]

api: list[URLPattern | URLResolver] = [
    path("", views.VersionList.as_view(), name="list"),
    path("gold-sets/", views.GoldSetList.as_view(), name="gold-sets"),
    path("gold-sets/<slug:gold_set>/drafts/", views.DraftList.as_view(), name="drafts"),
    path("<slug:gold_set>/v<int:number>/change/", views.DraftChange.as_view(), name="change"),
    path("<slug:gold_set>/v<int:number>/blockers/", views.DraftBlockers.as_view(), name="blockers"),
    path("<slug:gold_set>/v<int:number>/freeze/", views.VersionFreeze.as_view(), name="freeze"),
    path("<slug:gold_set>/v<int:number>/release/", views.VersionRelease.as_view(), name="release"),
    path("<slug:gold_set>/v<int:number>/discard/", views.DraftDiscard.as_view(), name="discard"),
    path("<slug:gold_set>/v<int:number>/", views.VersionDetail.as_view(), name="version"),
    path("<slug:gold_set>/v<int:number>/documents/", views.VersionDocuments.as_view(), name="documents"),
    path("<slug:gold_set>/v<int:number>/left-out/", views.VersionLosses.as_view(), name="left-out"),
    path("<slug:gold_set>/v<int:number>/export/", views.VersionExport.as_view(), name="export"),
    path("<slug:gold_set>/v<int:number>/grades-back/", views.VersionSendGrades.as_view(), name="send-grades"),
    path("<slug:gold_set>/v<int:number>/public-release/", include(PUBLIC)),
    path("<slug:gold_set>/v<int:number>/slices/", include(SLICES)),
    path("<slug:gold_set>/v<int:number>/training/", training_api.KnownItems.as_view(), name="training-known"),
    path("training/", training_api.ManifestList.as_view(), name="training"),
    path("training/<int:pk>/retire/", training_api.ManifestRetire.as_view(), name="retire-training"),
    path("training/", include(training_api.IMPORT_URLS)),
]

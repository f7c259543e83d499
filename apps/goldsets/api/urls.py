from django.urls import include, path

from apps.goldsets.api import public, slices, training, views

app_name = "goldsets-api"
PUBLIC = [
    path("", public.PublicReleaseDetail.as_view(), name="public"),
    path("all/", public.PublicReleaseList.as_view(), name="public-list"),
    path("texts-found/", public.PublicReleaseTexts.as_view(), name="public-decide"),
    path("ask/", public.PublicReleaseAsk.as_view(), name="public-ask"),
    path("sign/", public.PublicReleaseSign.as_view(), name="public-sign"),
    path("release/", public.PublicReleaseRelease.as_view(), name="public-release"),
    path("withdraw/", public.PublicReleaseWithdraw.as_view(), name="public-withdraw"),
    path("preview/<slug:kind>/<int:record>/", public.PublicReleasePreview.as_view(), name="public-preview"),
    path("stays-in/", public.PublicReleaseStays.as_view(), name="public-exclusions"),
    path("file/", public.PublicReleaseFile.as_view(), name="public-file"),
]

SLICES = [
    path("", slices.SliceList.as_view(), name="slices"),
    path("draw/", slices.SliceDraw.as_view(), name="draw-slice"),
    path("<slug:part>/", slices.SliceDetail.as_view(), name="slice"),
    path("<slug:part>/offers/", slices.SliceOffers.as_view(), name="slice-offers"),
]

urlpatterns = [
    path("", views.VersionList.as_view(), name="list"),
    path("gold-sets/", views.GoldSetList.as_view(), name="gold-sets"),
    path("gold-sets/<slug:gold_set>/drafts/", views.DraftList.as_view(), name="drafts"),
    path("<slug:gold_set>/v<int:number>/change/", views.DraftChange.as_view(), name="change"),
    path("<slug:gold_set>/v<int:number>/blockers/", views.DraftBlockers.as_view(), name="blockers"),
    path("<slug:gold_set>/v<int:number>/freeze/", views.VersionFreeze.as_view(), name="freeze"),
    path("<slug:gold_set>/v<int:number>/release/", views.VersionRelease.as_view(), name="release"),
    path("<slug:gold_set>/v<int:number>/discard/", views.DraftDiscard.as_view(), name="discard"),
    path("<slug:gold_set>/v<int:number>/", views.VersionDetail.as_view(), name="version"),
    path("<slug:gold_set>/v<int:number>/left-out/", views.VersionLosses.as_view(), name="left-out"),
    path("<slug:gold_set>/v<int:number>/export/", views.VersionExport.as_view(), name="export"),
    path("<slug:gold_set>/v<int:number>/public-release/", include(PUBLIC)),
    path("<slug:gold_set>/v<int:number>/slices/", include(SLICES)),
    path("<slug:gold_set>/v<int:number>/training/", training.KnownItems.as_view(), name="training-known"),
    path("training/", training.ManifestList.as_view(), name="training"),
    path("training/<int:pk>/retire/", training.ManifestRetire.as_view(), name="retire-training"),
    path("training/", include(training.IMPORT_URLS)),
]

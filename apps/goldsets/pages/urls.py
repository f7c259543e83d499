from django.urls import URLPattern, URLResolver, include, path

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
    path("left-out/", versions.left_out, name="left-out"),
    path("export/", versions.export, name="export"),
    path("slices/draw/", slices.draw, name="draw-slice"),
    path("slices/<slug:part>/", slices.slice_page, name="slice"),
    path("slices/<slug:part>/pick/", slices.pick, name="pick-questions"),
    path("slices/<slug:part>/found/", slices.add_found, name="add-found"),
    path("public/", include(PUBLIC)),
    path("training/", training.training_found, name="training-found"),
    path("items/<slug:split>/<slug:kind>/", versions.items, name="items"),
]

app_name = "goldsets"
urlpatterns = [
    path("", versions.version_list, name="list"),
    path("new/", versions.new_gold_set, name="new"),
    path("signing-key/", versions.signing, name="signing"),
    path("signing-key/new/", versions.make_key, name="make-key"),
    path("training/", training.training_list, name="training"),
    path("training/<int:pk>/retire/", training.retire, name="retire-training"),
    path("<slug:gold_set>/new/", versions.new_version, name="new-version"),
    path("<slug:gold_set>/v<int:number>/", include(VERSION)),
]

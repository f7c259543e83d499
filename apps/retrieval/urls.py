"""The addresses of the pages and of the API."""

from django.urls import path

from apps.retrieval.api.pools import PoolDetail, PoolGrow, PoolList, PoolMissing, PoolSheet
from apps.retrieval.api.runs import PushDetail, RunDetail, RunList, RunReachDetail
from apps.retrieval.api.systems import (
    FusionList,
    LoadedDetail,
    LoadedDrop,
    LoadedList,
    LoadedSystems,
    RemoteList,
    SystemDetail,
    SystemList,
    SystemPace,
    SystemRuns,
)
from apps.retrieval.pages import pools, runs, systems

pages = [
    path("", systems.overview, name="overview"),
    path("all/", systems.all_runs, name="runs"),
    path("systems/new/", systems.new_system, name="new-system"),
    path("systems/fusion/", runs.new_fusion, name="new-fusion"),
    path("systems/elsewhere/", systems.new_remote, name="new-remote"),
    path("loaded/", systems.loaded, name="loaded"),
    path("loaded/<int:pk>/", systems.loaded_index, name="loaded-index"),
    path("loaded/<int:pk>/drop/", systems.drop, name="drop-loaded"),
    path("loaded/<int:pk>/search/", systems.search, name="search-loaded"),
    path("systems/<int:pk>/pace/", systems.pace, name="pace"),
    path("systems/<int:pk>/", systems.system, name="system"),
    path("run/<int:pk>/", runs.run, name="run"),
    path("run/<int:pk>/reach/", runs.reach, name="reach"),
    path("run/<int:pk>/results.jsonl", runs.results_jsonl, name="results"),
    path("upload/", runs.upload, name="upload"),
    path("upload/queries.csv", runs.queries_csv, name="queries-csv"),
    path("upload/passages-<int:pk>.csv", runs.passages_csv, name="passages-csv"),
    path("upload/<int:pk>/", runs.preview, name="preview"),
    path("upload/<int:pk>/mistakes.csv", runs.mistakes, name="mistakes"),
    path("upload/<int:pk>/import/", runs.confirm, name="confirm"),
    path("upload/<int:pk>/discard/", runs.discard, name="discard"),
    path("pools/new/", pools.new_pool, name="new-pool"),
    path("pools/estimate/", pools.estimate, name="estimate"),
    path("pools/<int:pk>/", pools.pool, name="pool"),
    path("pools/<int:pk>/grow/", pools.grow, name="grow-pool"),
    path("pools/<int:pk>/missing/", pools.missing, name="missing"),
    path("pools/<int:pk>/provenance/", pools.provenance, name="provenance"),
    path("pools/<int:pk>/sheet.csv", pools.sheet, name="sheet"),
]

api = [
    path("", RunList.as_view(), name="runs"),
    path("<int:pk>/", RunDetail.as_view(), name="run"),
    path("<int:pk>/reach/", RunReachDetail.as_view(), name="reach"),
    path("pushes/<int:pk>/", PushDetail.as_view(), name="push"),
    path("pools/", PoolList.as_view(), name="pools"),
    path("pools/<int:pk>/", PoolDetail.as_view(), name="pool"),
    path("pools/<int:pk>/grow/", PoolGrow.as_view(), name="grow-pool"),
    path("pools/<int:pk>/missing/", PoolMissing.as_view(), name="missing"),
    path("pools/<int:pk>/sheet/", PoolSheet.as_view(), name="sheet"),
]

system_api = [
    path("", SystemList.as_view(), name="systems"),
    path("fusions/", FusionList.as_view(), name="fusions"),
    path("remote/", RemoteList.as_view(), name="remote"),
    path("loaded/", LoadedList.as_view(), name="loaded"),
    path("loaded/<int:pk>/", LoadedDetail.as_view(), name="loaded-index"),
    path("loaded/<int:pk>/drop/", LoadedDrop.as_view(), name="drop-loaded"),
    path("loaded/<int:pk>/systems/", LoadedSystems.as_view(), name="search-loaded"),
    path("<int:pk>/", SystemDetail.as_view(), name="system"),
    path("<int:pk>/pace/", SystemPace.as_view(), name="pace"),
    path("<int:pk>/runs/", SystemRuns.as_view(), name="run"),
]

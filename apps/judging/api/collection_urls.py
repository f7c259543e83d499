from apps.judging.api import collections

app_name = "collections-api"
urlpatterns = collections.URLS

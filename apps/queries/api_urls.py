app_name = "queries-api"
urlpatterns: list = []

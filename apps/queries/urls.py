app_name = "queries"
urlpatterns: list = []

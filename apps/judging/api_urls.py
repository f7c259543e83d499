app_name = "judging-api"
urlpatterns: list = []

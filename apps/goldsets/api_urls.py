app_name = "goldsets-api"
urlpatterns: list = []

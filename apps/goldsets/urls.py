app_name = "goldsets"
urlpatterns: list = []

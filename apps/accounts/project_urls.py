app_name = "people"
urlpatterns: list = []

app_name = "home"
urlpatterns: list = []

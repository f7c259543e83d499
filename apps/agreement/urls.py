app_name = "agreement"
urlpatterns: list = []

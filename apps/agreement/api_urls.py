app_name = "agreement-api"
urlpatterns: list = []

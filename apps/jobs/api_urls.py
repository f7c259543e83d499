app_name = "jobs-api"
urlpatterns: list = []

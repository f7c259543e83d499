app_name = "evaluation-api"
urlpatterns: list = []

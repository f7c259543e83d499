app_name = "review-api"
urlpatterns: list = []

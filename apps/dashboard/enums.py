LOAD_DEMO = "dashboard.load_demo"
"""The kind of job that fills a demo project."""

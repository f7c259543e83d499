"""Home page, health check, demo project: pages that use several apps."""

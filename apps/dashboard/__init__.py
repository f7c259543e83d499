"""Home, health, the demo project: pages that look across apps."""

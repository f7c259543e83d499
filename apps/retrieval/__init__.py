"""Systems and search engines, runs, pools."""

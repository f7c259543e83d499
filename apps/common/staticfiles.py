"""Static files under hashed names, JavaScript modules included."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """Rewrites static `import` lines too; it finds only those that end in a semicolon."""

    support_js_module_import_aggregation = True

"""Static files under hashed names, JavaScript modules included."""

import re
from collections.abc import Callable
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage

OWN_SCRIPTS = "js/"


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """Rewrites static `import` lines of our own modules; it finds only those that end in a semicolon.

    Scripts of other packages are kept as they are: their comments may look like imports of files that do not exist.
    """

    support_js_module_import_aggregation = True

    def url_converter(
        self, name: str, hashed_files: dict[str, str], template: str | None = None
    ) -> Callable[[re.Match[str]], str]:
        if name.endswith(".js") and not name.startswith(OWN_SCRIPTS):
            return lambda match: match.group(0)
        convert: Any = super().url_converter(name, hashed_files, template)
        return convert

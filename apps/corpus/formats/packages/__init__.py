"""Files that come together: a zip, a folder, or several files, which are stored as one zip.

`open_package` walks an upload, `pack` makes one zip of many files.
"""

from apps.corpus.formats.packages.on_disk import Opener, pack, package_name
from apps.corpus.formats.packages.unpacking import LIMITS, Package, PackageLimits, open_package

__all__ = ["LIMITS", "Opener", "Package", "PackageLimits", "open_package", "pack", "package_name"]

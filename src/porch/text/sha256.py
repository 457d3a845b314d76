"""SHA-256 without OpenSSL, which takes milliseconds to load and is quicker only for megabytes."""

# Said here, because `typing` takes longer to load than all of this.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256
else:
    from importlib import import_module

    def _find_sha256(module):
        try:
            return import_module(module).sha256
        except ImportError:
            return None

    # The first of these since Python 3.12, the second before it; some builds have neither.
    sha256 = next(filter(None, map(_find_sha256, ("_sha2", "_sha256", "hashlib"))))

__all__ = ["sha256"]

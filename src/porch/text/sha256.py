"""SHA-256 without OpenSSL, which takes milliseconds to load and is quicker only for megabytes."""

# Said here, because `typing` takes longer to load than all of this.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha2 import sha256
    except ImportError:
        try:
            from _sha256 import sha256  # of Python 3.11
        except ImportError:
            from hashlib import sha256

__all__ = ["sha256"]

"""SHA-1, by which git names objects, without OpenSSL, which takes milliseconds to load."""

# Said here, because `typing` takes longer to load than all of this.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha1
else:
    try:
        from _sha1 import sha1
    except ImportError:  # pragma: no cover - some builds have only OpenSSL's
        from hashlib import sha1

__all__ = ["sha1"]

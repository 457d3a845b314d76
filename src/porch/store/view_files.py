"""Files that show what a journal says begin with a checksum, so that damage is noticed.

They are JSON with and without it. A damaged one counts as missing, and is made again from the
journal. The checksum shows accidents: who can write the file can write another checksum.
"""

from binascii import crc32

_HEAD = b'{"crc":"%08x",'
_NAME, _LENGTH = b'{"crc":"', len(_HEAD % 0)


def seal(view: bytes) -> bytes:
    """A JSON object, with its checksum in front."""
    return _HEAD % crc32(view[1:]) + view[1:]


def check_sealed(data: bytes) -> bytes:
    """The same data; ValueError if its checksum is missing or of something else."""
    if not data.startswith(_NAME) or data[:_LENGTH] != _HEAD % crc32(data[_LENGTH:]):
        raise ValueError("the checksum does not fit")
    return data

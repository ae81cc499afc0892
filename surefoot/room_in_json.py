"""Text cut to a size that is measured as JSON."""

from surefoot.strict_json import json_bytes
from surefoot.truncation import keep_ends


def ends_in_json(text: str, *, limit_bytes: int, room_in_json: int) -> str:
    """Give the text as `keep_ends` does, within a room that counts what JSON escapes; empty if there is none.

    `limit_bytes` is the limit that is named.
    """
    room = room_in_json
    while room > 0:
        cut = keep_ends(text, limit_bytes, room_bytes=room)
        in_json = json_bytes(cut) - len('""')
        if in_json <= room_in_json:
            return cut
        # What is escaped takes more; how much of that its ends hold is not known before.
        room = room * room_in_json // in_json - 1
    return ""

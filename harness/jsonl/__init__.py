"""JSON Lines files: reading what anybody wrote, and the append-only journal that our own results go to.

- `disk.py`: bytes that are on the disk wholly or not at all, and what a disk refuses in the user's words
- `lines.py`: rows as lines, read and written
- `locks.py`: one writer for each file, and who it is
- `texts.py`: whole texts, written in one step
- `journal.py`: the journal, which keeps a file whole whatever happens

What is set aside, the locks and the rest stay in a state folder (`.turnbench/`), so the data folders hold only public
formats.
"""

from harness.jsonl.disk import append_bytes, need_own, need_regular, replace_bytes
from harness.jsonl.journal import Journal
from harness.jsonl.lines import Row, encode, finite, read_rows, row_of, sound_rows, taken_as, value_of, warn_of_torn
from harness.jsonl.locks import holder_of, lock
from harness.jsonl.texts import put_text, storing

__all__ = [
    "Journal",
    "Row",
    "append_bytes",
    "encode",
    "finite",
    "holder_of",
    "lock",
    "need_own",
    "need_regular",
    "put_text",
    "read_rows",
    "replace_bytes",
    "row_of",
    "sound_rows",
    "storing",
    "taken_as",
    "value_of",
    "warn_of_torn",
]

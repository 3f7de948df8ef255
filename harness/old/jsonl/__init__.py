"""JSON Lines files: reading what anybody wrote, and the append-only journal that our own results go to.

- `disk.py`: bytes that are on the disk wholly or not at all, and what a disk refuses in the user's words
- `files.py`: which files hold a file's rows, split or compressed as they may be, and how each is opened
- `lines.py`: rows as lines, read and written
- `locks.py`: one writer for each file, and who it is
- `texts.py`: whole texts, written in one step
- `journal.py`: the journal, which keeps a file whole whatever happens

What is set aside, the locks and the rest stay in a state folder (`.turnbench/`), so the data folders hold only public
formats.
"""

from harness.old.jsonl.disk import append_bytes, need_own, need_regular, replace_bytes
from harness.old.jsonl.files import files_of, holds_lines, is_there, logical_file, logical_files, open_bytes, size_of
from harness.old.jsonl.journal import Journal, StateJournal
from harness.old.jsonl.lines import Row, encode, finite, read_rows, row_of, sound_rows, taken_as, value_of, warn_of_torn
from harness.old.jsonl.locks import has_lock, holder_of, lock
from harness.old.jsonl.texts import put_table, put_text, storing

__all__ = [
    "Journal",
    "Row",
    "StateJournal",
    "append_bytes",
    "encode",
    "files_of",
    "finite",
    "has_lock",
    "holder_of",
    "holds_lines",
    "is_there",
    "lock",
    "logical_file",
    "logical_files",
    "need_own",
    "need_regular",
    "open_bytes",
    "put_table",
    "put_text",
    "read_rows",
    "replace_bytes",
    "row_of",
    "size_of",
    "sound_rows",
    "storing",
    "taken_as",
    "value_of",
    "warn_of_torn",
]

"""Completions by content: a request that a model has answered once need not be paid for again, for any file.

    with Cache(path) as cache:
        shelf = cache.shelf(endpoint)
        shelf.find(shelf.key(request))      # a reply with `from_cache`, or None

The key is what is sent (provider, model string, address, messages, sampling, log-probabilities, schema) and the
sample: the k-th sample of a question, or the k-th attempt of a judgment, is a separate completion. The
names of models and benchmarks do not count. Only complete replies are kept; built-in models
cost nothing and are always called. Of a request only the hash is stored, and never an API key.

The file is SQLite's with a write-ahead log, so several processes share it; each completion is in it before it is used.
Two equal requests in one run: the second waits for the first one's reply, without holding a slot. A cache that cannot
be used is an error before the first call: whoever named it does not want to pay for everything again. One that breaks
while the run goes on costs one warning and is then left alone: the run goes on and calls.
"""

import hashlib
import json
import logging
import pathlib
import secrets
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from harness.old.chat.endpoint import Endpoint
from harness.old.errors import StorageError
from harness.old.jsonl import taken_as
from harness.old.jsonl.copies import need_near
from harness.old.records import Reply, Request
from harness.old.running.pending import KeptReply, reply_from_kept, reply_to_kept

if TYPE_CHECKING:
    import sqlite3

log = logging.getLogger("turnbench")
FILE_NAME = "cache.sqlite"
_VERSION = 1
_BUSY_SECONDS = 10.0
"""How long another process may lock the file."""
_TABLE = """
create table if not exists completion (
    key text primary key, run text not null, made real not null, reply text not null
) without rowid
"""


def cache_file(data_dir: pathlib.Path | str) -> pathlib.Path:
    """Return where the completions of all benchmarks in a data folder are kept, unless a file is named."""
    return need_near(data_dir) / ".turnbench" / FILE_NAME


class Cache:
    """The completions in one file; a context manager. Without a path it is empty and keeps nothing."""

    def __init__(self, path: pathlib.Path | None) -> None:
        self.path = path
        self.waiting: dict[str, list[Any]] = {}
        """By key of a completion that is being requested: who else needs it."""
        self._run = secrets.token_hex(8)
        self._base: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        """Open the file, made where missing.

        Raises:
            StorageError: it cannot be used.
        """
        if self.path is not None:
            self._open(self.path)
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        base, self._base = self._base, None
        if base is not None:
            base.close()

    def shelf(self, endpoint: Endpoint | None, *, fresh: bool = False) -> "Shelf | None":
        """Return the completions of one endpoint; None where nothing is to be kept.

        With `fresh` only those of this very run are found: what is done again shall be asked again.
        """
        if self._base is None or endpoint is None or endpoint.provider == "builtin":
            return None
        return Shelf(self, endpoint, fresh)

    def find(self, key: str, *, fresh: bool) -> Reply | None:
        """Return the completion with that key, if there is one."""
        import sqlite3

        if self._base is None:
            return None
        try:
            found = self._base.execute("select run, reply from completion where key = ?", (key,)).fetchone()
            if found is None or (fresh and found[0] != self._run):
                return None
            kept = json.loads(found[1])
            if not taken_as(kept, KeptReply):
                raise ValueError("it holds what is no completion")
            return replace(reply_from_kept(kept), from_cache=True)
        except (sqlite3.Error, ValueError, TypeError, RecursionError) as error:
            self._give_up(error)
            return None

    def keep(self, key: str, reply: Reply) -> None:
        """Store a completion, replacing an earlier one."""
        import sqlite3

        if self._base is None:
            return
        row = (key, self._run, time.time(), json.dumps(reply_to_kept(reply), ensure_ascii=False, separators=(",", ":")))
        try:
            with self._base:
                self._base.execute("insert or replace into completion values (?, ?, ?, ?)", row)
        except (sqlite3.Error, UnicodeEncodeError) as error:
            self._give_up(error)

    def _open(self, path: pathlib.Path) -> None:
        import sqlite3

        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and not path.is_file():
                raise OSError("it is no file")
            # The engine may work in a thread of its own; only one uses it at a time.
            self._base = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
            self._prepare(self._base)
        except (sqlite3.Error, OSError, ValueError) as error:
            self.__exit__()
            what = f"{path}: the cache cannot be used ({_reason(error)})"
            raise StorageError(f"{what}; name another file with --cache, or leave it out") from None

    def _prepare(self, base: "sqlite3.Connection") -> None:
        """See to it that a database is whole, is ours and can be written to."""
        import sqlite3

        others = "select count(*) from sqlite_master where tbl_name != 'completion'"
        if base.execute(others).fetchone() != (0,):
            raise sqlite3.DatabaseError("it is another program's database")
        (version,) = base.execute("pragma user_version").fetchone()
        if version not in (0, _VERSION):
            raise sqlite3.DatabaseError(f"it has version {version}, of another turnbench")
        (sound,) = base.execute("pragma quick_check(1)").fetchone()
        if sound != "ok":
            raise sqlite3.DatabaseError("it is damaged")
        base.execute("pragma journal_mode = wal")
        base.execute("pragma synchronous = normal")
        with base:
            base.execute(_TABLE)
            base.execute(f"pragma user_version = {_VERSION}")
            base.execute("select key, run, made, reply from completion limit 1")

    def _give_up(self, error: Exception) -> None:
        """Say once that the cache is of no use, and use it no more."""
        self.__exit__()
        log.warning("%s: the cache cannot be used any more (%s); going on without it", self.path, _reason(error))


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


class Shelf:
    """The part of a cache that belongs to one endpoint."""

    def __init__(self, cache: Cache, endpoint: Endpoint, fresh: bool) -> None:
        self._cache = cache
        self._fresh = fresh
        self._about = [endpoint.provider, endpoint.model, endpoint.base_url, endpoint.conv_template]

    def key(self, request: Request, index: int = 0, again: int = 0) -> str:
        """Return what a completion is found by.

        `index` is the place among samples, `again` how often the same job has asked the same before.
        """
        messages = [[message.role, message.content] for message in request.messages]
        shaping = [request.sampling.stated(), request.top_logprobs, request.schema]
        text = json.dumps([self._about, messages, shaping, index, again], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def find(self, key: str) -> Reply | None:
        """Return the completion with that key, marked as found here, or None."""
        return self._cache.find(key, fresh=self._fresh)

    def begin(self, key: str, who: Any) -> bool:
        """Return whether to request the completion now; else another course has requested it, and `end` will return
        `who`."""
        waiting = self._cache.waiting.get(key)
        if waiting is not None:
            waiting.append(who)
            return False
        self._cache.waiting[key] = []
        return True

    def end(self, key: str, reply: Reply | None) -> list[Any]:
        """Keep what came (None: the call failed for good), and return who waited for it."""
        if reply is not None and reply.finish_reason == "stop":
            self._cache.keep(key, reply)
        return self._cache.waiting.pop(key, [])

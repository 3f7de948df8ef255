"""Completions by what was sent: an equal request is not paid for again, in whatever benchmark.

The key is a hash of the endpoint (provider, model, address), the request and the sample; the n-th
equal request of one job is a completion of its own. Only whole replies are kept, and of a request
only the hash. The file is SQLite's in WAL mode, so several processes may share it.
"""

import contextlib
import pathlib
import sqlite3
import time
from collections.abc import Iterator

import msgspec

from harness.errors import StorageError
from harness.models import Endpoint
from harness.types import Reply, Request, content_hash

_TABLE = """
create table if not exists reply (
    key text primary key, made real not null, reply text not null
) without rowid
"""


class Cache:
    """The completions in one file; `since` hides older ones, for answering again."""

    def __init__(self, path: pathlib.Path, since: float = 0.0) -> None:
        self.path, self.since = path, since
        with self._usable():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(path, timeout=10.0, check_same_thread=False)
            self._base.execute("pragma journal_mode = wal")
            self._base.execute("pragma synchronous = normal")
            with self._base:
                self._base.execute(_TABLE)

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def key(self, endpoint: Endpoint, request: Request, again: int) -> str:
        """Return the key of a completion; `again`: equal requests of the same job before it."""
        sample = 0 if request.facts is None else request.facts.sample
        where = [endpoint.provider, endpoint.model, endpoint.base_url, endpoint.conv_template]
        return content_hash(where, request.hash, sample, again)

    def get(self, key: str) -> Reply | None:
        """Return a completion, marked as from the cache."""
        query = "select reply from reply where key = ? and made >= ?"
        with self._usable():
            row = self._base.execute(query, (key, self.since)).fetchone()
            if row is None:
                return None
            reply = msgspec.json.decode(row[0], type=Reply)
        reply.detail.from_cache = True
        return reply

    def put(self, key: str, reply: Reply) -> None:
        """Keep a completion that ended by itself."""
        if reply.detail.finish_reason == "stop":
            row = key, time.time(), msgspec.json.encode(reply).decode()
            with self._usable(), self._base:
                self._base.execute("insert or replace into reply values (?, ?, ?)", row)

    @contextlib.contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, msgspec.MsgspecError) as error:
            advice = "name another file with --cache, or leave it out"
            text = f"{self.path}: the cache cannot be used ({error}); {advice}"
            raise StorageError(text) from None

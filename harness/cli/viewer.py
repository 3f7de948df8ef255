"""The command `viewer`."""

import pathlib
import threading
from collections.abc import Sequence
from typing import Any

from harness import options
from harness.cli.command import log
from harness.cli.parser import Parsed
from harness.errors import UsageError
from viewer.data import Home


def work(parsed: Parsed) -> int:
    """Serve the pages until Ctrl-C, or write them; return the exit code."""
    record: options.Viewer = parsed.options
    if record.share:
        raise UsageError(
            "the viewer opens no tunnel; reach it from elsewhere with "
            "`ssh -L 7860:localhost:7860 HOST`, or send pages made with --export"
        )
    home = Home(record.data_dir, record.bench_name, record.reasoning)
    if record.export is not None:
        from viewer.export import export

        print(export(home, record.export))
    elif record.ballot:
        from viewer.ballot_page import write_ballot

        path, count = _ballot(record.ballot)
        print(write_ballot(home.data(), path, count))
    else:
        _serve(record, home)
    return 0


def _ballot(words: Sequence[str]) -> tuple[pathlib.Path, int]:
    if len(words) != 2 or not words[1].isdecimal() or not 0 < int(words[1]) <= 10_000:
        raise UsageError("--ballot takes a file and a number: --ballot votes.html 20")
    return pathlib.Path(words[0]), int(words[1])


def _serve(record: options.Viewer, home: Home) -> None:
    log.info("starting…")
    from viewer.server import People, is_loopback, serve

    people = People(record.auth_file) if record.auth_file is not None else None
    if people is None and not is_loopback(record.host.strip("[]")):
        log.warning("%s can be reached by others, without a password; see --auth-file", record.host)
    threading.Thread(target=home.prepare, daemon=True).start()  # while Gradio is imported

    def build() -> tuple[Any, str]:
        from viewer import app

        return app.build(app.Views(home, read_only=record.read_only)), app.head()

    served = serve(
        build, host=record.host, port=record.port, people=people, allowed=record.allow_host
    )
    print(served.address, flush=True)
    log.info("open this address in a browser; Ctrl-C stops the viewer")
    try:
        threading.Event().wait()
    except KeyboardInterrupt:  # the usual way to stop it
        pass
    finally:
        served.close()

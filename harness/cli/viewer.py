"""The command `viewer`."""

import pathlib
import threading
from collections.abc import Sequence
from typing import Any

from harness import options
from harness.cli import status
from harness.cli.console import Console
from harness.errors import UsageError
from viewer.data import Home


def run(record: options.Viewer, console: Console) -> None:
    """Serve the pages until Ctrl-C, or write them."""
    if record.share:
        raise UsageError(
            "the viewer opens no tunnel; reach it from elsewhere with "
            "`ssh -L 7860:localhost:7860 HOST`, or send pages made with --export"
        )
    home = Home(
        record.data_dir,
        record.bench_name,
        record.reasoning,
        record.compare_with,
        record.judge_model,
    )
    if record.export is not None:
        from viewer.export import export

        console.write(str(export(home, record.export)))
    elif record.ballot:
        from viewer.ballot_page import write_ballot

        path, count = _ballot(record.ballot)
        console.write(str(write_ballot(home.data(), path, count)))
    else:
        _serve(record, home, console)


def _ballot(words: Sequence[str]) -> tuple[pathlib.Path, int]:
    if len(words) != 2 or not words[1].isdecimal() or not 0 < int(words[1]) <= 10_000:
        raise UsageError("--ballot takes a file and a number: --ballot votes.html 20")
    return pathlib.Path(words[0]), int(words[1])


def _serve(record: options.Viewer, home: Home, console: Console) -> None:
    from viewer.server import People, is_loopback, serve

    people = People(record.auth_file) if record.auth_file is not None else None
    if people is None and not is_loopback(record.host.strip("[]")):
        console.warn(f"{record.host} can be reached by others, without a password; see --auth-file")
    threading.Thread(target=home.prepare, daemon=True).start()  # while Gradio is imported

    def build() -> tuple[Any, str]:
        from viewer import app

        views = app.Views(
            home, read_only=record.read_only, patience=app.PATIENCE, state=status.line
        )
        return app.build(views), app.head()

    try:
        served = serve(
            build,
            progress=lambda: home.progress,
            opened=console.write,
            host=record.host,
            port=record.port,
            people=people,
            allowed=record.allow_host,
        )
        console.tell("open this address in a browser; Ctrl-C stops the viewer")
        try:
            threading.Event().wait()
        finally:
            served.close()
    except KeyboardInterrupt:  # the usual way to stop it
        pass

"""One page to vote on, to be sent by mail; `import_data votes` takes what comes back.

The page needs nothing else. It asks for a name, keeps the votes in the browser's memory, and saves
them as a file of `Vote` rows. The models' names are in it in base64, which is no secret, but
nobody reads them by accident.
"""

import base64
import itertools
import json
import pathlib

from harness.errors import MissingError
from harness.reporting.html import check_html
from harness.store import write_file
from viewer import pages
from viewer.ballots import Voter
from viewer.data import Data
from viewer.vote import BUTTONS, sides


def write_ballot(data: Data, path: pathlib.Path, count: int) -> str:
    """Write a page with the first `count` votes there are to cast; return what was written.

    Raises:
        MissingError: there are no two models to compare.
        StorageError: the file holds something else, or cannot be written.
    """
    check_html(path)
    voter = Voter(data, "ballot")
    rows: list[dict[str, object]] = []
    items: list[object] = []
    for ballot in itertools.islice(voter.ballots(), count):
        vote = voter.row(ballot, "tie")
        names = ("question_id", "model_a", "model_b", "turn", "answers")
        rows.append({name: getattr(vote, name) for name in names})
        items.append((ballot, sides(data, ballot)))
    if not rows:
        raise MissingError(f"{data.bench.name}: voting needs answers of two models; run gen_answer")
    page = pages.sealed(
        "ballot.html",
        ("colours.css", "page.css"),
        pages.own_file("ballot.js"),
        title=f"{data.bench.name}: {len(rows)} votes",
        items=items,
        buttons=BUTTONS,
        rows=base64.b64encode(json.dumps(rows).encode()).decode(),
        bench=data.bench.name,
    )
    write_file(path, page)
    return f"{path}: {len(rows)} votes; turnbench import_data votes FILE takes what comes back"

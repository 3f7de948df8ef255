"""People's votes on pairs of answers that a benchmark has, such as a ballot page saves.

{"question_id": 81, "model_a": "x", "model_b": "y", "winner": "tie", "judge": "ann", "turn": 1}
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from harness.extras.importing.items import BadRecord, Item, Source
from harness.types import VOTES, Vote


def votes(record: Mapping[str, Any], source: Source) -> Item:
    """Return the vote of a record; one that names no voter is by the name of the file."""
    vote = msgspec.convert(record, Vote, strict=False)
    if vote.winner not in VOTES:
        raise BadRecord(f"winner {vote.winner!r} must be one of {', '.join(VOTES)}")
    vote.judge, vote.turn = vote.judge or source.stem, vote.turn or 1
    return Item(question_id=vote.question_id, votes=[vote])

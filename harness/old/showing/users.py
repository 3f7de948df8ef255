"""What `show_result` says of played users: what they did beside each model, and how much of the variance is theirs."""

from collections.abc import Iterator

from harness.old.results.users import UserTable, UserVariance
from harness.old.showing.items import Column, Note, Table
from harness.old.showing.values import percent, rounded

_ALWAYS = ("model", "conversations", "turns", "ended_by_user", "out_of_turns", "with_breaks", "average_without")


def user_items(found: UserTable) -> Iterator[Table | Note]:
    """Yield the table of the user's part, and the share of the variance."""
    rows = found.parts
    names = [name for name in rows[0] if name in _ALWAYS or any(row[name] for row in rows)]
    note = (
        f"Played by {found.user.get('model')}. With breaks: conversations in which the user broke one of its rules; "
        "average without: over the others."
    )
    yield Table("The user's part", rows, [Column(name) for name in names], note)
    yield Note(f"The user's share of the variance: {_share(found.variance)}")


def _share(variance: UserVariance | None) -> str:
    """Return in words how much of the variance of one conversation's score is the user's."""
    if variance is None:
        return (
            "unknown, since each model has one graded conversation for each question; hold more with "
            "gen_answer --user-samples, and judge them with --choices all."
        )
    row = variance.row()
    if row["share_most"] is None:
        return "none: all conversations of a model have the same score."
    least, most = percent(row["share_least"]), percent(row["share_most"])
    share = most if least == most else f"between {least} and {most}"
    alone = "" if variance.model_alone is not None else "; --num-choices 2 would separate the model's own sampling"
    return (
        f"{share} of that of one conversation's score (least: what the same sample of the user does to all models; "
        f"most: all that differs between conversations of one model about one question{alone}). Standard deviation "
        f"{rounded(row['sd'], 2)} about a model's mean, {rounded(row['sd_within'], 2)} between such conversations; the "
        f"mean of {variance.samples} samples has 1/{variance.samples} of that variance."
    )

"""Stepping through what Find found: next, previous, and back to the same place in the list."""

from typing import TYPE_CHECKING

from viewer.old import filters, markup
from viewer.old.context import Context
from viewer.old.index import Judgments
from viewer.old.state import State, parse
from viewer.old.store import kind_of

if TYPE_CHECKING:
    from harness.old.results.matrix import Ints


def item(judgments: Judgments, found: "Ints", at: int, from_list: State) -> State:
    """Return the view of what stands at a place, from 0, of what was found; it knows the way back."""
    place = int(found[at])
    file, case = judgments.files[int(judgments.file[place])], judgments.cases[int(judgments.case[place])]
    there = State(
        "answers" if judgments.kind == "single" else "compare",
        from_list.bench,
        from_list.mode,
        file.judge,
        file.judge_set,
        str(judgments.ids[int(judgments.question[place])]),
        case.turn,
        case.models,
        found=from_list.where(page="").to(at=None).query(),
        at=at,
        who=from_list.who,
    )
    return there.where(choice="" if case.source.choice == "0" else case.source.choice)


@markup.in_place
def stepping_bar(context: Context, state: State) -> str:
    """Return the links to what was found before and after, and back; nothing if the view does not come from Find."""
    if not state.found:
        return ""
    from_list = parse(state.found).to(who=state.who)
    bench = context.store.bench(from_list.bench)
    judgments = filters.judgments_of(context, bench, kind_of(from_list.mode))
    found = filters.found(context, judgments, from_list)
    if not len(found):
        return ""
    at = min(state.at or 0, len(found) - 1)
    before, after = (item(judgments, found, to, from_list) if 0 <= to < len(found) else None for to in (at - 1, at + 1))
    steps = markup.step(before, "\u2190", key="[", label="Previous match")
    steps += markup.step(after, "\u2192", key="]", label="Next match")
    page = at // markup.PAGE + 1
    back = from_list.where(page=page if page > 1 else "").to(at=at)
    link = markup.link(back, "Back to the list", key="b", label="Back to the list (b)")
    told = f'<span class="tb-quiet">Found: {at + 1:,} of {len(found):,}</span>'
    return f'<nav class="tb-bar tb-found-bar" aria-label="Matches">{steps}{told}{link}</nav>'

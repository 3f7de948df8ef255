"""Which judgments a view is about, and in which order: the filters of the tab Find, as arrays."""

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.old.bench import Bench
from viewer.old import search
from viewer.old.context import Context
from viewer.old.index import FIRST, NONE, SECOND, TIE, Judgments, texts_of
from viewer.old.later import Lane
from viewer.old.people import people
from viewer.old.state import State
from viewer.old.store import Kind

if TYPE_CHECKING:
    from array import array

    from harness.old.results.matrix import Floats, Ints
    from harness.old.results.pairs.games import Bools

SORTS = ("question", "category", "turn", "model", "against", "judge", "score", "winner")


def judgments_of(context: Context, bench: Bench, kind: Kind) -> Judgments:
    """Return all judgments of a kind in the current files.

    Raises:
        NotYet: they are being read.
    """
    files = context.store.judgment_files(bench, kind)
    what = f"indexing {len(files)} file{'s' if len(files) > 1 else ''} of judgments"
    make = partial(context.indexes.make, bench, kind, files)
    paths = [bench.source / "question.jsonl", *(file.path for file in files)]
    return context.store.later.get(("index", bench.folder, kind), what, make, of=paths)


def found(context: Context, judgments: Judgments, state: State) -> "Ints":
    """Return the places of the judgments that fit the view's filters, in its order.

    Raises:
        NotYet: the text is still being looked for, or the votes read.
    """
    kept = _fitting(context, judgments, state)
    order = judgments.order
    return _sorted(judgments, order[kept[order]], state.looked_for("sort"))


def _fitting(context: Context, judgments: Judgments, state: State) -> "Bools":
    import numpy as np

    kept = np.ones(len(judgments), dtype=bool)
    if not len(judgments):
        return kept
    get = state.looked_for
    kept &= _of_questions(judgments, get("category"), get("field"), get("value"))
    if state.turn:
        kept &= judgments.turn == state.turn
    kept &= _of_models(judgments, state.models)
    kept &= _of_judge(judgments, state)
    low, high = _number(get("min")), _number(get("max"))
    if judgments.kind == "single" and low is not None:
        kept &= judgments.score >= low
    if judgments.kind == "single" and high is not None:
        kept &= judgments.score <= high
    if get("winner") and judgments.kind == "pair":
        kept &= _won_by(judgments, get("winner"), state.models[:1])
    kept &= _flagged(context, judgments, state)
    if get("text"):
        kept &= _with_text(context, judgments, get("text"))
    return kept


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _of_questions(judgments: Judgments, category: str, name: str, value: str) -> "Bools":
    """Return whether the question is of a category, and whether a field of it has a value."""
    import numpy as np

    questions = judgments.bench.questions
    wanted = np.ones(len(judgments.ids), dtype=bool)
    if category:
        wanted[: len(questions)] = [question.category == category for question in questions]
    if name and value:
        fold = value.casefold()
        whole = value in judgments.fields.get(name, ())
        texts = (texts_of(question.extra.get(name)) for question in questions)
        own = [value in these if whole else any(fold in text.casefold() for text in these) for these in texts]
        wanted[: len(questions)] &= own
    if category or (name and value):
        wanted[len(questions) :] = False
    kept: Bools = wanted[judgments.question]
    return kept


def _of_models(judgments: Judgments, names: tuple[str, ...]) -> "Bools":
    """Return whether a judgment is about the model; of two, a grade about either, a pair about both."""
    import numpy as np

    code = {name: at for at, name in enumerate(judgments.models)}
    of = [(judgments.first == code.get(n, -2)) | (judgments.second == code.get(n, -2)) for n in names[:2]]
    if not of:
        return np.ones(len(judgments), dtype=bool)
    kept: Bools = of[0]
    for other in of[1:]:
        kept = kept | other if judgments.kind == "single" else kept & other
    return kept


def _of_judge(judgments: Judgments, state: State) -> "Bools":
    import numpy as np

    if not state.judge:
        return np.ones(len(judgments), dtype=bool)
    exact = [(f.judge, f.judge_set) == (state.judge, state.judge_set) for f in judgments.files]
    any_set = [f.judge == state.judge for f in judgments.files]
    kept: Bools = np.array(exact if any(exact) else any_set)[judgments.file]
    return kept


def _won_by(judgments: Judgments, winner: str, models: tuple[str, ...]) -> "Bools":
    """Return whether a model won, or neither (`tie`), or the other one than the model chosen (`lost`)."""
    code = {name: at for at, name in enumerate(judgments.models)}
    if winner == "tie":
        tied: Bools = judgments.winner == TIE
        return tied
    lost = winner == "lost" and bool(models)
    own = code.get(models[0] if lost else winner, -2)
    one, other = (SECOND, FIRST) if lost else (FIRST, SECOND)
    won: Bools = ((judgments.first == own) & (judgments.winner == one)) | (
        (judgments.second == own) & (judgments.winner == other)
    )
    return won


def _flagged(context: Context, judgments: Judgments, state: State) -> "Bools":
    import numpy as np

    flag = state.looked_for("flag")
    if flag == "changed":
        return judgments.changed
    if flag == "failed":
        return judgments.failed
    if flag == "disagree":
        return judgments.disagreed
    if flag == "humans":
        votes = people(context, state, judgments.bench).votes
        kept = judgments.kept.get("humans")
        if kept is None or kept[0] is not votes:
            kept = judgments.kept["humans"] = (votes, judgments.against(votes))
        against: Bools = kept[1]
        return against
    return np.ones(len(judgments), dtype=bool)


def _with_text(context: Context, judgments: Judgments, text: str) -> "Bools":
    """Return whether the text occurs in the question, in a judged answer, or in the judge's text."""
    bench, files = judgments.bench, judgments.files
    answered = bench.answered_models()
    answers = {name: bench.answer_file(name) for name in judgments.models if name in answered}
    paths = [*answers.values(), *(file.path for file in files)]
    make = partial(_searched, judgments, answers, text)
    key = ("text", bench.folder, judgments.kind, text, id(judgments))
    what = f"searching for the text in {len(paths)} files"
    lane: Lane = "pattern" if search.is_pattern(text) else "first"
    searched: Bools = context.store.later.get(key, what, make, of=paths, lane=lane)
    return searched


def _searched(judgments: Judgments, answers: "dict[str, Any]", text: str) -> "Bools":
    import numpy as np

    code = {name: at for at, name in enumerate(judgments.models)}
    wide = len(judgments.models) + 1
    asked = np.zeros(len(judgments.ids), dtype=bool)
    name_of = {path: name for name, path in answers.items()}
    where = [[search.Lines(path) for path in paths] for paths in (name_of, [file.path for file in judgments.files])]
    occurs = search.look(search.Wanted(text, judgments.ids, judgments.bench.questions, *where))
    asked[_places(occurs.questions)] = True
    found: Bools = asked[judgments.question]
    spot = (judgments.question * 4096 + judgments.turn) * wide
    said = [
        (_places(own) * 4096 + turn) * wide + code[name]
        for path, name in name_of.items()
        for (turn, _), own in occurs.files.get(path, {}).items()
    ]
    found |= _among(spot + judgments.first, said)
    found |= (judgments.second >= 0) & _among(spot + judgments.second, said)
    for number, file in enumerate(judgments.files):
        items = [
            judgments.items_of(_places(own), turn, [code[name] for name in names])
            for (turn, names), own in occurs.files.get(file.path, {}).items()
            if names <= code.keys()
        ]
        found |= (judgments.file == number) & _among(judgments.item, items)
    return found


def _places(own: "array[int]") -> "Ints":
    import numpy as np

    return np.frombuffer(own, dtype=np.intc).astype(np.int64)


def _among(numbers: "Ints", wanted: "list[Ints]") -> "Bools":
    import numpy as np

    every = np.sort(np.concatenate(wanted)) if wanted else np.zeros(0, dtype=np.int64)
    if not len(every):
        return np.zeros(len(numbers), dtype=bool)
    among: Bools = (
        every[np.minimum(np.searchsorted(every, numbers), len(every) - 1)] == numbers
    )  # isin takes 5 times it
    return among


def _sorted(judgments: Judgments, found: "Ints", sort: str) -> "Ints":
    """Return the places in the order of a column; what has no value comes last."""
    import numpy as np

    name = sort.removeprefix("-")
    if name not in SORTS or not len(found):
        return found
    values = _values(judgments, name)[found].astype(np.float64)
    order = np.argsort(np.where(np.isnan(values), np.inf, -values if sort.startswith("-") else values), kind="stable")
    ordered: Ints = found[order]
    return ordered


def _values(judgments: Judgments, name: str) -> "Ints | Floats":
    import numpy as np

    if name == "category":
        categories = sorted({question.category for question in judgments.bench.questions})
        place = {category: at for at, category in enumerate(categories)}
        own = np.full(len(judgments.ids), len(place), dtype=np.int64)
        own[: len(judgments.bench.questions)] = [place[q.category] for q in judgments.bench.questions]
        found: Ints = own[judgments.question]
        return found
    if name == "winner":
        columns = [judgments.first, np.full(len(judgments), len(judgments.models)), judgments.second]
        winner = np.choose(np.minimum(judgments.winner, SECOND), columns)
        return np.where(judgments.winner == NONE, np.nan, winner)
    by_name = {"question": judgments.question, "turn": judgments.turn, "model": judgments.first}
    by_name |= {"against": judgments.second, "judge": judgments.file}
    return judgments.score if name == "score" else by_name[name]

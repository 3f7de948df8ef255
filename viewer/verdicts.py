"""The tab Verdicts: a row a judgment or vote; filtered, sorted, counted, and sent as csv or jsonl.

    question  turn  judge  models         verdict  people  reason
    81        1     gpt-4  ant, bee       flipped  1       Both answers …

The rows are those of `Scores`, so what is not current is not here either. They are put into a table
of the index once, and each page is one query over it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

import msgspec
import numpy as np
from markupsafe import Markup

from harness import store
from harness.errors import UsageError
from harness.reporting.changes import Counts, changed_in_words, first_words
from harness.reporting.formats import csv
from harness.reporting.page import Page
from harness.results.agreement import is_turned, items, mean_verdicts
from harness.results.changes import least_of
from harness.results.scores import FLIPPED, ONE_SIDED, Form, distinct, means
from harness.types import Answer, Judgment, Note, QuestionId, Row
from viewer import pages, text
from viewer.controls import Fields, named
from viewer.conversation import tell_apart
from viewer.data import Data
from viewer.pages import Site
from viewer.state import View

PAGE = 100
"""Verdicts on one page of the list."""
MOST = 50_000
"""Verdicts that are sent as one file."""
SEARCHES = 8
"""Searches whose hits are kept."""
WORDS = 200
"""Characters of a reason that a list shows."""
KINDS = {
    "": "all",
    "grades": "grades",
    "pairs": "pairs",
    "win": "won by the model",
    "loss": "lost by the model",
    "tie": "tie",
    "flipped": "flipped when swapped",
    "none": "no verdict",
    "people": "otherwise than people",
    "judges": "otherwise than other judges",
    "noted": "with a note",
    "worse": "worse than in the other run",
    "better": "better than in the other run",
}
PLACES = {"": "reasons", "answers": "answers", "questions": "questions"}
_HITS = {"questions": "question", "answers": "question || ' ' || turn || ' '"}
"""The column of what matches in other texts than reasons."""
SORTS = {
    "question": "place",
    "category": "category",
    "turn": "turn",
    "judge": "judge",
    "models": "models",
    "verdict": "own",
    "people": "people",
    "spread": "spread",
    "change": "own_change",
}
"""Columns that the list is sorted by, and the table's; with a minus the greatest first."""
_OWN = "case when model_2 != '' and model_2 = :first then 1 - value else value end"
"""The verdict seen from the model that is chosen, else from the one that the row names first."""
_OWN_CHANGE = "case when model_2 != '' and model_2 = :first then -change else change end"
_LEAST = " ".join(f"when '{form}' then {least_of(form)}" for form in get_args(Form))
_MOVED = f"change != 0 and abs(change) >= case form {_LEAST} end"
_FILTERS = {
    "grades": "model_2 = ''",
    "pairs": "model_2 != ''",
    "win": f"model_2 != '' and {_OWN} > 0.5",
    "loss": f"model_2 != '' and {_OWN} < 0.5",
    "tie": "model_2 != '' and value = 0.5",
    "flipped": "flip = 'flipped'",
    "none": "value is null",
    "people": "against_people",
    "judges": "against_judges",
    "noted": "place in (select value from json_each(:noted))",
    "worse": f"{_MOVED} and {_OWN_CHANGE} < 0",
    "better": f"{_MOVED} and {_OWN_CHANGE} > 0",
}
_COLUMNS = (
    *("place", "question", "turn", "category", "judge", "model_1", "model_2", "value", "flip"),
    *("people", "spread", "against_people", "against_judges", "change", "form"),
)


def fill(data: Data) -> None:
    """Put the verdicts of a benchmark into the index's table."""
    data.index.keep("verdicts", _COLUMNS, _rows(data))


def _rows(data: Data) -> Iterator[tuple[Any, ...]]:
    """Yield the columns of each judgment and vote."""
    scores = data.scores
    people = mean_verdicts(scores.by("person"))
    scores = scores.by("judge").plus(scores.by("person")).main()
    if not len(scores):
        return
    value = scores.ordered().value
    first, cell = distinct(scores.question, scores.turn, *scores.ends, scores.metric)
    judges = list(dict.fromkeys(source.judge for source in scores.sources))
    is_person = np.array([source.kind == "person" for source in scores.sources])[scores.source]
    judge = np.array([judges.index(source.judge) for source in scores.sources])[scores.source]
    keys, key = distinct(judge, cell)
    own = means(key, np.where(is_person, np.nan, value), len(keys))
    count = np.bincount(cell[keys], ~np.isnan(own), len(first))[cell]
    total = np.bincount(cell[keys], np.nan_to_num(own), len(first))[cell]
    judged = ~np.isnan(own[key])
    others = count - judged
    rest = np.divide(
        total - np.nan_to_num(own[key]), others, out=np.full(len(cell), np.nan), where=others > 0
    )
    spread = np.where(is_person, np.nan, np.abs(value - rest))
    paired = scores.opponent >= 0
    unlike = np.where(paired, (value - 0.5) * (rest - 0.5) < 0, spread > 0) & ~is_person
    changes = data.changes if data.other is not None else {}
    columns = (
        scores.row, scores.question, scores.turn, scores.model, scores.opponent, scores.source,
        scores.value, scores.flip, spread, unlike, is_turned(scores), is_person,
    )  # fmt: skip
    names = (*scores.models, "")
    for (number, question, turn, model, opponent, source, share, flip, apart, other, swapped,
         person), item in zip(
        zip(*(column.tolist() for column in columns), strict=True), items(scores), strict=True
    ):  # fmt: skip
        voted = None if person else people.get(item)
        if voted is not None and swapped:
            voted = 1 - voted
        origin = scores.sources[source]
        against = voted is not None and share == share and (voted - 0.5) * (share - 0.5) < 0
        yield (
            number, question, turn, scores.questions[question].category,
            origin.judge, names[model], names[opponent],
            None if share != share else share,
            {FLIPPED: "flipped", ONE_SIDED: "one-sided"}.get(flip, ""),
            voted, None if apart != apart else apart, against, other,
            changes.get(number), origin.form,
        )  # fmt: skip


class _Reasons(msgspec.Struct, gc=False):
    """A judgment's words alone."""

    judgment: str | None = None
    g1_judgment: str | None = None
    g2_judgment: str | None = None


class _Turns(msgspec.Struct, gc=False):
    turns: list[str] = []


class _Replies(msgspec.Struct, gc=False):
    """An answer's words alone."""

    question_id: QuestionId
    choices: list[_Turns]


class Found:
    """The verdicts of a view: how many, and some of them."""

    def __init__(self, data: Data, view: View) -> None:
        """Ask for them; what is not in the index's table yet is put there first.

        Raises:
            UsageError: the text is no regular expression.
        """
        data.listed  # noqa: B018  (fills the table once)
        self.data, self.view = data, view
        self.values: dict[str, Any] = {"first": view.model[0] if view.model else ""}
        self.noted, self.gone = _place_notes(data)
        self.where = " and ".join(["1", *self._conditions()])
        query = f"select count(*) from verdicts where {self.where}"
        self.total: int = data.index.select(query, self.values)[0][0]

    def _conditions(self) -> Iterator[str]:
        view, values = self.view, self.values
        for name, column in (("judge", "judge"), ("turn", "turn"), ("category", "category")):
            if wanted := getattr(view, name):
                values[name] = int(wanted) if name == "turn" and wanted.isdecimal() else wanted
                yield f"{column} = :{name}"
        for at, model in enumerate(view.model[:2]):
            values[f"model{at}"] = model
        if len(view.model) == 1:
            yield ":model0 in (model_1, model_2)"
        elif view.model:
            yield "model_1 in (:model0, :model1) and model_2 in ('', :model0, :model1)"
        if view.only in _FILTERS:
            yield _FILTERS[view.only]
        if view.only == "noted":
            values["noted"] = msgspec.json.encode(list(self.noted)).decode()
        for name, sign in (("least", ">="), ("most", "<=")):
            number = _number(getattr(view, name))
            if number is not None:
                values[name] = number
                yield f"model_2 = '' and value {sign} :{name}"
        if view.find:
            yield self._matching()

    def _matching(self) -> str:
        """Return the condition that a text matches; what does is one of the values."""
        kept, search = self.data.hits, (self.view.where, self.view.find)
        if search not in kept:
            kept[search] = msgspec.json.encode(self._hits()).decode()
            while len(kept) > SEARCHES:
                del kept[next(iter(kept))]
        self.values["hits"] = kept[search]
        column, hits = _HITS.get(self.view.where, "place"), "(select value from json_each(:hits))"
        if self.view.where == "answers":
            return f"({column} || model_1 in {hits} or {column} || model_2 in {hits})"
        return f"{column} in {hits}"

    def _hits(self) -> list[Any]:
        """Return what matches: places, questions, or answers as question, turn and model."""
        data, find = self.data, self.view.find
        matches, may_match = _matcher(find), _prefilter(find)
        if self.view.where == "questions":
            return [
                at
                for at, question in enumerate(data.bench.questions)
                if any(map(matches, question.turns))
            ]
        if self.view.where == "answers":
            numbers: dict[Any, int] = {}
            for at, question in enumerate(data.bench.questions):
                numbers[question.question_id] = numbers[str(question.question_id)] = at
            return [
                f"{numbers.get(row.question_id)} {turn} {model}"
                for model, path in data.bench.answer_files().items()
                for row in data.index.scan(path, _Replies, Answer, may_match)
                if row is not None
                for turn, words in enumerate(row.choices[0].turns if row.choices else (), 1)
                if matches(words)
            ]
        return [
            number
            for path, start, kind in data.scores.files
            if kind is Judgment
            for number, row in enumerate(
                data.index.scan(path, _Reasons, Judgment, may_match), start
            )
            if row is not None
            and (
                (row.judgment and matches(row.judgment))
                or (row.g1_judgment and matches(row.g1_judgment))
                or (row.g2_judgment and matches(row.g2_judgment))
            )
        ]

    def rows(self, begin: int, count: int) -> list[dict[str, Any]]:
        """Return some verdicts, in the view's order."""
        name = self.view.sort.removeprefix("-")
        down = " desc" if self.view.sort.startswith("-") else ""
        order = SORTS.get(name, "place")
        by = {"own": _OWN, "models": "model_1 || ' ' || model_2", "place": "question"}
        by |= {"own_change": _OWN_CHANGE}
        query = (
            f"select {', '.join(_COLUMNS)} from verdicts where {self.where} "
            f"order by {by.get(order, order)}{down} nulls last, question, turn, place "
            "limit :count offset :begin"
        )
        values = {**self.values, "count": count, "begin": begin}
        records = [
            dict(zip(_COLUMNS, record, strict=True))
            for record in self.data.index.select(query, values)
        ]
        found = []
        for at in range(0, len(records), 1000):  # whole rows are large
            some = records[at : at + 1000]
            whole = self.data.rows([record["place"] for record in some])
            found += [self._row(record, whole.get(record["place"])) for record in some]
        return found

    def excerpt(self, place: int) -> str:
        """Return the surroundings of the text in a judgment's reasons as HTML, if it is there."""
        if not self.view.find or self.view.where:
            return ""
        pattern, row = _pattern(self.view.find), self.data.rows([place]).get(place)
        for reason in reasons(row) if isinstance(row, Judgment) else ():
            if match := pattern.search(reason):
                return text.excerpt(reason, match.start(), match.end())
        return ""

    def _row(self, record: dict[str, Any], row: Row | None) -> dict[str, Any]:
        question = self.data.bench.questions[record["question"]]
        models = [name for name in (record["model_1"], record["model_2"]) if name]
        people = record["people"]
        return {
            "place": record["place"],
            "question": question.question_id,
            "category": record["category"],
            "turn": record["turn"],
            "judge": record["judge"],
            "judged_as": tell_apart(row) if isinstance(row, Judgment) else "",
            "model_1": models[0],
            "model_2": models[1] if len(models) > 1 else None,
            "verdict": verdict_of(record),
            "people": None if people is None else pages.number(people),
            "spread": record["spread"],
            **({} if self.data.other is None else {"change": self._own_change(record)}),
            "reason": first_words(row, WORDS) if isinstance(row, Judgment) else "",
            **({"note": in_words(self.noted.get(record["place"], ()))} if self.noted else {}),
        }

    def _own_change(self, record: dict[str, Any]) -> float | None:
        change: float | None = record["change"]
        turned_round = change is not None and record["model_2"] == self.values["first"] != ""
        return -change if turned_round and change is not None else change

    def changes(self) -> str:
        """Return how many of the list's verdicts changed since the other run; empty: there is none.

        The filters by change do not count.
        """
        if self.data.other is None:
            return ""
        every = self if self.view.only not in ("worse", "better") else None
        every = every or Found(self.data, self.view.to(only=""))
        sums = ", ".join(f"sum({_FILTERS[kind]})" for kind in ("worse", "better"))
        query = (
            f"select form, {sums}, count(*) from verdicts "
            f"where change is not null and {every.where} group by form order by min(place)"
        )
        counts = []
        for form, worse, better, compared in self.data.index.select(query, every.values):
            noise = self.data.noise(form, self.view.judge).each_way(compared, least_of(form))
            counts.append(Counts(form, worse, better, noise))
        if not counts:
            return "The other run has no verdict on the same model and question."
        return changed_in_words(counts)


def _place_notes(data: Data) -> tuple[dict[int, list[Note]], list[Note]]:
    """Return the notes on the table's verdicts, by place, and those on none of them."""
    if not data.notes.all:
        return {}, []
    numbers = {question.question_id: at for at, question in enumerate(data.bench.questions)}
    items = {f"{numbers.get(note.question_id)} {note.turn}" for note in data.notes.all}
    query = (
        "select place from verdicts "
        "where question || ' ' || turn in (select value from json_each(:items))"
    )
    places = data.index.select(query, {"items": msgspec.json.encode(list(items)).decode()})
    rows = data.rows({place for (place,) in places})
    judgments = {place: row for place, row in rows.items() if isinstance(row, Judgment)}
    noted = {place: notes for place, row in judgments.items() if (notes := data.notes.on(row))}
    here = {note.key for notes in noted.values() for note in notes}
    return noted, [note for note in data.notes.all if note.key not in here]


def in_words(notes: Sequence[Note]) -> str:
    """Return notes as a list shows them, each with its name, which has no colon."""
    return "\n".join(f"{note.name}: {note.note}" for note in notes)


def verdict_of(record: dict[str, Any]) -> str:
    """Return a verdict as its chip says it: A, B, tie, flipped, 7 or none."""
    value = record["value"]
    if value is None:
        return "none"
    if not record["model_2"]:
        return pages.number(value)
    if record["flip"] == "flipped":
        return "flipped"
    return "A" if value > 0.5 else "B" if value < 0.5 else "tie"


def reasons(row: Judgment) -> list[str]:
    """Return a judge's words."""
    return [words for words in (row.judgment, row.g1_judgment, row.g2_judgment) if words]


def _number(written: str) -> float | None:
    try:
        number = float(written)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _pattern(written: str) -> Any:
    """Return a regular expression, in any case of letters.

    Raises:
        UsageError: it is none.
    """
    import re2

    try:
        return re2.compile(written, _options(1 << 20))
    except re2.error as error:
        cause = error.args[0] if error.args else ""
        cause = cause.decode(errors="replace") if isinstance(cause, bytes) else str(cause)
        raise UsageError(f"{written!r} is no regular expression: {cause}") from None


def _matcher(written: str) -> Callable[[str], Any]:
    """Return a function that says whether a regular expression matches somewhere in a text.

    RE2's sets say so in a third of the time of its search, which says where.

    Raises:
        UsageError: it is none.
    """
    import re2

    # A set keeps its states in the same memory, and without room for them it finds nothing.
    matcher = re2.Set.SearchSet(_options(1 << 23))
    matcher.Add(_pattern(written).pattern)
    matcher.Compile()
    matches: Callable[[str], Any] = matcher.Match
    return matches


def _prefilter(written: str) -> Callable[[bytes], Any] | None:
    """Return a function that says whether lines of JSON may hold what matches; None: there is none.

    A plain word stands in JSON as it is. Only its k and s may not: in any case of letters they are
    the Kelvin sign and the long s too, which may be escaped.
    """
    if not re.fullmatch("[A-Za-z0-9 ]+", written):
        return None
    search: Callable[[bytes], Any] = _pattern(written).search
    others = {"k": b"\\u212a", "s": b"\\u017f"}
    escaped = [code for letter, code in others.items() if letter in written.lower()]
    return lambda lines: search(lines) is not None or any(code in lines for code in escaped)


def _options(most: int) -> Any:
    """Return how RE2 reads an expression, with the most bytes that it may take."""
    import re2

    options = re2.Options()
    options.case_sensitive, options.log_errors, options.max_mem = False, False, most
    return options


def show(data: Data, view: View, site: Site) -> str:
    """Return the tab."""
    try:
        found = Found(data, view)
    except UsageError as error:
        return pages.notice(str(error))
    begin, steps = pages.divide(view, site, found.total, PAGE)
    rows = found.rows(begin, PAGE if site.live else MOST)
    heads = {}
    for name in SORTS:
        turned_by = f"-{name}" if view.sort == name else name
        heads[name] = site.href(view.to(sort=turned_by)) if site.live else ""
    return pages.render(
        "verdicts.html",
        view=view,
        rows=[
            {
                **row,
                "address": site.href(opened(view, row)),
                "excerpt": Markup(found.excerpt(row["place"])),
            }
            for row in rows
        ],
        heads=heads,
        changes=found.changes(),
        compared=data.other is not None,
        noted=bool(found.noted),
        gone=found.gone if view.only == "noted" else (),
        total=found.total,
        first=begin + 1,
        steps=steps,
        live=site.live,
    )


def opened(view: View, row: dict[str, Any]) -> View:
    """Return the conversation of a verdict, at its turn."""
    models = tuple(name for name in (row["model_1"], row["model_2"]) if name)
    return View(
        "questions",
        view.bench,
        judge=row["judge"],
        model=models,
        question=str(row["question"]),
        turn=str(row["turn"]),
        find=view.find if view.find.replace(" ", "").isalnum() else "",
    )


def fields(data: Data, view: View) -> Fields:
    """Return what can be chosen."""
    data.listed  # noqa: B018  (fills the table once)
    distinct_values = {
        name: named(
            str(value)
            for (value,) in data.index.select(
                f"select distinct {name} from verdicts order by 1", {}
            )
        )
        for name in ("judge", "turn", "category")
    }
    since = ("worse", "better") if data.other is None else ()
    kinds = {name: words for name, words in KINDS.items() if name not in since}
    grades: dict[str, str] = {}
    options = {
        "find": grades,
        "where": PLACES,
        **distinct_values,
        "only": kinds,
        "least": grades,
        "most": grades,
    }
    return Fields(view, options, data.best_first(view.verdicts), ("csv", "jsonl"))


def file(data: Data, view: View, kind: str) -> str:
    """Return the verdicts of a view, at most `MOST`, as csv or jsonl."""
    rows = Found(data, view).rows(0, MOST)
    for row in rows:
        del row["place"]
    if kind == "csv":
        return csv(Page("", rows=rows))
    return store.encode_lines(rows).decode()

"""The files behind the viewer: benchmarks, answers, judgments and results, read when they are shown.

What a page needs of one question is read by its places in the files; whole files are read beside the page (`later`).
Everything is read again when its file has changed. A name in a request is only looked up among the
existing ones; no path is made from it.
"""

import contextlib
import functools
import pathlib
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from harness.old.bench import Bench, load_bench, shipped
from harness.old.errors import DataError, MissingError, UsageError
from harness.old.jsonl import is_there, logical_files, size_of
from harness.old.judgments.case import TOTAL
from harness.old.judgments.file_name import OWN_JUDGE_SET, FileName, judgment_files, kinds_of, parse
from harness.old.judgments.row import JudgedRow, Words, judged_row
from harness.old.names import check_bench_name, name_of
from harness.old.records import Answer, Mode, Question, QuestionId
from harness.old.rows import answer_from_row, question_id
from viewer.old.later import PATIENCE, Lane, Later, NotYet, apart
from viewer.old.places import Places, stamp
from viewer.old.state import State

if TYPE_CHECKING:
    from harness.old.results.efficiency import EfficiencyTable
    from harness.old.results.result import Result

Kind = str
"""`single` or `pair`."""
AHEAD = 1 << 30
"""Bytes of judgments that are indexed before a view needs them."""
MOST_ROWS = 1_000
"""Judgments of one question that are shown."""


class JudgmentFile(NamedTuple):
    """One file of judgments, as its name says."""

    judge: str
    judge_set: str
    """Empty for the usual set; else as in the file's name, a further sample after `#`. Pairs in one order have an
    ending of their own where there are others in both."""
    kind: Kind
    path: pathlib.Path

    @property
    def label(self) -> str:
        """The judge, and the set where it is not the usual one."""
        return f"{self.judge} ({self.judge_set})" if self.judge_set else self.judge


def _set_and_sample(file: JudgmentFile) -> tuple[str, int]:
    """Return the judge set of a file and the number of its sample, by which files are in order."""
    judge_set, _, sample = file.judge_set.partition("#")
    return judge_set, int(sample or 0)


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgment with the judge's words, and the file that it is in."""

    row: JudgedRow
    file: JudgmentFile

    @property
    def words(self) -> tuple[Words, ...]:
        """What the judge was sent and said: of a pair in each game that was played, both or the only one."""
        return self.row.words or (_NO_WORDS,)

    @property
    def judge(self) -> str:
        """Who judged: a judge as the file's name has it, or a person."""
        return self.row.source.judge if self.row.source.voter else self.file.label

    @property
    def score(self) -> float | None:
        """The grade, or of several dimensions that of the whole; None of a label, and where there is none."""
        numbers = self.row.numbers
        only = next(iter(numbers.values())) if len(numbers) == 1 else None
        return None if self.row.source.form == "label" else numbers.get(TOTAL, only)


_NO_WORDS = Words("", None, None, {})


@dataclass
class Found:
    """Judgments of one question, and what was wrong with the rows that are not among them."""

    graded: list[Judged] = field(default_factory=list)
    compared: list[Judged] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class Store:
    """The data folder as the viewer sees it; shared by all pages, safe to use from several threads."""

    def __init__(self, data_dir: pathlib.Path | str = "data", benches: Sequence[str] = ()) -> None:
        """`benches` are the benchmarks that may be shown; none given, all that are there."""
        self.data_dir = pathlib.Path(data_dir)
        self._named = tuple(check_bench_name(name) for name in benches)
        self.later = Later()
        self._benches: dict[str, tuple[Hashable, Bench, Mapping[QuestionId, int]]] = {}
        self._places: dict[pathlib.Path, Places] = {}
        self._lock = threading.Lock()

    # what there is

    def benches(self) -> tuple[str, ...]:
        """Return the names of the benchmarks that can be shown: those with results first, then those with questions."""
        if self._named:
            return self._named
        own: set[str] = set()
        extra: set[str] = set()
        for home, names in ((self.data_dir, own), (shipped("data"), extra)):
            names.update(file.parent.name for file in home.glob("*/question.jsonl"))
        used = {path.parent.name for path in self.data_dir.glob("*/model_*") if path.is_dir()} & (own | extra)
        return (*sorted(used), *sorted(own - used)) or tuple(sorted(extra))

    def bench(self, name: str) -> Bench:
        """Return a benchmark of `benches()`; the first where no name is given.

        Raises:
            MissingError: there is none of that name.
            DataError: its files are not what they must be.
        """
        names = self.benches()
        if not names:
            raise MissingError(f"no benchmark in {self.data_dir}; name another folder with --data-dir")
        if name and name not in names:
            raise MissingError(f"no benchmark {name!r} here; there are: {', '.join(names)}")
        name = name or names[0]
        homes = (self.data_dir / name, shipped("data") / name)
        mark = tuple(stamp(home / file) for home in homes for file in ("question.jsonl", "bench.toml"))
        with self._lock:
            known = self._benches.get(name)
            if known is None or known[0] != mark:
                bench = load_bench(name, self.data_dir)
                places = {question.question_id: at for at, question in enumerate(bench.questions)}
                known = self._benches[name] = (mark, bench, places)
        return known[1]

    def question_places(self, name: str) -> Mapping[QuestionId, int]:
        """Return for each question of a benchmark its place in `questions`, from 0."""
        return self._benches[self.bench(name).name][2]

    def judgment_files(self, bench: Bench, kind: Kind | None = None) -> list[JudgmentFile]:
        """Return the judgment files that are there, by judge, of each set the first sample first."""
        found = []
        kinds = [own for mode in ("single", "pairwise-all") for own in kinds_of(mode) if kind in {None, kind_of(mode)}]
        for path in judgment_files(bench.folder / "model_judgment", kinds):
            name = cast("FileName", parse(path.name))
            both = is_there(path.with_name(replace(name, kind="pair").text))
            judge_set = "" if name.judge_set == OWN_JUDGE_SET and not name.sample else name.judge_set
            judge_set += ", one order" if name.kind == "pair1" and both else ""
            judge_set += f"#{name.sample}" if name.sample else ""
            found.append(JudgmentFile(name.judge, judge_set, "single" if name.kind == "single" else "pair", path))
        return sorted(found, key=lambda file: (file.judge, *_set_and_sample(file)))

    def judgment_file(self, state: State) -> JudgmentFile:
        """Return the judgment file that the view is about; the first that fits where it does not say.

        Raises:
            MissingError: there is none.
        """
        bench = self.bench(state.bench)
        files = self.judgment_files(bench, kind_of(state.mode))
        fitting = [
            file
            for file in files
            if (not state.judge or file.judge == state.judge)
            and (not (state.judge and state.judge_set) or file.judge_set == state.judge_set)
        ]
        fitting.sort(
            key=lambda file: (
                file.judge_set != state.judge_set,
                not size_of(file.path),
                "#" in file.judge_set,
                file.label,
            )
        )
        if fitting:
            return fitting[0]
        known = f"; there are: {', '.join(file.label for file in files)}" if files else ""
        by = f" by {state.judge}" if state.judge else ""
        raise MissingError(
            f"no {state.mode} judgments{by} in {bench.name}{known}; "
            f"create them with: gen_judgment --bench-name {bench.name} --mode {state.mode} --judge-model NAME"
        )

    def vote_files(self, bench: Bench) -> list[pathlib.Path]:
        """Return the files of human votes."""
        return logical_files(bench.folder / "human_judgment")

    # one question

    def question(self, state: State) -> Question:
        """Return the question that the view is about; the first where it does not say.

        Raises:
            MissingError: there is none with that id.
        """
        bench = self.bench(state.bench)
        if not state.question:
            return bench.questions[0]
        place = self.question_places(bench.name).get(question_id(state.question))
        if place is None:
            raise MissingError(f"no question {state.question} in {bench.name}; it has {len(bench.questions)} questions")
        return bench.questions[place]

    def places(self, path: pathlib.Path, *, patience: float = PATIENCE) -> Places:
        """Return where the rows of a file are, as it stands now.

        Raises:
            NotYet: the file is large and still being indexed after this many seconds.
            DataError: it cannot be read.
        """
        with self._lock:
            places = self._places.setdefault(path, Places(path))
        what = f"indexing {path.name}"
        self.later.get(("places", path), what, places.look, of=[path], patience=patience)
        return places

    def look_ahead(self, bench: Bench) -> None:
        """Begin to look through the judgment files, beside the page: the view of any question needs them all.

        Only as many as take no more than a few seconds, and not before all is made that views have asked for; the
        others wait until they are needed.
        """
        ahead = AHEAD + 1 if self.later.busy else 0
        for file in self.judgment_files(bench):
            with contextlib.suppress(NotYet, DataError, OSError):
                ahead += size_of(file.path)
                if ahead <= AHEAD:
                    self.places(file.path, patience=0.0)

    def answer(self, bench: Bench, model: str, key: QuestionId) -> Answer | None:
        """Return a model's answer to a question, of several the last good one; None if it has none.

        Raises:
            NotYet: the file is still being indexed.
            DataError: the last row of that question is damaged, and no good one is there.
        """
        try:
            path = bench.answer_file(model)
        except UsageError:  # nobody is called that
            return None
        return self._answer_in(path, model, key) if is_there(path) else None

    def references(self, bench: Bench, key: QuestionId) -> dict[str, Answer]:
        """Return the reference answers to a question, by author."""
        found = {}
        folder = bench.folder if logical_files(bench.folder / "reference_answer") else bench.source
        for author in bench.references():
            path = next((p for p in logical_files(folder / "reference_answer") if name_of(p.stem) == author), None)
            answer = None if path is None else self._answer_in(path, author, key)
            if answer is not None:
                found[author] = answer
        return found

    def _answer_in(self, path: pathlib.Path, model: str, key: QuestionId) -> Answer | None:
        answer, fault = None, None
        for row in self.places(path).rows(key):
            try:
                if isinstance(row, DataError):
                    raise row
                answer = answer_from_row(row.value, path, row.line, model=model) or answer
            except DataError as error:
                fault = error
        if answer is None and fault is not None:
            raise fault
        return answer

    def judgments(self, bench: Bench, key: QuestionId, kind: Kind | None = None) -> Found:
        """Return every judge's judgments of a question; of rows with equal keys the last good one.

        Raises:
            NotYet: a file is still being indexed.
        """
        found = Found()
        for file in self.judgment_files(bench, kind):
            self._judgments_in(file, key, found)
        return found

    def _judgments_in(self, file: JudgmentFile, key: QuestionId, found: Found) -> None:
        latest: dict[Any, Judged] = {}
        try:
            places = self.places(file.path)
        except DataError as error:
            found.faults.append(str(error))
            return
        paired = file.kind == "pair"
        for row in places.rows(key):
            if len(latest) >= MOST_ROWS:
                found.faults.append(f"{file.path.name} holds more than {MOST_ROWS} judgments of this question")
                break
            try:
                if isinstance(row, DataError):
                    raise row
                judged = judged_row(row.value, file.path, row.line)
                if judged.good and (len(judged.models) > 1) != paired:
                    wrong = "a single answer in a file of pairs" if paired else "a pair in a file of single answers"
                    raise DataError(wrong, path=file.path, line=row.line)
                if judged.good:
                    latest[judged.key, judged.source.judge] = Judged(judged, file)
            except DataError as error:
                found.faults.append(str(error))
        (found.compared if paired else found.graded).extend(latest.values())

    def faults(self, path: pathlib.Path) -> list[str]:
        """Return what is damaged in a file, a line each; a place that no question's page would show."""
        damaged = self.places(path).damaged
        more = f" and {len(damaged) - 3} more" if len(damaged) > 3 else ""
        lines = ", ".join(map(str, damaged[:3]))
        return [f"{path.name}: no judgment or answer can be read on line {lines}{more}"] if damaged else []

    # everything

    def result(self, state: State, *, intervals: bool = True) -> "Result":
        """Return the table of the view's judge and mode; with intervals, how sure it is.

        Without, all answers need not be read: judgments of replaced ones may be among the others, which a note says.

        Raises:
            NotYet: it is being worked out.
            MissingError, UsageError, DataError: there is none, and why.
        """
        file = self.judgment_file(state)
        bench = self.bench(state.bench)
        baseline = state.looked_for("baseline") or None if state.mode == "pairwise-baseline" else None
        key = ("result", file.path, state.mode, bench.name, baseline, intervals)
        what = "comparing with the answers, computing intervals" if intervals else f"reading {file.path.name}"
        words = {"input_file": file.path, "baseline_model": baseline, "intervals": intervals, **_where(bench)}
        words["check_answers"] = intervals
        made = functools.partial(_result, state.mode, **words)
        make = functools.partial(apart, made, of=[file.path], first=not intervals)
        lane: Lane = "whole" if intervals else "first"
        return self.later.get(key, what, make, of=[file.path], lane=lane)

    def measured(self, state: State) -> "Result | None":
        """Return what the metrics of the view's benchmark say, checks among them; None if there are none.

        Raises:
            NotYet: it is being worked out.
            UsageError, DataError: it cannot be, and why.
        """
        from harness.old.results.measured import measured_metrics

        bench = self.bench(state.bench)
        names = measured_metrics(bench)
        if not names:
            return None
        paths = [bench.metric_file(name) for name in names]
        make = functools.partial(_metrics, bench, names)
        return self.later.get(("metrics", bench.name), "reading the metrics", make, of=paths, lane="whole")

    def efficiency(self, state: State, result: "Result") -> "EfficiencyTable":
        """Return what the answers of the models of a result cost and how long they took.

        Raises:
            NotYet: it is being worked out.
            UsageError, MissingError: it cannot be, and why.
        """
        bench = self.bench(state.bench)
        baseline = state.looked_for("baseline") or None if state.mode == "pairwise-baseline" else None
        files = {row["model"]: bench.answer_file(row["model"]) for row in result.rows()}
        words = {"input_file": result.path, "baseline_model": baseline, **_where(bench)}
        make = functools.partial(_efficiency, state.mode, files, **words)
        key, paths = ("efficiency", bench.name, state.mode, baseline), [result.path, *files.values()]
        return self.later.get(
            key,
            "reading what the answers cost",
            lambda told: apart(make, of=paths, told=told),
            of=paths,
            tells=True,
            rests=True,
            lane="whole",
        )


def kind_of(mode: Mode) -> Kind:
    """Return which judgment files belong to a mode."""
    return "single" if mode == "single" else "pair"


def mode_of(kind: Kind) -> Mode:
    """Return the mode whose judgments are all of that kind."""
    return "single" if kind == "single" else "pairwise-all"


def _where(bench: Bench) -> dict[str, Any]:
    return {"bench_name": bench.name, "data_dir": bench.folder.parent}


def _result(mode: Mode, **words: Any) -> "Result":
    from harness.old.results.show import show_result

    return show_result(mode, **words)


def _efficiency(
    mode: Mode, files: Mapping[str, pathlib.Path], *, told: Callable[[float], None], **words: Any
) -> "EfficiencyTable":
    """Return what answers cost, beside the table of the questions that all models have in common."""
    from harness.old.results.efficiency import efficiency, what_it_took
    from harness.old.results.show import show_result

    result = show_result(mode, common=True, **words)
    where = {name: words[name] for name in ("bench_name", "data_dir")}
    return efficiency(result, took=what_it_took(files, told=told), **where)


def _metrics(bench: Bench, names: Sequence[str]) -> "Result":
    from harness.old.results.show import show_result

    return show_result(metric=names, **_where(bench))

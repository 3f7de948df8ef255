"""The tab Judge: what the judge is worth, as `judge_report` prints it, drawn. A report that cannot be made says why."""

import contextlib
import pathlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from harness.old.bench import Bench
from harness.old.errors import MissingError, TurnbenchError
from harness.old.jsonl import logical_files
from harness.old.judgments.file_name import OWN_JUDGE_SET
from harness.old.meta_evaluation.choosing import DEFINITIONS, judge_judges
from harness.old.meta_evaluation.corrected import judge_corrected
from harness.old.meta_evaluation.length import judge_length
from harness.old.meta_evaluation.position import judge_position
from harness.old.meta_evaluation.repeat import judge_repeat
from harness.old.meta_evaluation.report import Report
from harness.old.meta_evaluation.self_preference import judge_self
from harness.old.showing.html import table_html
from harness.old.showing.judge_report import report_charts, report_tables
from viewer.old import markup
from viewer.old.agreement import agreement_chart, report_on
from viewer.old.context import Context, Tab
from viewer.old.later import NotYet, apart
from viewer.old.state import State
from viewer.old.store import JudgmentFile, mode_of
from viewer.old.text import escaped
from viewer.old.votes import settled_files

_KINDS = {"single": "grades", "pair": "pairs"}
_Files: TypeAlias = pathlib.Path | Sequence[pathlib.Path]
_NOTES = {
    "Position": "Each pair is judged in both orders. Does the order change the verdict?",
    "Agreement with votes": "How often the judge agrees with people about the same two answers.",
    "Choosing a judge": "All judges of pairs compared with people and with three baselines: which one is worth its "
    "price?",
    "Length": "Does the longer answer win, and which model wins at equal length?",
    "Repeat": "Where the variance of the verdicts comes from: a repeatable judge has little residual variance.",
    "Self": "Does a judge rate the models of its own family better than other judges do?",
    "Corrected by votes": "People's win rates, estimated from the judge's verdicts on all pairs and votes on some.",
}
"""What the sections ask, in their order."""


def tab(context: Context) -> Tab:
    """Return the tab."""

    def settle(state: State) -> State:
        judges = _judges(context.store.judgment_files(context.store.bench(state.bench)))
        now = (state.judge, state.judge_set)
        if not judges or now in judges:
            return state
        judge, judge_set = next((one for one in judges if one[0] == state.judge), judges[0])
        return state.to(judge=judge, judge_set=judge_set)

    return Tab("judge", "Judge", partial(_show, context), settle)


def _judges(files: Sequence[JudgmentFile]) -> list[tuple[str, str]]:
    """Return the judges with their sets; further samples are not judges of their own."""
    return list(dict.fromkeys((file.judge, _base(file)) for file in files))


def _base(file: JudgmentFile) -> str:
    """Return the judge set of a file without its sample; that of the usual one is empty, which samples name."""
    base = file.judge_set.partition("#")[0]
    return base.removeprefix(OWN_JUDGE_SET) if base.split(", ")[0] == OWN_JUDGE_SET else base


def _show(context: Context, state: State) -> str:
    bench = context.store.bench(state.bench)
    files = context.store.judgment_files(bench)
    if not files:
        line = markup.command(f"gen_judgment --bench-name {bench.name} --mode pairwise-all --judge-model NAME")
        return markup.choices(context, state, "bench") + markup.notice(
            "There are no judgments here yet. Create them with:", then=line
        )
    head = markup.choices(context, state, "bench", more=_choice(state, files))
    own = [file for file in files if file.judge == state.judge and _base(file) == state.judge_set]
    own.sort(key=lambda file: "#" in file.judge_set)  # the first sample comes first, which has the judge's own name
    page = _Page(context, bench, own, files)
    title = f'<h2 class="tb-title"><bdi>{escaped(own[0].label if own else state.judge)}</bdi></h2>'
    drawn = page.sections()
    lacking = markup.section("Not known yet", markup.notes(page.lacking)) if page.lacking else ""
    said = "".join(f'<p class="tb-outcome-said">{escaped(sentence)}</p>' for sentence in page.said)
    return head + title + said + f'<div class="tb-charts">{"".join(drawn)}</div>{lacking}'


def first_report(context: Context) -> Report:
    """Return what the tab shows first, or raise `NotYet`, or why there is none."""
    bench = context.store.bench("")
    files = context.store.judgment_files(bench)
    own = [file for file in files if (file.judge, _base(file)) in _judges(files)[:1]]
    return _Page(context, bench, own, files).position()


def _choice(state: State, files: Sequence[JudgmentFile]) -> str:
    options = {
        markup.judge_value(judge, judge_set): f"{judge} ({judge_set})" if judge_set else judge
        for judge, judge_set in _judges(files)
    }
    now = markup.judge_value(state.judge, state.judge_set)
    return markup.form(state, markup.select("judge", "Judge", options, now), names={"judge", "set"}, label="Judge")


class _Page:
    """The reports on one judge."""

    def __init__(
        self, context: Context, bench: Bench, own: Sequence[JudgmentFile], files: Sequence[JudgmentFile]
    ) -> None:
        self.context, self.bench, self.own, self.files = context, bench, own, files
        self.said: list[str] = []
        """The outcome in words, as far as there are reports."""
        self.lacking: list[str] = []
        """Which reports there are not, and why: a line for each."""
        self._begun = self._there = False
        """Whether a report is being made, and whether one is there."""

    def sections(self) -> list[str]:
        """Return the sections, a report each."""
        made = (
            self._position,
            self._agreement,
            self._judges,
            self._length,
            self._repeat,
            self._self,
            self._corrected,
        )
        return [self._section(title, note, make) for (title, note), make in zip(_NOTES.items(), made, strict=True)]

    def _file(self, kind: str) -> JudgmentFile:
        """Return the judge's file of one kind, of several samples the first."""
        for file in self.own:
            if file.kind == kind and "#" not in file.judge_set:
                return file
        raise MissingError(
            f"this judge has made no {_KINDS[kind]} here; "
            f"create them with: gen_judgment --bench-name {self.bench.name} --mode {mode_of(kind)} --judge-model NAME"
        )

    def _report(
        self, name: str, report: Callable[..., Report], *given: object, input_file: _Files, beside: _Files = ()
    ) -> Report:
        """Return a report on one file or several, which reads others `beside`."""
        answers = logical_files(
            self.bench.folder / "model_answer"
        )  # judgments of answers that are others now don't count
        files = (input_file, beside, answers)
        paths = list(dict.fromkeys(p for one in files for p in ([one] if isinstance(one, pathlib.Path) else one)))
        where = {"bench_name": self.bench.name, "data_dir": self.bench.folder.parent}
        make = partial(report, *given, input_file=input_file, **where)
        away = partial(apart, make, of=paths, first=not self._there)
        key, what = ("report", name, self.bench.name, *paths), f"computing the report on {name}"
        return self._in_turn(lambda: self.context.store.later.get(key, what, away, of=paths, lane="whole"))

    def _in_turn(self, made: Callable[[], Report]) -> Report:
        """Return a report; none is begun beside the first, which would be there later for it.

        Raises:
            NotYet: it is being made, or comes next.
        """
        if self._begun and not self._there:
            raise NotYet("this report comes next")
        try:
            report = made()
        except NotYet:
            self._begun = True
            raise
        self._there = True
        return report

    def _section(self, title: str, note: str, content: Callable[[], str]) -> str:
        """Return a section; nothing where there is no report, which then is among those that are lacking."""
        try:
            inside = content()
        except NotYet as wait:
            inside = markup.waiting(wait)
        except TurnbenchError as error:
            self.lacking.append(f"{title}: {error}")
            return ""
        return markup.section(title, inside, note=note)

    def position(self) -> Report:
        """Return the report that the page shows first, or raise `NotYet`."""
        return self._report("position", judge_position, input_file=self._file("pair").path)

    def _position(self) -> str:
        report = self.position()
        self.said.append(position_said(report))
        return self._drawn("position", report)

    def _length(self) -> str:
        return self._drawn("length", self._report("length", judge_length, input_file=self._file("pair").path))

    def _repeat(self) -> str:
        parts = []
        for kind in ("single", "pair"):
            if files := [file.path for file in self.own if file.kind == kind]:
                name = f"repeat of {_KINDS[kind]}"
                report = partial(self._report, name, judge_repeat, mode_of(kind), input_file=files)
                parts.append(self._part(kind, "repeat", report))
        return "".join(parts)

    def _part(self, kind: str, name: str, made: Callable[[], Report]) -> str:
        """Return the part of a section about grades, or about pairs; or why there is none."""
        try:
            report = made()
            draw = partial(agreement_chart, report, self.own[0].judge, "S2") if name == "agreement" else None
            inside = self._drawn(f"{name}-{kind}", report, draw)
        except NotYet as wait:
            inside = markup.waiting(wait)
        except TurnbenchError as error:
            inside = markup.notice(f"No report: {error}")
        return f"<h3>{_KINDS[kind].capitalize()}</h3>{inside}"

    def _self(self) -> str:
        kind = "single" if any(file.kind == "single" for file in self.own) else "pair"
        judge_set = _base(self.own[0]) if self.own else ""
        files = [f.path for f in self.files if f.kind == kind and f.judge_set == judge_set]
        if len(files) < 2:
            raise MissingError("it takes two judges with the same judge set; there is one")
        return self._drawn("self", self._report("self", judge_self, mode_of(kind), input_file=files))

    def _votes(self) -> tuple[list[pathlib.Path], str]:
        """Return the vote files that count, and what must be known of the others."""
        files, voting = settled_files(self.bench, self.context.store.vote_files(self.bench))
        note = ""
        if voting:
            names = ", ".join(voting[:5]) + (" and others" if len(voting) > 5 else "")
            note = markup.notice(f"Votes by {names} are left out until they finish voting in the tab Vote.")
        if not files:
            raise MissingError(
                "nobody has finished voting yet; cast votes in the tab Vote, or put files of votes into human_judgment/"
                if voting
                else "there are no votes; cast some in the tab Vote, or put files of votes into human_judgment/"
            )
        return files, note

    def _agreement(self) -> str:
        votes, left_out = self._votes()
        parts = []
        for kind in ("pair", "single"):
            with contextlib.suppress(MissingError):
                made = partial(report_on, self.context, self.bench, votes, self._file(kind))
                parts.append(self._part(kind, "agreement", partial(self._in_turn, made)))
        return left_out + "".join(parts)

    def _judges(self) -> str:
        votes, left_out = self._votes()
        files = [file.path for file in self.files if file.kind.startswith("pair")]
        report = self._report("judges", judge_judges, votes, input_file=files, beside=votes)
        return left_out + self._drawn("judges", report)

    def _corrected(self) -> str:
        votes, left_out = self._votes()
        file = self._file("pair").path
        report = self._report("corrected", judge_corrected, votes, input_file=file, beside=votes)
        return left_out + self._drawn("corrected", report)

    def _drawn(self, name: str, report: Report, draw: Callable[[], str] | None = None) -> str:
        """Return a report as charts, with its numbers and notes folded away beneath them."""
        drawn = [draw] if draw else [chart.draw for chart in report_charts(report)]
        picture = "".join(_picture(report.name, one) for one in drawn)
        tables = "".join(
            (f"<h4>{escaped(table.title)}</h4>" if table.title else "")
            + table_html(table, label=table.title or f"report on {report.name}")
            for table in report_tables(report)
        )
        made = [note for note in report.notes if note.partition(": ")[0] in {"intervals", *DEFINITIONS}]
        numbers = markup.details("Numbers", tables + markup.notes(made), name=f"tb-numbers-{name}")
        return picture + markup.notes([note for note in report.notes if note not in made]) + numbers


def position_said(report: Report) -> str:
    """Return a sentence about the judge's position bias."""
    whole = report.rows[0]
    share, low, high = (whole[f"first_share{end}"] for end in ("", "_low", "_high"))
    if share is None:
        return "Position bias cannot be measured: no game was decided."
    found = f"the answer shown first won {share:.1%} of {whole['decided_games']:,} decided games"
    if low is None or high is None:
        return f"Order of the answers: {found}, on too few questions for an interval."
    sure = f"{found} ({low:.1%} to {high:.1%})"
    if low <= 0.5 <= high:
        return f"No significant position bias: {sure}."
    return f"Position bias: {sure}; without bias it would be 50%."


def _picture(name: str, draw: Callable[[], str]) -> str:
    """Return a chart, or why there is none."""
    try:
        drawn = draw()
        return markup.chart(drawn, f"chart of the report on {name}") if drawn else ""
    except TurnbenchError as error:
        return markup.notice(str(error))

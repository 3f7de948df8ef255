"""Files of another project → a benchmark folder, or answers and votes for one that is there.

    report = import_data("short_facts", ["simple_qa.csv"], "simple_qa")  # writes data/simple_qa/

Records that cannot be used are left out and listed; the others are written. Nothing that stands is
replaced, and the same import again adds nothing.
"""

import pathlib
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from harness import bench as benches
from harness import registry, store
from harness.bench import (
    Bench,
    check_bench_name,
    check_model_name,
    file_stem,
    judgment_file_name,
    shipped,
)
from harness.errors import DataError, UsageError
from harness.extras.importing.items import BadRecord, Item, Source, shown
from harness.extras.importing.readers import toml_text
from harness.extras.importing.records import read_records
from harness.types import (
    Answer,
    Choice,
    Detail,
    Judgment,
    Question,
    QuestionId,
    Row,
    Vote,
    content_hash,
)

JUDGE_SETS: Mapping[str, str] = {
    "feedback_collection": "prometheus",
    "preference_collection": "prometheus",
    "colossalai": "metrics_{language}",
    "alpaca_eval": "alpaca_eval",
    "short_facts": "short_fact_{language}",
    "ifeval": "mt_bench_checked",
    "mt_bench_101": "mt_bench_101",
}
"""The judge set for the benchmark that a format makes; others are judged by `mt_bench`."""
_REFERENCE = "reference"
"""The author under whom imported references are filed."""


@dataclass(kw_only=True)
class ImportReport:
    """What was read and written."""

    folder: pathlib.Path
    questions: int = 0
    """Questions written; 0 where the benchmark was there."""
    answers: Counter[str] = field(default_factory=Counter)
    """Answers read, by model."""
    new: Counter[str] = field(default_factory=Counter)
    """Of those, what was not there, by model."""
    votes: int = 0
    """Votes written."""
    judgments: Counter[str] = field(default_factory=Counter)
    """Judgments written, by model."""
    known: int = 0
    """Votes and judgments that were there."""
    repeated: int = 0
    """Records that repeat an earlier one."""
    failed: int = 0
    """Records of a judge's failure, which give no judgment."""
    bad: list[str] = field(default_factory=list)
    """The records that were left out, each with file, line and reason."""
    written: list[pathlib.Path] = field(default_factory=list)
    """The files that were written or added to."""


def import_data(
    format: str,  # noqa: A002  (the command's word)
    files: Sequence[str | pathlib.Path],
    bench_name: str,
    *,
    data_dir: str | pathlib.Path = "data",
    model_id: Sequence[str] = (),
    language: str = "en",
    first_n: int | None = None,
    keep_input: bool = False,
    judge_model: str | None = None,
) -> ImportReport:
    """Write what other projects' files hold into the benchmark `data_dir/bench_name`.

    Args:
        format: a name of the registry's kind `importer`.
        files: the first defines the questions, unless the benchmark has some.
        bench_name: the benchmark; it is made if it is not there.
        data_dir: the folder of benchmarks.
        model_id: the models of the files, or of all files but the first, in place of the records'.
        language: of the questions, for a new benchmark's `bench.toml`.
        first_n: take the first n questions only.
        keep_input: keep a record's whole judge input as the question's `context`.
        judge_model: who made imported judgments.

    Raises:
        UsageError: no such format, or the number of models fits no number of files.
        DataError: a file cannot be read, no record is usable, or an answer differs from one that
            is there.
        StorageError: the folder cannot be written.
    """
    convert: Callable[[Mapping[str, Any], Source], Item] = registry.find("importer", format)
    paths = [pathlib.Path(file) for file in files]
    if not paths:
        raise UsageError("no file given")
    if model_id and len(paths) - len(model_id) not in (0, 1):
        raise UsageError(f"--model-id names {len(model_id)} models for {len(paths)} files")
    models = [*([""] * (len(paths) - len(model_id))), *model_id] if model_id else [""] * len(paths)
    folder = pathlib.Path(data_dir) / check_bench_name(bench_name)
    collected = _Collected(_existing(folder), ImportReport(folder=folder), first_n)
    position = 0
    for number, (path, model) in enumerate(zip(paths, models, strict=True)):
        stem = path.name.removesuffix(".gz").rpartition(".")[0]
        source = Source(folder, stem, number, model, judge_model or "", keep_input)
        for line, record in read_records(path):
            position += 1
            try:
                if isinstance(record, BadRecord):
                    raise record
                if not isinstance(record, dict):
                    raise BadRecord("it must be a JSON object")
                collected.add(convert(record, source), position)
            except (BadRecord, UsageError) as error:
                collected.report.bad.append(f"{path}:{line}: {error}")
    report = collected.report
    if not collected.used:
        first = f"; the first: {report.bad[0]}" if report.bad else ""
        raise DataError(f"no record can be used as {format}{first}", paths[0])
    title = f"{format}: {', '.join(path.name for path in paths)}"
    collected.write(title, _judge_set(format, language), language)
    return report


def _judge_set(form: str, language: str) -> str:
    """Return the judge set of a format in a language; where none is shipped, in English."""
    name = JUDGE_SETS.get(form, "")
    own = name.format(language=language)
    return own if (shipped("judge_prompts") / own).is_dir() else name.format(language="en")


def _existing(folder: pathlib.Path) -> Bench | None:
    """Return the benchmark that is there, shipped ones included."""
    try:
        benches.find_source(folder)
    except UsageError:
        return None
    return benches.load(folder.name, folder.parent)


class _Collected:
    """What the records have become so far."""

    def __init__(self, bench: Bench | None, report: ImportReport, first_n: int | None) -> None:
        self.bench, self.report, self.first_n = bench, report, first_n
        self.used = 0
        self.questions: dict[QuestionId, Question] = dict(bench.by_id) if bench else {}
        self.by_turns: dict[tuple[str, ...], list[QuestionId]] = defaultdict(list)
        for question in self.questions.values():
            self.by_turns[tuple(question.turns)].append(question.question_id)
        self.answers: dict[str, dict[QuestionId, list[str]]] = defaultdict(dict)
        self.references: dict[QuestionId, Item] = {}
        self.votes: dict[tuple[str, type[Row]], list[Any]] = defaultdict(list)
        self.judgments: dict[tuple[str, str], list[Judgment]] = defaultdict(list)
        self.unnamed: Counter[Any] = Counter()
        self.systems: set[str] = set()

    def add(self, item: Item, position: int) -> None:
        """Take what the record at a position (from 1) has become.

        Raises:
            BadRecord: it does not fit with what is there.
        """
        for model in item.answers:
            check_model_name(model)
        before = len(self.questions)
        question_id = self._find(item, position)
        if question_id is None:
            return
        for model, texts in item.answers.items():
            if self.answers[model].get(question_id, texts) != texts:
                again = "a second, different answer to question"
                raise BadRecord(f"{model} has {again} {question_id}")
        new = {m: t for m, t in item.answers.items() if question_id not in self.answers[m]}
        for model, texts in new.items():
            self.answers[model][question_id] = texts
            self.report.answers[model] += 1
        for vote in item.votes:
            self._vote(question_id, vote, item.vote_file)
        for judgment in item.judgments:
            judgment.question_id = question_id
            self.judgments[judgment.judge_model, judgment.judge_set].append(judgment)
        adds = new or item.votes or item.judgments or len(self.questions) > before
        if not adds and (item.answers or self.bench is None):
            self.report.repeated += 1
        self.report.failed += item.failed
        self.used += 1

    def _find(self, item: Item, position: int) -> QuestionId | None:
        """Return the question of an item, made if it is new; None: `first_n` leaves it out."""
        question_id = item.question_id
        if question_id is None and item.category is not None and item.same == "place":
            question_id = position
        if question_id is None:
            there = self.by_turns.get(tuple(item.turns), [])
            if item.same == "answers":
                there = [one for one in there if self._fits(item, one)]
            question_id = there[0] if there else None
        if question_id in self.questions:
            self._check_same(item, question_id)
            return question_id
        may_be_new = self.bench is None and item.category is not None
        if self.first_n is not None and not (may_be_new and len(self.questions) < self.first_n):
            return None
        if not may_be_new:
            what = self.bench.name if self.bench else "the first file"
            raise BadRecord(f"it is about no question of {what} ({_subject(item)})")
        return self._new(item, position if question_id is None else question_id)

    def _check_same(self, item: Item, question_id: QuestionId) -> None:
        if not item.turns or self.questions[question_id].turns == item.turns:
            return
        if self.bench is None:
            raise BadRecord(f"an earlier record is another question {question_id}")
        advice = "give another --bench-name; nothing was written"
        raise DataError(f"question {question_id} is another one here; {advice}", self.report.folder)

    def _fits(self, item: Item, question_id: QuestionId) -> bool:
        """Return whether no model would have two different answers to a question."""
        return all(
            self.answers[model].get(question_id, texts) == texts
            for model, texts in item.answers.items()
        )

    def _new(self, item: Item, question_id: QuestionId) -> QuestionId:
        row = {"question_id": question_id, "category": item.category, "turns": item.turns}
        try:
            self.questions[question_id] = store.question_of({**item.extra, **row})
        except msgspec.ValidationError as error:
            raise BadRecord(store.explain(error, Question)) from None
        self.by_turns[tuple(item.turns)].append(question_id)
        if item.reference:
            self.references[question_id] = item
        self.systems.add(item.system)
        return question_id

    def _vote(self, question_id: QuestionId, vote: Vote | Judgment, file: str) -> None:
        vote.question_id, vote.tstamp = question_id, vote.tstamp or time.time()
        if not vote.judge:
            pair = (question_id, vote.key[2])
            self.unnamed[pair] += 1
            vote.judge = f"voter {self.unnamed[pair]}"
        self.votes[file or str(vote.judge), type(vote)].append(vote)

    def write(self, title: str, judge_set: str, language: str) -> None:
        """Write everything; check first that no answer differs from one that is there."""
        folder, systems = self.report.folder, sorted(self.systems)
        if len(systems) > 1:
            two = " and ".join(map(shown, systems[:2]))
            raise DataError(f"records have different system messages, a benchmark has one: {two}")
        answers = {
            folder / "model_answer" / f"{file_stem(model)}.jsonl": [
                _answer(model, question_id, texts, "") for question_id, texts in own.items()
            ]
            for model, own in self.answers.items()
        }
        for path, rows in answers.items():
            _check_same(path, rows)
        if self.bench is None:
            settings = {"title": title, "judge_set": judge_set, "language": language}
            settings["system_prompt"] = systems[0] if systems else ""
            lines = [f"{name} = {toml_text(text)}\n" for name, text in settings.items() if text]
            self._write_file("bench.toml", "".join(lines))
            references = [
                _answer(_REFERENCE, question_id, item.reference, item.reference_note)
                for question_id, item in self.references.items()
            ]
            self._append(folder / "reference_answer" / f"{_REFERENCE}.jsonl", Answer, references)
        for path, rows in answers.items():
            self.report.new.update(row.model_id for row in self._append(path, Answer, rows))
        for (name, kind), votes in self.votes.items():
            path = folder / "human_judgment" / f"{file_stem(name)}.jsonl"
            new = self._append(path, kind, votes)
            self.report.votes += len(new)
            self.report.known += len(votes) - len(new)
        for (judge, judge_set), judgments in self.judgments.items():
            methods = {row.score_method for row in judgments}
            for row in judgments:  # a weighed preference may be a whole number too
                row.score_method = "logprobs" if "logprobs" in methods else "text"
            path = folder / "model_judgment" / judgment_file_name(judge, judge_set, "pair1")
            new = self._append(path, Judgment, judgments)
            self.report.judgments.update(str(row.model_1) for row in new)
            self.report.known += len(judgments) - len(new)
        if self.bench is None:
            # The last of all: until it is there, the same import completes what a kill left.
            questions = [msgspec.json.encode(_question_row(own)) for own in self.questions.values()]
            self._write_file("question.jsonl", b"\n".join([*questions, b""]))
            self.report.questions = len(self.questions)

    def _write_file(self, name: str, content: str | bytes) -> None:
        store.write_file(self.report.folder / name, content)
        self.report.written.append(self.report.folder / name)

    def _append(self, path: pathlib.Path, kind: type[Any], rows: Sequence[Any]) -> list[Any]:
        """Append the rows whose key a file does not have, of equal keys the last; return them."""
        there = store.latest(path, kind)
        new = [row for key, row in {row.key: row for row in rows}.items() if key not in there]
        if new:
            with store.Writer(path, kind) as writer:
                for row in new:
                    writer.append(row)
            self.report.written.append(path)
        return new


def _check_same(path: pathlib.Path, rows: Sequence[Answer]) -> None:
    """Raise `DataError` if a file has another answer than one of these."""
    there = store.latest(path, Answer)
    for row in rows:
        other = there.get(row.key)
        if other is not None and other.choices[0].turns != row.choices[0].turns:
            advice = "it is kept; give these another name with --model-id"
            raise DataError(f"has another answer to question {row.question_id}; {advice}", path)


def _subject(item: Item) -> str:
    """Return what an item is about, for a message."""
    return str(item.question_id) if item.question_id is not None else shown(item.turns[0])


def _answer(model: str, question_id: QuestionId, texts: list[str], note: str) -> Answer:
    return Answer(
        question_id=question_id,
        answer_id=content_hash(model, question_id, texts),
        model_id=model,
        choices=[Choice(turns=texts, details=[Detail(note=note) for _ in texts] if note else [])],
        tstamp=time.time(),
    )


def _question_row(question: Question) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.to_builtins(question)
    extra: dict[str, Any] = row.pop("extra", {})
    return row | extra

"""Files of another project → a benchmark folder: read as a stream, bad records listed, good ones kept.

report = import_data("short_facts", ["simple_qa.csv"], "simple_qa")     # writes data/simple_qa/
"""

import pathlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from harness.errors import DataError, UsageError
from harness.importing import (
    alpaca_eval,
    battles,
    colossalai,
    dialogues,
    feedback_collection,
    ifeval,
    multi_if,
    preference_collection,
    short_facts,
)
from harness.importing.folder import ImportFolder
from harness.importing.items import BadRecordError, FurtherAnswer, Item
from harness.importing.records import Progress, Record, read_records
from harness.jsonl.copies import local_file, need_near
from harness.names import check_bench_name
from harness.records import QuestionId, content_hash

PathLike: TypeAlias = pathlib.Path | str
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Format:
    """One shape of data that can be imported."""

    title: str
    item: Callable[[Mapping[str, Any]], Item]
    """What a record of the file of questions becomes."""
    answer: Callable[[Mapping[str, Any]], FurtherAnswer] | None = None
    """What a record of any further file is; None: further files are more records of the first kind."""
    judging: str = ""
    """The flags of `gen_judgment` that fit such data; `{language}` becomes its language, `{votes}` its vote file."""
    joined: bool = False
    """Whether records of one question become one: its answers and the votes on them."""
    names: bool = False
    """Whether the models of further files have to be named from outside, since their records do not say."""


FORMATS: Mapping[str, Format] = {
    feedback_collection.NAME: Format(
        "Feedback Collection (graded, with rubrics)", feedback_collection.item, judging="--judge-set prometheus"
    ),
    preference_collection.NAME: Format(
        "Preference Collection (pairs, with criteria)",
        preference_collection.item,
        judging="--mode pairwise-all --judge-set prometheus",
    ),
    colossalai.NAME: Format(
        "ColossalAI: a target file, then answer files",
        colossalai.item,
        colossalai.answer,
        judging="--judge-set metrics_en",
        names=True,
    ),
    alpaca_eval.NAME: Format(
        "AlpacaEval: files of model outputs",
        alpaca_eval.item,
        alpaca_eval.answer,
        judging="--mode pairwise-all --judge-set alpaca_eval",
    ),
    battles.NAME: Format(
        "Arena battles: a question, two answers, who won",
        battles.item,
        judging="--mode pairwise-all --votes {votes} --judge-set mt_bench",
        joined=True,
    ),
    short_facts.NAME: Format(
        "SimpleQA, Chinese SimpleQA, HuSimpleQA and the like",
        short_facts.item,
        judging="--judge-set short_fact_{language}",
    ),
    ifeval.NAME: Format(
        "IFEval: a file of prompts, then files of responses",
        ifeval.item,
        ifeval.answer,
        judging="--judge-set mt_bench_checked",
        names=True,
    ),
    dialogues.MT_BENCH_101: Format(
        "MT-Bench-101 (13 tasks, the least of the turns counts)",
        dialogues.mt_bench_101,
        judging="--judge-set mt_bench_101",
    ),
    dialogues.MULTI_CHALLENGE: Format(
        "MultiChallenge (given dialogues, the last reply passes or fails)",
        dialogues.multi_challenge,
        judging="--judge-set multi_challenge",
    ),
    dialogues.WILDCHAT: Format(
        "WildChat (given dialogues, the last reply is written)", dialogues.wildchat, judging="--judge-set mt_bench"
    ),
    multi_if.NAME: Format("Multi-IF", multi_if.item, judging="--judge-set mt_bench_checked"),
}


@dataclass(frozen=True, slots=True)
class BadRow:
    """A record that was left out."""

    path: pathlib.Path
    position: int
    """Its place in the file; the first record is 1."""
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, record {self.position}: {self.reason}"


@dataclass(slots=True)
class ImportReport:
    """What `import_data` did."""

    folder: pathlib.Path
    questions: int = 0
    answers: dict[str, int] = field(default_factory=dict)
    """Answers read, by model."""
    votes: int = 0
    repeated: int = 0
    """Records that say exactly what an earlier one says; they were left out."""
    bad: list[BadRow] = field(default_factory=list)
    added: tuple[pathlib.Path, ...] = ()
    """The files that were written."""


def import_data(
    format_name: str,
    files: Sequence[PathLike],
    bench_name: str,
    *,
    data_dir: PathLike = "data",
    model_id: Sequence[str] = (),
    language: str | None = None,
    first_n: int | None = None,
    keep_input: bool = False,
    progress: Progress = lambda count: None,
) -> ImportReport:
    """Write the benchmark `data_dir/bench_name` from files of another project; return what was done.

    `model_id` names the models of the further files, in their order, where their records do not. `first_n` takes the
    first n good records of the first kind. `keep_input` keeps the judge's whole input, where records have one, as the
    question's `context`, so that it can be sent as it is. `progress` is called with the number of bytes read.

    Raises:
        UsageError: no such format, a file without a model's name, or the folder holds other questions.
        DataError: a file can't be read, or not one record of it is good.
        StorageError: the folder can't be written.
    """
    if format_name not in FORMATS:
        raise UsageError(f"no format {format_name!r}; there are: {', '.join(FORMATS)}")
    form = FORMATS[format_name]
    paths = [local_file(file) for file in files]
    if not paths:
        raise UsageError("no file given")
    questions, further = (paths[:1], paths[1:]) if form.answer else (paths, [])
    if model_id and len(model_id) != len(further):
        raise UsageError(f"--model-id names {len(model_id)} models, but there are {len(further)} further files")
    report = ImportReport(need_near(data_dir) / check_bench_name(bench_name))
    names = list(model_id) or [path.stem for path in further]
    with ImportFolder(report.folder) as folder:
        ids = _Questions(form, folder, report, keep_input).read(questions, first_n, progress)
        for path, name in zip(further, names, strict=True):
            _read_answers(form, path, name, ids, folder, report, progress, partial=first_n is not None)
        if not folder.questions:
            reason = f"; the first is {report.bad[0]}" if report.bad else ""
            raise DataError(f"not one record is good as {format_name}{reason}", path=paths[0])
        report.questions = folder.questions
        title = f"{form.title}, from {', '.join(path.name for path in paths[: 1 if form.answer else None])}"
        folder.settings({"title": title, **({"language": language} if language else {})})
    report.added = folder.added
    return report


class _Questions:
    """Reads the records that become questions."""

    def __init__(self, form: Format, folder: ImportFolder, report: ImportReport, keep_input: bool) -> None:
        self.form, self.folder, self.report, self.keep_input = form, folder, report, keep_input
        self.by_key: dict[str, tuple[QuestionId, str]] = {}
        """For each key its question and a hash of the whole record."""
        self.taken: set[QuestionId] = set()
        self.joined = _Joined(folder, report)

    def read(self, paths: Sequence[pathlib.Path], first_n: int | None, progress: Progress) -> dict[str, QuestionId]:
        """Write the questions of the files; return their ids by key."""
        position = 0
        for path in paths:
            for record in read_records(path, progress):
                if first_n is not None and self.folder.questions >= first_n:
                    break
                position += 1
                self._take(path, record, position)
        return {key: question_id for key, (question_id, _) in self.by_key.items()}

    def _take(self, path: pathlib.Path, record: Record, position: int) -> None:
        try:
            item = self.form.item(value_of(record))
            question_id: QuestionId = position if item.question_id is None else item.question_id
            if item.key:
                if self._known(item, record):
                    self.report.repeated += 1
                    return
                self.by_key[item.key] = (question_id, content_hash(record.value))
            if question_id in self.taken:
                raise BadRecordError(f"the id {question_id} is taken by an earlier record")
        except BadRecordError as error:
            self.report.bad.append(BadRow(path, record.position, str(error)))
            return
        if self.form.joined and self.joined.take(item):
            return
        self.taken.add(question_id)
        named = {model or path.stem: text for model, text in item.answers.items()}
        extra = dict(item.extra)
        if self.keep_input and isinstance(value_of(record).get("instruction"), str):
            extra["context"] = value_of(record)["instruction"]
        # Votes on what is put together stand in one file, whoever cast them.
        votes = () if self.form.joined else item.votes
        self.folder.add(question_id, replace(item, answers=named, extra=extra, votes=votes))
        self.report.votes += len(votes)
        if self.form.joined:
            self.joined.begin(question_id, item)
        for model in named:
            self.report.answers[model] = self.report.answers.get(model, 0) + 1

    def _known(self, item: Item, record: Record) -> bool:
        """Return whether the same record was there; one that differs but has the same key is bad."""
        known = self.by_key.get(item.key)
        if known is not None and known[1] != content_hash(record.value):
            raise BadRecordError(f"it differs from an earlier record of the same question ({known[0]})")
        return known is not None


class _Joined:
    """Puts records of one question together, as long as a model has one answer to it."""

    def __init__(self, folder: ImportFolder, report: ImportReport) -> None:
        self.folder, self.report = folder, report
        self.places: dict[str, list[tuple[QuestionId, dict[str, str]]]] = {}
        """By the turns of the user, the questions and for each the hash of each model's answer."""
        self.unnamed: Counter[Any] = Counter()

    def begin(self, question_id: QuestionId, item: Item) -> None:
        """Take the first record of a question."""
        said = {model: content_hash(text) for model, text in item.answers.items()}
        self.places.setdefault(content_hash(item.turns), []).append((question_id, said))
        self._vote(question_id, item)

    def take(self, item: Item) -> bool:
        """Add a record to the question that it is about; return whether there is one that it fits."""
        for question_id, said in self.places.get(content_hash(item.turns), ()):
            own = {model: content_hash(text) for model, text in item.answers.items()}
            if all(said.get(model, made) == made for model, made in own.items()):
                for model in own.keys() - said.keys():
                    self.folder.answer(model, question_id, item.answers[model])
                    self.report.answers[model] = self.report.answers.get(model, 0) + 1
                said |= own
                self._vote(question_id, item)
                return True
        return False

    def _vote(self, question_id: QuestionId, item: Item) -> None:
        """Write the votes; several by nobody named on one pair are by as many people."""
        for vote in item.votes:
            judge = vote["judge"]
            if not judge:
                pair = (question_id, frozenset(item.answers))
                self.unnamed[pair] += 1
                judge = f"voter {self.unnamed[pair]}"
            self.folder.vote(question_id, {**vote, "judge": judge}, battles.NAME)
            self.report.votes += 1


def _read_answers(
    form: Format,
    path: pathlib.Path,
    name: str,
    ids: Mapping[str, QuestionId],
    folder: ImportFolder,
    report: ImportReport,
    progress: Progress,
    *,
    partial: bool,
) -> None:
    """Write the answers of a further file; with `partial`, those to questions that were not taken are passed over."""
    answered: set[tuple[str, QuestionId]] = set()
    assert form.answer is not None
    for record, found in good_records(path, form.answer, report.bad, progress):
        model = found.model or name
        question_id = ids.get(found.key)
        if question_id is None and partial:
            continue
        if question_id is None or (model, question_id) in answered:
            what = "answers no question of the first file" if question_id is None else "answers a question again"
            report.bad.append(BadRow(path, record.position, f"it {what} ({_short(found.key)})"))
            continue
        answered.add((model, question_id))
        folder.answer(model, question_id, found.text)
        report.answers[model] = report.answers.get(model, 0) + 1


def good_records(
    path: pathlib.Path, made: Callable[[Mapping[str, Any]], _Made], bad: list[BadRow], progress: Progress
) -> Iterator[tuple[Record, _Made]]:
    """Yield the records of a file with what a function makes of them; those that it refuses go to `bad`."""
    for record in read_records(path, progress):
        try:
            yield record, made(value_of(record))
        except BadRecordError as error:
            bad.append(BadRow(path, record.position, str(error)))


def value_of(record: Record) -> Mapping[str, Any]:
    """Return what a record says, or raise `BadRecordError` if it is none."""
    if record.value is None:
        raise BadRecordError(record.fault)
    return record.value


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."

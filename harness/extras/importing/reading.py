"""Files of another project → a benchmark folder, or answers and votes for one that exists.

    report = import_data("short_facts", ["simple_qa.csv"], "simple_qa")  # writes data/simple_qa/

Records that cannot be used are left out and listed; the others are written. No file or row is
replaced, and the same import again adds nothing.
"""

import itertools
import pathlib
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from harness import bench as benches
from harness import registry, store
from harness.bench import Bench, check_bench_name, file_stem, judgment_file_name, shipped
from harness.bench.names import Kind
from harness.errors import DataError, UsageError
from harness.extras.importing import hub
from harness.extras.importing.constants import toml_text
from harness.extras.importing.items import BadRecord, Item, Source
from harness.extras.importing.records import read_records
from harness.registry import Shown
from harness.types import Answer, Choice, Detail, Judgment, QuestionId, content_hash

JUDGE_SETS: Mapping[str, str] = {
    "feedback_collection": "prometheus",
    "preference_collection": "prometheus",
    "colossalai": "metrics_{language}",
    "alpaca_eval": "alpaca_eval",
    "short_facts": "short_fact_{language}",
    "ifeval": "mt_bench_checked",
    "arena_hard": "arena_hard",
    "mt_bench_101": "mt_bench_101",
}
"""The judge set for the benchmark that a format makes; others are judged by `mt_bench`."""
REFERENCE = "reference"
"""The author under whom imported references are filed."""


@dataclass(kw_only=True)
class ImportReport(Shown):
    """What was read and written."""

    folder: pathlib.Path
    questions: int = 0
    """Questions written; 0 where the benchmark existed."""
    answers: Counter[str] = field(default_factory=Counter)
    """Answers written, by model; 0: all were there already."""
    votes: int = 0
    """Votes written."""
    judgments: int = 0
    """Judgments written."""
    known: int = 0
    """Rows that were there already."""
    failed: int = 0
    """Records of a judge's failure, which give no judgment."""
    bad: list[str] = field(default_factory=list)
    """The records that were left out, each with file, line and reason."""
    written: list[pathlib.Path] = field(default_factory=list)
    """The files that were written or added to."""

    @property
    def exit_code(self) -> int:
        """1 if a record was left out."""
        return int(bool(self.bad))

    def __repr__(self) -> str:
        rows = self.questions + sum(self.answers.values()) + self.votes + self.judgments
        return f"<ImportReport {self.folder.name[:100]}: {rows:,} rows, {len(self.bad)} left out>"


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
        files: the first defines the questions, unless the benchmark has some; paths, or addresses
            of files on the Hugging Face Hub.
        bench_name: the benchmark; it is made if it does not exist.
        data_dir: the folder of benchmarks.
        model_id: the models of the files, or of all files but the first, in place of the records'.
        language: of the questions, for a new benchmark's `bench.toml`.
        first_n: read only the first n records of each file.
        keep_input: keep a record's whole judge input as the question's `context`.
        judge_model: who made imported judgments.

    Raises:
        UsageError: no such format, or the number of models fits no number of files.
        DataError: a file cannot be read, no record is usable, or an answer differs from one that
            is there.
        StorageError: the folder cannot be written.
    """
    convert: Callable[[Mapping[str, Any], Source], Item] = registry.find("importer", format)
    unnamed = len(files) - len(model_id)
    if model_id and unnamed not in (0, 1):
        raise UsageError(f"--model-id names {len(model_id)} models for {len(files)} files")
    folder = pathlib.Path(data_dir) / check_bench_name(bench_name)
    try:
        bench = benches.load(bench_name, data_dir)
    except UsageError:
        bench = None
    report = ImportReport(folder=folder)
    result = _Import(format, bench, report)
    position = 0
    fetched = [hub.fetch(hub.parse(str(f))) if hub.is_address(str(f)) else None for f in files]
    paths = [
        pathlib.Path(file) if found is None else found.path
        for file, found in zip(files, fetched, strict=True)
    ]
    for number, (path, model) in enumerate(zip(paths, [*[""] * unnamed, *model_id], strict=True)):
        stem = path.name.removesuffix(".gz").rpartition(".")[0]
        home = path.resolve().parent.name
        source = Source(folder, stem, number, model, judge_model or "", home, keep_input)
        for place, record in itertools.islice(read_records(path), first_n):
            position += 1
            try:
                if isinstance(record, BadRecord):
                    raise record
                result.add(convert(record, source), position)
            except (ValueError, UsageError) as error:
                report.bad.append(f"{path}{place}: {error}")
            except msgspec.ValidationError as error:
                report.bad.append(f"{path}{place}: {store.explain(error)}")
            except (AttributeError, LookupError, TypeError) as error:
                report.bad.append(f"{path}{place}: it is not shaped like {format}: {error}")
    if len(report.bad) == position:
        first = f"; the first: {report.bad[0]}" if report.bad else ""
        raise DataError(f"no record can be used as {format}{first}")
    judge_set = JUDGE_SETS.get(format, "").format(language=language)
    if not (shipped("judge_prompts") / judge_set).is_dir():
        judge_set = JUDGE_SETS[format].format(language="en")
    settings = {"title": f"{format}: {', '.join(path.name for path in paths)}"}
    if fetched and fetched[0] is not None:
        settings["source"] = str(fetched[0].address)
    result.write(settings | {"judge_set": judge_set, "language": language})
    return report


class _Import:
    """What the records have become so far: the questions, and rows by file."""

    def __init__(self, form: str, bench: Bench | None, report: ImportReport) -> None:
        self.form, self.bench, self.report = form, bench, report
        questions = bench.questions if bench else ()
        self.turns = {question.question_id: question.turns for question in questions}
        self.by_turns: dict[tuple[str, ...], list[QuestionId]] = defaultdict(list)
        for question_id, turns in self.turns.items():
            self.by_turns[tuple(turns)].append(question_id)
        self.questions: list[dict[str, Any]] = []
        """The new ones."""
        self.answers: dict[tuple[str, QuestionId], Answer] = {}
        self.rows: dict[str, list[Any]] = defaultdict(list)
        self.unnamed: Counter[Any] = Counter()
        self.system: str | None = None

    def add(self, item: Item, position: int) -> None:
        """Take what the record at a position (from 1) has become.

        Raises:
            BadRecord: it does not fit with what is there.
        """
        question_id = self._question_id(item, position)
        for model, texts in item.answers.items():
            for choice, turns in enumerate([texts, *item.others], item.choice):
                self._add_choice(item, model, question_id, choice, turns)
        for vote in item.votes:
            vote.question_id, vote.tstamp = question_id, vote.tstamp or time.time()
            if not vote.judge:
                self.unnamed[vote.key] += 1
                vote.judge = f"voter {self.unnamed[vote.key]}"
            author = str(vote.judge) if self.form == "votes" else self.form
            self.rows[f"human_judgment/{file_stem(author)}.jsonl"].append(vote)
        for judgment in item.judgments:
            judgment.question_id = question_id
            both = judgment.g1_winner is not None and judgment.g2_winner is not None
            kind: Kind = "pair" if both else "pair1"
            name = judgment_file_name(judgment.judge_model, judgment.judge_set, kind)
            self.rows[f"model_judgment/{name}"].append(judgment)
        self.report.failed += item.failed

    def _add_choice(
        self, item: Item, model: str, question_id: QuestionId, index: int, texts: list[str]
    ) -> None:
        """Add one conversation of a model to its answer."""
        answer = self.answers.get((model, question_id))
        if answer is None:
            answer = self.answers[model, question_id] = _answer(model, question_id, item)
            self.rows[f"model_answer/{file_stem(model)}.jsonl"].append(answer)
        same = next((choice for choice in answer.choices if choice.index == index), None)
        if same is not None and same.turns != texts:
            raise BadRecord(f"{model} has a second answer to question {question_id}")
        if same is None:
            answer.choices.append(_choice(texts, index, item))
            answer.choices.sort(key=lambda choice: choice.index)

    def _question_id(self, item: Item, position: int) -> QuestionId:
        """Return the question of an item, made if it is new."""
        question_id = item.question_id
        if question_id is None and item.category is not None and not item.same_turns:
            question_id = position
        if question_id is None:
            same = self.by_turns[tuple(item.turns)]
            question_id = next((same_id for same_id in same if self._fits(item, same_id)), None)
        if question_id in self.turns:
            if item.turns not in ([], self.turns[question_id]):
                advice = "give another --bench-name, or mend the ids"
                text = f"question {question_id} is another one here; {advice}"
                raise DataError(text, self.report.folder)
            return question_id
        if self.bench is not None or item.category is None:
            raise BadRecord(f"it is about no question of {self.report.folder.name}")
        if self.system not in (None, item.system):
            raise DataError("the records have different system messages; a benchmark has one")
        question_id = position if question_id is None else question_id
        row = {"question_id": question_id, "category": item.category, "turns": item.turns}
        row |= item.extra
        store.question_of(row)
        self.questions.append(row)
        self.system, self.turns[question_id] = item.system, item.turns
        self.by_turns[tuple(item.turns)].append(question_id)
        if any(map(str.strip, item.reference)):
            reference = _answer(REFERENCE, question_id, Item(note=item.reference_note))
            reference.choices.append(_choice(item.reference, 0, Item(note=item.reference_note)))
            self.rows[f"reference_answer/{REFERENCE}.jsonl"].append(reference)
        return question_id

    def _fits(self, item: Item, question_id: QuestionId) -> bool:
        """Return whether no model would have a second answer to the question."""
        for model, texts in item.answers.items():
            answer = self.answers.get((model, question_id))
            of_index = answer.choices if answer else []
            if any(c.index == item.choice and c.turns != texts for c in of_index):
                return False
        return True

    def write(self, settings: dict[str, str]) -> None:
        """Write everything, once no answer differs from one that is there."""
        folder, report = self.report.folder, self.report
        for answer in (row for rows in self.rows.values() for row in rows):
            if isinstance(answer, Answer):
                turns = [choice.turns for choice in answer.choices]
                answer.answer_id = content_hash(answer.model_id, answer.question_id, *turns)
        new = {name: _missing(folder / name, rows) for name, rows in self.rows.items()}
        if self.bench is None:
            settings["system_prompt"] = self.system or ""
            lines = [f"{name} = {toml_text(text)}\n" for name, text in settings.items() if text]
            if not (folder / "bench.toml").exists():
                self._write_file("bench.toml", "".join(lines))
        for name, rows in new.items():
            if rows:
                with store.Writer(folder / name, type(rows[0])) as writer:
                    for row in rows:
                        writer.append(row)
                report.written.append(folder / name)
            report.known += len(self.rows[name]) - len(rows)
            if name.startswith("model_answer"):
                report.answers[self.rows[name][0].model_id] += len(rows)
            elif name.startswith("human_judgment"):
                report.votes += len(rows)
            elif name.startswith("model_judgment"):
                report.judgments += len(rows)
        if self.bench is None:
            # The last of all: until it is there, the same import completes what a kill left.
            self._write_file("question.jsonl", store.encode_lines(self.questions))
            report.questions = len(self.questions)

    def _write_file(self, name: str, text: str | bytes) -> None:
        store.write_file(self.report.folder / name, text)
        self.report.written.append(self.report.folder / name)


def _missing(path: pathlib.Path, rows: Sequence[Any]) -> list[Any]:
    """Return the rows whose keys a file does not have, of equal keys the last.

    Raises:
        DataError: the file has a different answer.
    """
    existing = store.latest(path, type(rows[0]))
    for row in rows:
        earlier = existing.get(row.key) if isinstance(row, Answer) else None
        if earlier is not None and earlier.choices[0].turns != row.choices[0].turns:
            advice = "it is kept; give these another name with --model-id"
            raise DataError(f"has another answer to question {row.question_id}; {advice}", path)
    if any(isinstance(row, Judgment) and row.score_method == "logprobs" for row in rows):
        for row in rows:  # a weighed preference may be a whole number too
            row.score_method = "logprobs"
    return [row for key, row in {row.key: row for row in rows}.items() if key not in existing]


def _answer(model: str, question_id: QuestionId, item: Item) -> Answer:
    return Answer(
        question_id=question_id,
        model_id=model,
        choices=[],
        sampling=item.sampling,
        tstamp=time.time(),
    )


def _choice(texts: list[str], index: int, item: Item) -> Choice:
    thoughts = item.reasoning if any(item.reasoning) else [None] * len(texts)
    details = [Detail(note=item.note or None, reasoning=thought) for thought in thoughts]
    plain = not (item.note or any(thoughts))
    return Choice(index=index, turns=texts, details=[] if plain else details)

"""A query of the observations: which files, by whom, made how, about what.

`finding` answers it with observations that are comparable; `about` says which questions they are about.
"""

import pathlib
from collections.abc import Sequence
from typing import Annotated, NamedTuple, Self, TypeAlias, TypedDict, Unpack

from harness.old.bench import Bench, bench_folders, load_bench
from harness.old.bounds import FROM_0, SAMPLE, TURNS
from harness.old.errors import TurnbenchError
from harness.old.jsonl.copies import local_file
from harness.old.records import Mode
from harness.old.written import check_values

Paths: TypeAlias = pathlib.Path | str | Sequence[pathlib.Path | str] | None


UNGROUPED = "none"
"""In place of a field: the questions are one group."""
KIND = "kind"
"""The field by which checks are grouped, instead of a field of the questions."""
USUAL_FIELD = "category"
"""The field by which tables are grouped where none is named."""


class Words(TypedDict, total=False):
    """The keywords of a query for commands and Python callers; None is the default of each."""

    input_file: Paths
    """Judgment or vote files to read instead of the benchmark's."""
    judge_model: str | Sequence[str] | None
    """Whose observations; needed where there are several."""
    judge_set: str | None
    """Made with which judge set, by name or path; needed where there are several."""
    sample: Annotated[int, SAMPLE] | None
    """Which of a judge's samples (default: the first; `show_result` averages all)."""
    criterion: str | None
    """By which criterion; needed where there are several."""
    score_method: str | None
    """Read from the `text` or weighed by `logprobs`; needed where there are both."""
    model_list: str | Sequence[str] | None
    """The models to show (default: all); of pairs, those of which both models are named."""
    turns: Annotated[Sequence[int], TURNS] | None
    """The turns to count (default: all)."""
    exclude: str | Sequence[str] | None
    """Patterns of voters to leave out of a vote file, such as `author*`."""
    bench_name: str | None
    """The benchmark (default mt_bench)."""
    data_dir: pathlib.Path | str
    """The data folder."""
    by: str | None
    """The field of the questions by which tables are grouped, and whose mix the intervals take as given; `none`: no
    groups (default: tables are grouped by category, and intervals are for any mix)."""
    seed: Annotated[int, FROM_0]
    """Of the resampling."""
    repeated: str | None
    """Of rows with equal keys: the `last` good one counts (default), all on `average`, or `refuse` them."""


REPEATED = ("last", "average", "refuse")


class Query(NamedTuple):
    """Which observations a table or a report is about; see `Words` for each field."""

    mode: Mode | None = None
    """None means what the files contain, and grades if no file is named."""
    files: tuple[pathlib.Path, ...] = ()
    judges: tuple[str, ...] | None = None
    judge_set: str | None = None
    sample: int | None = None
    criterion: str | None = None
    method: str | None = None
    models: tuple[str, ...] | None = None
    turns: tuple[int, ...] | None = None
    exclude: tuple[str, ...] = ()
    bench_name: str | None = None
    data_dir: pathlib.Path | str = "data"
    field: str | None = None
    seed: int = 0
    repeated: str = REPEATED[0]
    every_judge: bool = False
    """Whether without a named judge all are found, separately."""
    every_sample: bool = False
    """Whether all samples of a judge are found, separately."""
    every_metric: bool = False
    """Whether grades by several criteria may be found side by side."""

    @classmethod
    def of(cls, mode: Mode | None = None, **words: Unpack[Words]) -> Self:
        """Return the query that these words ask; raise `UsageError` for a number that cannot be."""
        check_values(Words.__annotations__, words)
        turns, judge_set = words.get("turns"), words.get("judge_set")
        return cls(
            mode,
            files=_paths(words.get("input_file")),
            judges=_listed(words.get("judge_model")) or None,
            judge_set=None if judge_set is None else _name_of(judge_set),
            sample=words.get("sample"),
            criterion=words.get("criterion"),
            method=words.get("score_method"),
            models=_listed(words.get("model_list")) or None,
            turns=None if turns is None else tuple(turns),
            exclude=_listed(words.get("exclude")),
            bench_name=words.get("bench_name"),
            data_dir=words.get("data_dir", "data"),
            field=words.get("by"),
            seed=words.get("seed", 0),
            repeated=words.get("repeated") or REPEATED[0],
        )

    @property
    def by(self) -> str:
        """The field by which tables are grouped."""
        return self.field or USUAL_FIELD

    @property
    def fixed_mix(self) -> bool:
        """Whether intervals take the mix of that field as given; kinds are those of checks, not of questions."""
        return self.field not in {None, UNGROUPED, KIND}

    @property
    def judge(self) -> str | None:
        """The one judge that is named; None if none is, or several are."""
        return self.judges[0] if self.judges and len(self.judges) == 1 else None

    @property
    def several(self) -> bool:
        """Whether several judges are named, who make a panel."""
        return self.judges is not None and len(self.judges) > 1

    @property
    def bench(self) -> Bench:
        """The benchmark that is named."""
        return load_bench(self.bench_name or "mt_bench", self.data_dir)

    @property
    def folder(self) -> pathlib.Path | None:
        """The folder of the benchmark's results, if there is such a benchmark; the questions are not read."""
        try:
            return bench_folders(self.bench_name or "mt_bench", self.data_dir).folder
        except TurnbenchError:
            return None


def _listed(names: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return one name or several as a tuple without repeats."""
    return (names,) if isinstance(names, str) else tuple(dict.fromkeys(names or ()))


def _name_of(judge_set: str) -> str:
    """Return the name of a judge set that is named by name or path."""
    from harness.old.judging.sets import judge_set_name

    return judge_set_name(judge_set)


def _paths(given: Paths) -> tuple[pathlib.Path, ...]:
    """Return the files that were named."""
    if given is None:
        return ()
    return (local_file(given),) if isinstance(given, str | pathlib.Path) else tuple(map(local_file, given))

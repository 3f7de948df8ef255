"""Judge sets: prompt templates, criteria, and the rule that picks them for a question and turn.

A set is a folder of TOML, `judge_set.toml` and one file a template (`judge_prompts/README.md` is
the manual), or one file of another project. `load` finds it, follows what it extends, checks it.
"""

import functools
import pathlib
import random
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from harness import registry, store
from harness.bench import Bench, shipped
from harness.errors import DataError, UsageError, near
from harness.judging.formats import FORMATS, formats_of
from harness.judging.forms import SCALE_WORDS, Form, Kind, Scale
from harness.judging.templates import Template, UnknownPlaceholderError
from harness.types import Mode, Question, Sampling, clash_of, content_hash

V = TypeVar("V")
Order: TypeAlias = Literal["both", "random", "as_given"]
Turns: TypeAlias = Literal["first", "second", "later", "every", "last"]
Filled: TypeAlias = Annotated[str, Meta(min_length=1, pattern=r"\S")]
Numbers: TypeAlias = tuple[int | float, int | float]
"""A scale as it is written: whole numbers stay whole, since rows repeat them."""
Step: TypeAlias = Annotated[float, Meta(gt=0)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]

ANY = "*"
"""In a list of categories: every one."""
DEFAULT = "default"
"""In the table of categories: those without an entry of their own."""
QUESTION_TEXTS = ("rubric", "context")
"""Placeholders that a question's fields may fill."""
FILE = "judge_set.toml"

_PER_TURN = ("question", "answer", "answer_a", "answer_b", "ref_answer")
_TURN_NAMES = frozenset({"turn", "question", "answer", "answer_a", "answer_b", "reference"})
_NAMES = SCALE_WORDS | frozenset(
    {"question", "answer", "answer_a", "answer_b", "reference", "conversation", "criterion"}
    | {"steps", "rubric", "context", "checks", "system", "checklist"}
)
PLACEHOLDERS = _NAMES | {f"{name}_{n}" for name in _PER_TURN for n in range(1, 21)}


# What people write


class Wording(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A criterion's texts and turns; in one category, what is empty is as usual."""

    definition: str = ""
    """What it asks: `{criterion}` in a template."""
    steps: str = ""
    """How to go about it: `{steps}`."""
    rubric: str = ""
    """What earns which grade: `{rubric}`, before a question's own."""
    turns: Turns | None = None
    """None: every turn."""


class Criterion(Wording, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A criterion; each gives a judgment of its own."""

    by_category: dict[str, Wording] = {}
    default: bool = True
    """Whether it is used without being named."""
    reference: bool = True
    """Whether the judge may be shown a reference answer for it."""


class References(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Categories, by whether they are judged with a reference answer."""

    required: frozenset[Filled] = frozenset()
    """With one; a question without one is an error."""
    if_any: frozenset[Filled] = frozenset()
    """With one if the benchmark has any for them."""
    never: frozenset[Filled] = frozenset()
    """Without a reference or note, in spite of the other two."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of `judge_set.toml`."""

    name: Annotated[str, Meta(pattern=r"^[^#@]*[^#@\s][^#@]*$")] = ""
    """A text without # and @, which separate parts of file names."""
    version: str = ""
    title: str = ""
    language: str = "en"
    extends: str = ""
    fence: bool = True
    """Whether answers stand between marker lines that they cannot contain."""
    attempts: Annotated[int, Meta(ge=1, le=20)] = 1
    """Calls to make until the judge gives a verdict."""
    scale: Numbers = (1, 10)
    step: Step | None = None
    sampling: Sampling = Sampling()
    references: References = References()
    criteria: dict[str, Criterion] = {}
    categories: dict[str, list[Filled]] = {}
    """The criteria of each category, and of all others under `default`; empty: all everywhere."""
    turns: Turns = "every"
    order: Order = "both"
    mode: Mode | None = None
    baseline: Filled | None = None
    judge: Filled | None = None
    """The judge that published numbers of the set are by."""
    aggregate: Literal["mean", "min", "last"] | None = None
    """How the grades of a conversation's turns are combined."""
    rubric: str = ""
    labels: dict[Filled, Share] = {}


class TemplateFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of a template's file."""

    kind: Kind
    user: Filled
    system: str = ""
    turn: str = ""
    """The sub-template of which `{conversation}` is made, once for each turn so far."""
    turns: Turns = "every"
    verdict: str = ""
    description: str = ""
    questions: dict[str, Any] = {}
    """The questions that it is for: by field, a value or the values it may have."""
    dimensions: tuple[Filled, ...] = ()
    total: str = ""
    score_method: Literal["text", "logprobs"] = "text"
    top_logprobs: Annotated[int, Meta(ge=1, le=20)] = 20
    sides: tuple[Filled, Filled] = ("A", "B")
    schema: dict[str, Any] | None = None
    """The JSON schema of the reply; a property that is "scale" becomes the scale's values."""


# What a set is, once read


class JudgeTemplate(Struct, frozen=True, kw_only=True, dict=True):
    """One prompt of a judge set."""

    name: str
    form: Form
    user: Template
    turns: Turns = "every"
    system: Template | None = None
    turn: Template | None = None
    questions: Mapping[str, Any] = {}
    top_logprobs: int = 20

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """All placeholders that occur."""
        parts = [part for part in (self.user, self.system, self.turn) if part is not None]
        return frozenset().union(*(part.names for part in parts))

    @functools.cached_property
    def fields(self) -> frozenset[str]:
        """All placeholders that occur, without the number of a turn."""
        return frozenset(re.sub(r"_\d+$", "", name) for name in self.names)

    @property
    def reference(self) -> bool:
        """Whether the judge is shown a reference answer."""
        return bool({"reference", "ref_answer"} & self.fields)

    @property
    def compares(self) -> bool:
        """Whether it shows two answers."""
        return self.form.kind == "compare"

    def is_for(self, question: Question, turn: int) -> bool:
        """Return whether it is for this turn of this question."""
        for name, values in self.questions.items():
            value = question.category if name == "category" else question.extra.get(name)
            if value not in (values if isinstance(values, list | tuple) else [values]):
                return False
        return fits(self.turns, turn, len(question.turns))


class JudgeSet(Settings, frozen=True, kw_only=True):
    """A judge set, read and checked: its settings with those of its bases, and its templates.

    This is what the loader of another project's file (registry kind `judge_file`) returns:
    `make_judge_set(path, Settings(...), [JudgeTemplate(...), ...])`.
    """

    path: pathlib.Path
    templates: dict[str, JudgeTemplate]
    unbound: dict[str, JudgeTemplate]
    """The templates without labels and scale, for sets that extend this one."""
    chosen: tuple[str, ...] = ()
    """The requested criteria; empty: the set's default ones."""
    bases: tuple[str, ...] = ()
    """The sets that it was made from, the nearest first."""
    contents: dict[str, str] = {}
    """For each template, the hash of everything in the set that shapes prompt and verdict."""

    def __repr__(self) -> str:
        return f"<JudgeSet {self.name[:80]} {self.version[:20]}: {len(self.templates)} templates>"

    @property
    def grades(self) -> Scale:
        """The scale of the set's grades."""
        return Scale(*self.scale, self.step)

    def choose(
        self, compare: bool, question: Question, turn: int, *, reference: bool
    ) -> JudgeTemplate:
        """Return the template for a match.

        Of several, one for certain questions comes first; then the order of their names.

        Raises:
            UsageError: there is none.
        """
        fitting = [
            template
            for template in self.templates.values()
            if (template.compares, template.reference) == (compare, reference)
            and template.is_for(question, turn)
        ]
        if fitting:
            return max(fitting, key=lambda template: bool(template.questions))
        modes = "single" if compare else "pairwise-baseline or pairwise-all"
        raise UsageError(
            f"the judge set {self.name} has no template to {'compare' if compare else 'grade'} "
            f"turn {turn} {'with' if reference else 'without'} a reference (question "
            f"{question.question_id}); use --mode {modes}, other --turns or another --judge-set"
        )

    def words(self, name: str, category: str) -> Wording:
        """Return a criterion's texts in a category, with the scale's words in them."""
        criterion = self.criteria[name]
        special = criterion.by_category.get(category, Wording())
        texts = {}
        for part in ("definition", "steps", "rubric"):
            text = (getattr(special, part) or getattr(criterion, part)).strip("\n")
            for word, value in self.grades.words(self.language).items():
                text = text.replace(f"{{{word}}}", value)
            texts[part] = text
        texts["definition"] = texts["definition"] or name
        return Wording(**texts)

    def texts(self, question: Question, criterion: str | None) -> dict[str, str]:
        """Return the texts of criterion, steps, rubric and context for a question, if it has them.

        The rubric is the criterion's, else the question's own, else the set's. Without a criterion,
        `criterion` is the first line of the rubric.
        """
        texts = {"steps": "", "rubric": self.rubric.strip("\n")}
        for name in QUESTION_TEXTS:
            value = question.extra.get(name)
            if isinstance(value, str) and value.strip():
                texts[name] = value
        if criterion is None:
            head = texts["rubric"].strip().split("\n")[0].strip()
            texts["criterion"] = re.sub(r"^\[(.*)\]$", r"\1", head)
        else:
            wording = self.words(criterion, question.category)
            texts |= {"criterion": wording.definition, "steps": wording.steps}
            texts["rubric"] = wording.rubric or texts["rubric"]
        return {name: text for name, text in texts.items() if text or name == "steps"}

    def criteria_of(self, question: Question, turn: int) -> tuple[str | None, ...]:
        """Return the criteria by which a turn is judged; `(None,)` if the set has none.

        Empty: the set does not judge the turn at all.
        """
        kinds = {template.form.kind for template in self.templates.values()}
        without_points = kinds == {"checklist"} and not any(question.checklist[turn - 1 : turn])
        if without_points or not fits(self.turns, turn, len(question.turns)):
            return ()
        names = self.chosen or tuple(
            name for name, criterion in self.criteria.items() if criterion.default
        )
        if not names:
            return (None,)
        category = question.category
        if self.categories and not self.chosen:
            listed = self.categories.get(category, self.categories.get(DEFAULT, []))
            names = tuple(name for name in names if name in listed)
        judged = []
        for name in names:
            criterion = self.criteria[name]
            turns = criterion.by_category.get(category, criterion).turns or criterion.turns
            if fits(turns or "every", turn, len(question.turns)):
                judged.append(name)
        return tuple(judged)

    def games(self, question: Question, turn: int, sample: int) -> tuple[Literal[1, 2], ...]:
        """Return the games of a pair: both, or the one that the set's order gives.

        With `random`, AlpacaEval's choice: `Random("is_switched_outputs" + text + seed)` picks from
        [False, True]; its reference is our second model. The seed is the sample's number.
        """
        if self.order == "both":
            return (1, 2)
        if self.order == "as_given":
            return (1,)
        text = f"is_switched_outputs{question.turns[turn - 1]}{sample}"
        return (1,) if random.Random(text).choices([False, True], k=1)[0] else (2,)

    def by(self, names: Sequence[str]) -> "JudgeSet":
        """Return the set judging by these criteria only; by its default ones if none is named.

        Raises:
            UsageError: it has no such criterion.
        """
        for name in names:
            if name not in self.criteria:
                advice = near(name, self.criteria)
                raise UsageError(f"the judge set {self.name} has no criterion {name!r}{advice}")
        return replace(self, chosen=tuple(dict.fromkeys(names)))

    def for_categories(self, table: Mapping[str, Sequence[str]]) -> "JudgeSet":
        """Return the set judging each of these categories by these criteria, and no other category.

        Raises:
            UsageError: it has no such criterion.
        """
        self.by(sorted({name for names in table.values() for name in names}))
        criteria = {
            name: replace(criterion, default=True) for name, criterion in self.criteria.items()
        }
        categories = {category: list(names) for category, names in table.items()}
        return replace(self, criteria=criteria, categories=categories)

    def without_references(self) -> "JudgeSet":
        """Return the set judging without references and notes."""
        return replace(self, references=References(never=frozenset({ANY})))

    def without_schemas(self) -> "JudgeSet":
        """Return the set asking for JSON in its prompts alone."""
        templates = {
            name: replace(template, form=replace(template.form, schema=None))
            for name, template in self.templates.items()
        }
        return replace(self, templates=templates)

    def shows_notes(self, category: str) -> bool:
        """Return whether references and notes are shown at all."""
        return not {category, ANY} & self.references.never

    def shows_reference(self, category: str, *, present: bool) -> bool:
        """Return whether a category is judged with a reference; `present`: there are some."""
        categories = self.references.required | (self.references.if_any if present else set())
        return bool({category, ANY} & categories) and self.shows_notes(category)

    @property
    def named_categories(self) -> frozenset[str]:
        """The categories for which the set has rules of their own."""
        criteria = (criterion.by_category for criterion in self.criteria.values())
        listed = [_listed(t.questions.get("category", ())) for t in self.templates.values()]
        groups = (*self.references_by_rule, self.categories, *criteria, *listed)
        return frozenset().union(*groups) - {ANY, DEFAULT}

    @property
    def references_by_rule(self) -> tuple[frozenset[str], ...]:
        """The categories with a reference: required, if any, never."""
        return (self.references.required, self.references.if_any, self.references.never)

    def with_categories(self, names: Mapping[str, str]) -> "JudgeSet":
        """Return the set with the rules of its categories for a benchmark's names of them.

        `names` has the set's category by the benchmark's, as `[categories]` of bench.toml.
        """
        if not names:
            return self

        def more(categories: Collection[str]) -> frozenset[str]:
            return frozenset({*categories, *(own for own, of in names.items() if of in categories)})

        def table(rules: Mapping[str, V]) -> dict[str, V]:
            return {**rules, **{own: rules[of] for own, of in names.items() if of in rules}}

        required, if_any, never = map(more, self.references_by_rule)
        templates = {}
        for name, template in self.templates.items():
            questions = dict(template.questions)
            if "category" in questions:
                questions["category"] = sorted(more(_listed(questions["category"])))
            templates[name] = replace(template, questions=questions)
        return replace(
            self,
            references=References(required=required, if_any=if_any, never=never),
            categories=table(self.categories),
            criteria={
                name: replace(criterion, by_category=table(criterion.by_category))
                for name, criterion in self.criteria.items()
            },
            templates=templates,
        )


def _listed(value: Any) -> Collection[str]:
    return value if isinstance(value, list | tuple) else (value,)


def fits(turns: Turns, turn: int, count: int) -> bool:
    """Return whether something with these turns is for one of a question's `count` turns."""
    return {
        "first": turn == 1,
        "second": turn == 2,
        "later": turn >= 2,
        "every": True,
        "last": turn == count,
    }[turns]


# Finding and reading


def load(
    name: str = "mt_bench",
    bench_folder: pathlib.Path | None = None,
    data_dir: pathlib.Path | None = None,
) -> JudgeSet:
    """Return the judge set of a name or path.

    `name` is a path (a folder, or a file of FastChat, ColossalAI or AlpacaEval), else looked for in
    the benchmark's folder, among the shipped sets, and in the data folder.

    Raises:
        UsageError: there is none; the near names are in the message.
        DataError: a file of the set is wrong; file, key and the nearest known key are named.
    """
    data_dir = data_dir or (bench_folder and bench_folder.parent)
    homes = (pathlib.Path(), bench_folder, shipped("judge_prompts"), data_dir)
    judge_set = _find(name, [home for home in homes if home is not None])
    if judge_set is None:
        paths = f"the path of a folder with {FILE} or of a judge_prompts.jsonl"
        raise UsageError(f"no judge set {name!r}{near(name, shipped_sets())} (or give {paths})")
    return judge_set


def load_for(bench: Bench, name: str | None = None) -> JudgeSet:
    """Return a judge set for a benchmark: the one of a name, else its own.

    Raises:
        UsageError, DataError: as `load`.
    """
    name = name or bench.settings.usual_judge_set
    return load(name, bench.folder).with_categories(bench.settings.categories)


load_judge_set = load
"""The name of `load` where the room is not named: `harness.load_judge_set`."""


def shipped_sets() -> list[str]:
    """Return the names of the judge sets that are shipped."""
    return sorted(path.parent.name for path in shipped("judge_prompts").glob(f"*/{FILE}"))


_LOADERS = {
    ".jsonl": "fastchat",
    ".json": "colossalai",
    ".yaml": "alpaca_eval",
    ".yml": "alpaca_eval",
}
"""By suffix, the registry's name for the loader of another project's file."""


def _find(
    name: str, homes: Sequence[pathlib.Path], extending: tuple[pathlib.Path, ...] = ()
) -> JudgeSet | None:
    """Return the first set of a name in some folders that is not one of those that extend it."""
    for place in [home / name for home in homes]:
        if (place / FILE).is_file() and place.resolve() not in extending:
            return _read(place, homes, (*extending, place.resolve()))
        for path in (place, place / "judge_prompts.jsonl", place / "configs.yaml"):
            if path.is_file():
                loader = registry.find("judge_file", _LOADERS.get(path.suffix.lower(), "fastchat"))
                judge_set: JudgeSet = loader(path)
                unnamed = path != place and path.suffix == ".jsonl" and place.name != "mt_bench"
                return replace(judge_set, name=place.name) if unnamed else judge_set
    return None


def _read(
    folder: pathlib.Path, homes: Sequence[pathlib.Path], extending: tuple[pathlib.Path, ...]
) -> JudgeSet:
    """Return the set of a folder of TOML, with what it inherits."""
    path = folder / FILE
    bases: tuple[str, ...] = ()
    keys: dict[str, Any] = store.read_toml(path, dict[str, Any])
    settings = store.convert({"name": folder.name, **keys}, Settings, path)
    files = sorted(file for file in folder.glob("*.toml") if file.name != FILE)
    templates = {file.stem: template_from_file(file) for file in files}
    if settings.extends:
        base = _find(settings.extends, [folder, *homes], extending)
        if base is None:
            advice = near(settings.extends, shipped_sets())
            raise DataError(
                f"extends: there is no other judge set {settings.extends!r}{advice}", path
            )
        inherited = {
            key: msgspec.to_builtins(getattr(base, key))
            for key in set(Settings.__struct_fields__) - {"name", "version", "title", "extends"}
        }
        if "labels" in keys:
            del inherited["labels"]
        settings = store.convert(_merged(inherited, {"name": folder.name, **keys}), Settings, path)
        templates = base.unbound | templates
        bases = (base.name, *base.bases)
    return make_judge_set(folder, settings, list(templates.values()), bases)


def _merged(base: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return two tables merged key by key; lists, texts and numbers are replaced."""
    merged = dict(base)
    for key, value in keys.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def make_judge_set(
    path: pathlib.Path,
    settings: Settings,
    templates: Sequence[JudgeTemplate],
    bases: tuple[str, ...] = (),
    contents: Mapping[str, str] | None = None,
) -> JudgeSet:
    """Return the judge set of some settings and templates, checked against each other.

    `contents` are the templates' hashes where they are not to be computed. Without a version, the
    set has "1".

    Raises:
        DataError: they do not fit together.
    """
    fields = asdict(settings)
    fields["version"] = settings.version or "1"
    fields["mode"] = settings.mode or ("pairwise-baseline" if settings.baseline else None)
    unbound = {template.name: template for template in sorted(templates, key=lambda t: t.name)}
    judge_set = JudgeSet(**fields, path=path, templates=unbound, unbound=unbound, bases=bases)
    if fault := _fault(judge_set):
        raise DataError(fault, path / FILE if path.is_dir() else path)
    bound = {name: _bound(template, judge_set) for name, template in unbound.items()}
    shaping = [settings.name, settings.fence, settings.attempts, list(map(float, settings.scale))]
    shaping += [] if settings.step is None else [settings.step]
    hashes = contents or {name: content_hash(shape(t), shaping) for name, t in bound.items()}
    return replace(judge_set, templates=bound, contents=dict(hashes))


def _bound(template: JudgeTemplate, judge_set: JudgeSet) -> JudgeTemplate:
    """Return a template with its set's labels and scale, in the prompt and in the schema."""
    scale, schema = judge_set.grades, template.form.schema
    if schema is not None and "scale" in schema.get("properties", {}).values():
        properties = {
            name: scale.schema() if member == "scale" else member
            for name, member in schema["properties"].items()
        }
        schema = {**schema, "properties": properties}
    labels = judge_set.labels if template.form.kind == "label" else {}
    words = scale.words(judge_set.language)
    return replace(
        template,
        form=replace(template.form, scale=scale, schema=schema, labels=labels),
        user=template.user.bound(words),
        system=template.system and template.system.bound(words),
        turn=template.turn and template.turn.bound(words),
    )


def shape(template: JudgeTemplate) -> list[Any]:
    """Return what shapes a template's prompts and verdicts apart from its set, for its hash."""
    parts = (template.user, template.system, template.turn)
    form = template.form
    plain = [form.format, *(part and [list(piece) for piece in part.pieces] for part in parts)]
    more: dict[str, Any] = {
        "kind": "" if form.kind in ("grade", "compare") else form.kind,
        "labels": dict(form.labels),
        "dimensions": form.dimensions,
        "total": form.total,
        "score_method": ["logprobs", template.top_logprobs] if form.by_logprobs else "",
        "sides": "" if form.sides == ("A", "B") else form.sides,
        "patterns": form.patterns,
    }
    # Rows hold these hashes: what is not stated is left out, so that they stay as they are.
    stated = {key: value for key, value in more.items() if value}
    return [*plain, stated] if stated else plain


def template_from_file(path: pathlib.Path) -> JudgeTemplate:
    """Return the template in a TOML file; its scale and perhaps its labels are the set's.

    Raises:
        DataError: something in it is wrong.
    """
    file = store.read_toml(path, TemplateFile)
    parts: dict[str, Any] = {"system": None, "turn": None}
    texts = {"user": file.user.strip("\n"), "system": file.system.strip("\n"), "turn": file.turn}
    for key, text in texts.items():
        if text.strip():
            parts[key] = _parsed(text, _TURN_NAMES if key == "turn" else PLACEHOLDERS, path, key)
    form = Form(
        format=file.verdict or formats_of(file.kind)[0],
        kind=file.kind,
        dimensions=file.dimensions,
        total=file.total.strip() or None,
        by_logprobs=file.score_method == "logprobs",
        sides=file.sides,
        schema=file.schema,
    )
    shared = {name: getattr(file, name) for name in ("turns", "questions", "top_logprobs")}
    return JudgeTemplate(name=path.stem, form=form, **parts, **shared)


def _parsed(text: str, placeholders: frozenset[str], path: pathlib.Path, key: str) -> Template:
    try:
        return Template.parse(text, placeholders)
    except UnknownPlaceholderError as error:
        advice = near(str(error), placeholders & (_NAMES | _TURN_NAMES))
        fault = f"{key}: unknown placeholder {{{error}}}{advice} (write {{{{ and }}}} for braces)"
        raise DataError(fault, path) from None


def _template_fault(template: JudgeTemplate) -> str | None:
    """Return what in a verdict does not go with the rest, or in a prompt cannot be filled."""
    form = template.form
    such = formats_of(form.kind)
    if form.format not in such and not form.patterns:
        return f"verdict: {form.format!r} cannot {form.kind}; these can: {', '.join(such)}"
    if form.kind == "dimensions" and not form.dimensions:
        return "dimensions: the list of their names is missing"
    if form.total is not None and form.total not in form.dimensions:
        return f"total: {form.total!r} is no dimension{near(form.total, form.dimensions)}"
    if form.by_logprobs and not FORMATS[form.format].logprobs:
        weighed = [name for name, row in FORMATS.items() if row.logprobs]
        return f"score_method: only {' and '.join(weighed)} can be weighed by logprobs"
    if ("conversation" in template.names) != (template.turn is not None):
        return "{conversation} and the sub-template 'turn' go together; one is missing"
    if template.names == {"context"} and not template.compares:
        return None  # a judge's whole input as it was assembled elsewhere, the answer in it
    needed = {"answer_a", "answer_b"} if template.compares else {"answer"}
    if template.fields & {"answer", "answer_a", "answer_b"} != needed:
        names = " and ".join(f"{{{name}}}" for name in sorted(needed))
        return f"a prompt to {template.form.kind} must show {names} and no other answer"
    first = 2 if template.turns in ("second", "later") else 1
    for name in sorted(template.names):
        number = name.rpartition("_")[2]
        if number.isdigit() and int(number) > first:
            return f"{{{name}}} is not there at turn {first}, for which the template is too"
    return None


def _fault(judge_set: JudgeSet) -> str | None:
    """Return what in a set does not fit together."""
    if not judge_set.templates:
        return "the set has no templates: put one TOML file for each beside it"
    scale = judge_set.grades
    if not scale.least < scale.greatest or scale.least <= -1 <= scale.greatest:
        return "scale must be [least, greatest], without -1, which means no verdict in files"
    if not scale.allows(scale.greatest):
        return f"step must divide the scale {scale.least:g}-{scale.greatest:g}"
    if judge_set.categories and DEFAULT not in judge_set.categories:
        advice = "it says which criteria every other category has; an empty list leaves those out"
        return f"categories.{DEFAULT} is missing: {advice}"
    for category, names in judge_set.categories.items():
        for name in names:
            if name not in judge_set.criteria:
                advice = near(name, judge_set.criteria)
                return f"categories.{category}: no criterion {name!r}{advice}"
    listed = {name for names in judge_set.categories.values() for name in names}
    for name, criterion in judge_set.criteria.items():
        if judge_set.categories and criterion.default and name not in listed:
            return f"criteria.{name} is for no category: name it in 'categories'"
    if clash := clash_of(judge_set.criteria) or clash_of(judge_set.labels):
        return f"criteria and labels: {clash}"
    for template in judge_set.templates.values():
        if clash := clash_of(template.form.dimensions):
            return f"{template.name}: dimensions: {clash}"
        if fault := _template_fault(template):
            return f"{template.name}: {fault}"
        if template.form.kind == "label" and len(judge_set.labels) < 2:
            return f"{template.name} asks for a label: the table 'labels' needs two or more"
    return None

"""Show judge sets: which there are, what one says, and what it would send."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness.cli import command, flags, messages

if TYPE_CHECKING:
    from harness.judging.prompts import JudgePrompt
    from harness.judging.sets import JudgeSet

NAME = "show_judge_set"
PURPOSE = "Show the judge sets, what one of them says, or the exact messages that it would send about a question."
EXAMPLES = (
    "show_judge_set",
    "show_judge_set mt_bench",
    "show_judge_set mt_bench --question 1031 --turns 2",
    "show_judge_set path/to/my_set --question 1031 --model-list my-model other-model --json",
)


def parser() -> command.Parser:
    """Return the command's parser."""
    p = command.Parser(NAME, PURPOSE, EXAMPLES, usual="--question")
    p.add_argument(
        "judge_set", nargs="?", metavar="SET", help="a judge set as gen_judgment takes it (default: list all)"
    )
    prompts = p.add_argument_group("prompts")
    prompts.add_argument(
        "--question", metavar="ID", help="print what would be sent about this question (default: none)"
    )
    flags.add_names(
        prompts, "--turns", help="the turns to show (default: every turn)", metavar="N", type=flags.positive
    )
    flags.add_names(
        prompts,
        "--model-list",
        "--model",
        help="the model whose answer is shown, or the two that are compared (default: stand-ins)",
    )
    prompts.add_argument(
        "--mode",
        choices=flags.MODES,
        help="show one answer or two (default: as many as there are models, else all that the set can do)",
    )
    flags.add_names(prompts, "--criterion", help="the judge set's criteria to show (default: its usual ones)")
    prompts.add_argument(
        "--reference",
        metavar="NAME",
        help="whose answers are the references: a file of reference_answer/ or any answered model "
        "(default: the only file there)",
    )
    flags.add_bench(p)
    p.add_argument_group("output").add_argument("--json", action="store_true", help="print JSON (default: off)")
    return p


def work(args: argparse.Namespace) -> int:
    """List the sets, describe one, or print its messages."""
    from harness.errors import UsageError
    from harness.judging.sets import load_judge_set, shipped_judge_sets

    folder = _bench_folder(args)
    if args.judge_set is None:
        if args.question is not None:
            raise UsageError("--question needs a judge set; name one, such as mt_bench")
        sets = [described(load_judge_set(name)) for name in shipped_judge_sets()]
        messages.results(_json(sets) if args.json else "\n".join(_line(one) for one in sets))
    elif args.question is None:
        told = described(load_judge_set(args.judge_set, folder))
        messages.results(_json(told) if args.json else "\n".join(_description(told)))
    else:
        prompts = _prompts(args)
        messages.results(
            _json([prompt.to_json() for prompt in prompts]) if args.json else "\n\n".join(map(_shown, prompts))
        )
    return 0


def _bench_folder(args: argparse.Namespace) -> Any:
    import pathlib

    from harness.names import check_bench_name

    return pathlib.Path(args.data_dir) / check_bench_name(args.bench_name)


def _prompts(args: argparse.Namespace) -> "list[JudgePrompt]":
    from harness.bench import load_bench
    from harness.judging.prompts import judge_prompts

    return judge_prompts(
        args.judge_set,
        load_bench(args.bench_name, args.data_dir),
        args.question,
        turns=args.turns,
        models=args.model_list or (),
        mode=args.mode,
        criteria=args.criterion or (),
        reference=args.reference,
    )


def described(judge_set: "JudgeSet") -> dict[str, Any]:
    """Return what a judge set says, in the words of its files."""
    from harness.judging.sets.judge_set import turns_told

    return {
        "name": judge_set.name,
        "version": judge_set.version,
        "title": judge_set.title,
        "language": judge_set.language,
        "path": str(judge_set.path),
        "extends": list(judge_set.extends),
        "kinds": sorted({template.kind for template in judge_set.templates.values()}),
        "scale": list(judge_set.scale),
        "fence": judge_set.fence,
        "attempts": judge_set.attempts,
        "order": judge_set.order,
        "order_seed": judge_set.order_seed if judge_set.order == "random" else None,
        "turns": turns_told(judge_set.turns),
        "questions": {name: list(values) for name, values in judge_set.questions.items()},
        "references": {
            name: sorted(getattr(judge_set, name))
            for name in ("required", "if_any", "never")
            if getattr(judge_set, name)
        },
        "sampling": judge_set.sampling.stated(),
        "criteria": {name: criterion.wording.definition for name, criterion in judge_set.criteria.items()},
        "categories": _categories(judge_set),
        "templates": [
            {
                "name": template.name,
                "kind": template.kind,
                "verdict": template.verdict,
                "turns": turns_told(template.turns),
                "criterion": template.criterion,
                "shows": sorted(template.fields & {"reference", "ref_answer", "rubric", "context", "steps"}),
                "labels": dict(template.form.labels) if template.kind == "label" else {},
                "dimensions": list(template.form.dimensions),
                "score_method": template.form.score_method,
                "content": judge_set.contents[template.name],
            }
            for template in judge_set.templates.values()
        ],
    }


def _categories(judge_set: "JudgeSet") -> dict[str, list[str]]:
    """Return the criteria of each category that is named, by the set or by a criterion."""
    from harness.judging.sets.judge_set import ANY, DEFAULT

    found = {name: list(criteria) for name, criteria in judge_set.categories.items()}
    for name, criterion in judge_set.criteria.items():
        for category in sorted(criterion.categories):
            everywhere = [n for n, own in judge_set.criteria.items() if not own.categories and not judge_set.categories]
            others = [] if category == ANY else found.get(DEFAULT, everywhere)
            listed = found.setdefault(category, list(others))
            listed += [] if name in listed else [name]
    return found


def _line(told: dict[str, Any]) -> str:
    return f"{told['name']:<22} {', '.join(told['kinds']):<16} {told['title']}".rstrip()


def _description(told: dict[str, Any]) -> list[str]:
    """Return the lines that describe a set, leaving out what it does not say."""
    lines = [f"{told['name']} {told['version']}: {told['title']}".rstrip(": ")]
    for name, value in told.items():
        if name in {"name", "version", "title", "criteria", "templates"} or value in ("", None, [], {}):
            continue
        if isinstance(value, dict):
            value = "; ".join(f"{key}: {_words(inner)}" for key, inner in value.items())
        lines.append(f"  {name:<11} {_words(value)}")
    if told["criteria"]:
        lines.append("criteria")
        lines += [f"  {name:<24} {' '.join(text.split())}".rstrip() for name, text in told["criteria"].items()]
    lines.append("templates")
    for template in told["templates"]:
        parts = [template["kind"], template["verdict"], f"turns: {template['turns']}"]
        parts += [f"for {template['criterion']}"] if template["criterion"] else []
        parts += [f"shows {', '.join(template['shows'])}"] if template["shows"] else []
        lines.append(f"  {template['name']:<24} {'; '.join(parts)}")
    return lines


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _shown(prompt: "JudgePrompt") -> str:
    """Return one prompt as a reader wants it: what is asked about what, then the messages as they are sent."""
    match, form = prompt.match, prompt.form
    parts = [f"question {match.question.question_id}", f"turn {match.turn}", " and ".join(match.models)]
    parts += [f"game {match.game}"] if len(match.models) == 2 else []
    parts += [f"criterion {match.criterion}"] if match.criterion else []
    asked = [f"template {prompt.template.name}", f"{form.kind} as {form.format}"]
    asked += [f"from {form.scale[0]:g} to {form.scale[1]:g}"] if form.kind in ("grade", "dimensions") else []
    asked += [f"one of {', '.join(form.labels)}"] if form.labels else []
    asked += ["weighed by log-probabilities"] if form.score_method == "logprobs" else []
    lines = [f"===== {', '.join(parts)}", f"===== {', '.join(asked)}"]
    for message in prompt.request.messages:
        lines += [f"----- {message.role}", message.content]
    return "\n".join(lines)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return command.run_command(parser(), work, argv)


if __name__ == "__main__":
    sys.exit(main())

"""What `show_judge_set` shows: which judge sets there are, what one says, and what it would send."""

from collections.abc import Sequence
from typing import Any

from harness.old.judging.prompts import JudgePrompt
from harness.old.judging.sets.judge_set import ANY, DEFAULT, JudgeSet
from harness.old.showing.items import Page, Table


def sets_page(sets: Sequence[JudgeSet]) -> Page:
    """Return the page that lists judge sets."""
    told = [described(judge_set) for judge_set in sets]
    rows = [{"judge set": one["name"], "does": ", ".join(one["kinds"]), "title": one["title"]} for one in told]
    return Page("Judge sets", {}, [Table("", rows)], data=told)


def set_page(judge_set: JudgeSet) -> tuple[Page, str]:
    """Return what a judge set says, as a page for programs and as text."""
    told = described(judge_set)
    return Page(judge_set.name, {}, [], data=told), "\n".join(set_lines(told))


def prompts_page(prompts: Sequence[JudgePrompt]) -> tuple[Page, str]:
    """Return prompts as they are sent, as a page for programs and as text."""
    return Page("Prompts", {}, [], data=[prompt.to_json() for prompt in prompts]), "\n\n".join(
        map(prompt_text, prompts)
    )


def described(judge_set: JudgeSet) -> dict[str, Any]:
    """Return what a judge set says, in the words of its files."""
    return {
        "name": judge_set.name,
        "version": judge_set.version,
        "title": judge_set.title,
        "language": judge_set.language,
        "path": str(judge_set.path),
        "extends": list(judge_set.bases),
        "kinds": sorted({template.kind for template in judge_set.templates.values()}),
        "scale": list(judge_set.scale),
        "fence": judge_set.fence,
        "attempts": judge_set.attempts,
        "order": judge_set.order,
        "order_seed": judge_set.order_seed if judge_set.order == "random" else None,
        "mode": judge_set.mode,
        "baseline": judge_set.baseline,
        "board": judge_set.board,
        "turns": judge_set.turns,
        "questions": {name: list(values) for name, values in judge_set.questions.items()},
        "references": {
            name: sorted(getattr(judge_set.references, name))
            for name in ("required", "if_any", "never")
            if getattr(judge_set.references, name)
        },
        "sampling": judge_set.sampling.stated(),
        "criteria": {name: criterion.definition for name, criterion in judge_set.criteria.items()},
        "categories": _categories(judge_set),
        "templates": [
            {
                "name": template.name,
                "kind": template.kind,
                "verdict": template.verdict,
                "turns": template.turns,
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


def _categories(judge_set: JudgeSet) -> dict[str, list[str]]:
    """Return the criteria of each category that is named, by the set or by a criterion."""
    found = {name: list(criteria) for name, criteria in judge_set.categories.items()}
    for name, criterion in judge_set.criteria.items():
        for category in sorted(criterion.categories):
            everywhere = [n for n, own in judge_set.criteria.items() if not own.categories and not judge_set.categories]
            others = [] if category == ANY else found.get(DEFAULT, everywhere)
            listed = found.setdefault(category, list(others))
            listed += [] if name in listed else [name]
    return found


def set_lines(told: dict[str, Any]) -> list[str]:
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


def prompt_text(prompt: JudgePrompt) -> str:
    """Return one prompt as a reader wants it: what is asked about what, then the messages as they are sent."""
    match, form = prompt.match, prompt.form
    parts = [f"question {match.question.question_id}", f"turn {match.turn}", " and ".join(match.models)]
    parts += [f"game {match.game}"] if len(match.models) == 2 else []
    parts += [f"criterion {match.criterion}"] if match.criterion else []
    asked = [f"template {prompt.template.name}", f"{form.kind} as {form.format}"]
    asked += [f"from {form.scale[0]:g} to {form.scale[1]:g}"] if form.kind in ("grade", "dimensions") else []
    asked += [f"one of {', '.join(form.labels)}"] if form.labels else []
    asked += ["weighted by log-probabilities"] if form.score_method == "logprobs" else []
    lines = [f"===== {', '.join(parts)}", f"===== {', '.join(asked)}"]
    for message in prompt.request.messages:
        lines += [f"----- {message.role}", message.content]
    return "\n".join(lines)

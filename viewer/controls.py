"""Gradio's controls above a view: what can be chosen, and what is.

A tab says what of its view can be chosen (`Fields`). A choice is a part of the address: the browser
puts it there (`turnbench.choose` of page.js), and the server answers with the new view and what
can be chosen of that.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from viewer import text
from viewer.state import View

LABELS = {
    "bench": "Benchmark",
    "question": "Question",
    "find": "Search",
    "where": "In",
    "verdicts": "Verdicts",
    "judge": "Judge",
    "other": "Compare with",
    "turn": "Turn",
    "category": "Category",
    "only": "Only",
    "sort": "Sorted by",
    "model": "Model",
    "against": "against",
    "plan": "Ask me for",
    "criterion": "Criterion",
    "least": "Grade from",
    "most": "Grade to",
    "models": "Models",
}
"""Of each control; `model`, `against` and `models` are the view's models."""
MORE = ("criterion", "least", "most", "models")
"""The controls that are folded at first."""
TYPED = {"find": "a word, an expression", "least": "a number", "most": "a number"}
"""The controls that are typed into, and what."""
FILES = ("csv", "jsonl")
"""What a view can be downloaded as."""
QUIET: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}


@dataclass(frozen=True)
class Fields:
    """What can be chosen of a view."""

    view: View
    """What is chosen."""
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By the view's field, what can stand in the address, in words; nothing: what is typed."""
    models: Sequence[str] = ()
    """The models that can be compared."""
    files: Sequence[str] = ()

    def updates(self) -> dict[str, dict[str, Any]]:
        """Return what each control shows now; those that are left out are hidden."""
        shown: dict[str, dict[str, Any]] = {}
        for name, options in self.options.items():
            now = getattr(self.view, name)
            if name in TYPED:
                shown[name] = {"value": now}
            elif len(options) > 1:
                first = next(iter(options))
                gone = {now: now} if now and now not in options else {}
                shown[name] = _of({**options, **gone}, now or first)
        if len(self.models) > 1:
            for at, (name, word) in enumerate((("model", "all"), ("against", "all others"))):
                now = "".join(self.view.model[at : at + 1])
                every = named(self.models, word)
                shown[name] = _of(every, now if now in every else "")
        if len(self.models) > 2:
            every = {model: model for model in self.models}
            shown["models"] = _of(every, [name for name in self.view.model if name in every])
        return shown | {name: {} for name in self.files}


def _of(options: Mapping[str, str], now: Any) -> dict[str, Any]:
    return {"choices": [(text.readable(w), value) for value, w in options.items()], "value": now}


def named(values: Iterable[str], empty: str = "all") -> dict[str, str]:
    """Return values with themselves as words, after the empty one."""
    return {"": empty} | {value: value for value in values}


class Controls:
    """The controls of a page; they are made inside of `gr.Blocks`."""

    def __init__(self) -> None:
        """Put them there, in the order in which they are read."""
        import gradio as gr

        self._skip, self._update = gr.skip, gr.update
        self.parts: dict[str, Any] = {}
        with gr.Row(elem_id="tb-choices"):
            for name in LABELS:
                if name not in MORE:
                    self._add(name)
        with gr.Row(elem_id="tb-rest"):
            self._more = gr.Accordion("More", open=False, visible=False, elem_id="tb-more")
            with self._more, gr.Row():
                for name in MORE:
                    self._add(name)
            for name in FILES:
                label, about = f"Download as {name}", {"visible": False, "elem_id": f"tb-{name}"}
                self.parts[name] = gr.DownloadButton(label, size="md", scale=0, **about)

    def _add(self, name: str) -> None:
        """Add a control, whose choice leads to another view."""
        import gradio as gr

        about: dict[str, Any] = {"label": LABELS[name], "visible": False, "elem_id": f"tb-{name}"}
        if name in TYPED:
            part: Any = gr.Textbox(placeholder=TYPED[name], **about)
        elif name == "models":
            part = gr.CheckboxGroup([], **about)
        else:
            part = gr.Dropdown([], min_width=130, **about)
        self.parts[name] = part
        field_name = name if name not in ("against", "models") else "model"
        lead = f"(...values) => {{ turnbench.choose({field_name!r}, values.flat()); }}"
        inputs = [self.parts["model"], part] if name == "against" else [part]
        if name in TYPED:
            part.submit(None, inputs, js=lead, **QUIET)
            part.blur(None, inputs, js=lead, **QUIET)
        elif name == "against":
            for either in inputs:
                either.input(None, inputs, js=lead, **QUIET)
        elif name != "model":
            part.input(None, inputs, js=lead, **QUIET)

    @property
    def outputs(self) -> list[Any]:
        """The components that another view changes."""
        return [*self.parts.values(), self._more]

    def updates(self, fields: Fields | None) -> list[Any]:
        """Return what changes of each; None: it is not known yet, and they stay as they are."""
        if fields is None:
            return [self._skip()] * (len(self.parts) + 1)
        shown = fields.updates()
        changed = [
            self._update(visible=name in shown, **shown.get(name, {})) for name in self.parts
        ]
        more = [LABELS[name].lower() for name in MORE if name in shown]
        count = f" ({len(fields.view.model)} of {len(fields.models)})" if fields.view.model else ""
        words = f"More: {', '.join(more)}{count if 'models' in shown else ''}"
        return [*changed, self._update(visible=bool(more), label=words)]

#!/usr/bin/env bash
# alpaca_eval 0.6.6: a judge whose model or prompt was changed gives the old judge's verdicts.
#
# Verdicts are kept beside the judge's configs.yaml, by default, under the name that the file gives the
# judge: with another model, template or temperature under that name nobody is asked again. Replies
# that could not be read are kept as well, and missing from the win rate for good: a template mended
# for them changes nothing. (With pandas 3 kept verdicts can raise an error.)
# Seen: "small: 1 2 1 2", "large: 1 2 1 2", "large, not kept: 2 1 2 1", "unreadable: none none none
# none", "mended: none none none none". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check alpaca_eval==0.6.6 pandas==2.3.3
cd "$folder"
"$folder/venv/bin/python" -W ignore - 2>/dev/null <<'PY'
import pathlib

import yaml
from alpaca_eval.annotators import PairwiseAnnotator

config = pathlib.Path("judge/configs.yaml").resolve()
config.parent.mkdir()
template = config.with_name("prompt.txt")
template.write_text("{instruction}\n1: {output_1}\n2: {output_2}\nWhich is better?")
pairs = [{"instruction": f"q{i}", "output_1": "a", "output_2": "b"} for i in range(4)]


def annotate(model, reply, **options):
    """The verdicts of a judge of the package's own kind for tests, which always replies the same."""
    judge = {
        "prompt_template": str(template),
        "fn_completions": "test_completions",
        "completions_kwargs": {"model_name": model, "value": reply},
        "fn_completion_parser": "eval_parser",
    }
    config.write_text(yaml.safe_dump({"judge": judge}))
    annotator = PairwiseAnnotator(annotators_config=str(config), **options)
    found = (row["preference"] for row in annotator.annotate_pairs(pairs))
    return " ".join("none" if verdict is None else f"{verdict:g}" for verdict in found)


for name, model, reply, options, expected in (
    ("small", "small", "1", {}, "1 2 1 2"),
    ("large", "large", "2", {}, "1 2 1 2"),
    ("large, not kept", "large", "2", {"caching_path": None}, "2 1 2 1"),
    ("unreadable", "small", "The first.", {"seed": 1}, "none none none none"),
    ("mended", "small", "1", {"seed": 1}, "none none none none"),
):
    verdicts = annotate(model, reply, **options)
    print(f"{name}: {verdicts}")
    assert verdicts == expected, "this has changed"
PY

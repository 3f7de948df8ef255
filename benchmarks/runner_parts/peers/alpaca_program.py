"""alpaca_eval on as many calls, run by its own Python: `alpaca_program.py CALLS PARALLEL`.

It only compares: each call shows a question and two outputs, about as long as the prompts of the others together.
"""

import os
import pathlib
import sys
import tempfile

CONFIG = """
load:
  prompt_template: {folder}/prompt.txt
  fn_completions: openai_completions
  completions_kwargs:
    model_name: gpt-4
    max_tokens: 1024
    temperature: 0
    num_procs: {parallel}
  fn_completion_parser: regex_parser
  completion_parser_kwargs:
    outputs_to_match:
      1: '\\[\\[A\\]\\]'
      2: '\\[\\[B\\]\\]'
  batch_size: 1
  is_randomize_output_order: false
"""
PROMPT = """<|im_start|>system
You compare two outputs.
<|im_end|>
<|im_start|>user
{ask}

{{instruction}}

Output A:
{{output_1}}

Output B:
{{output_2}}

End with [[A]] or [[B]].
<|im_end|>
"""


def main() -> None:
    """Annotate; exit with 1 unless every pair has a preference."""
    calls, parallel = int(sys.argv[1]), int(sys.argv[2])
    os.environ["OPENAI_MAX_CONCURRENCY"] = str(parallel)
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
    from alpaca_eval.annotators import PairwiseAnnotator  # type: ignore[import-not-found]

    from benchmarks.runner_parts.server import words

    numbers = range(calls)
    first = [
        {"instruction": words(60, ("q", n)), "output": words(200, ("a", n)), "generator": "one"}
        for n in numbers
    ]
    second = [
        {**row, "output": words(200, ("b", n)), "generator": "two"}
        for n, row in zip(numbers, first, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "configs.yaml"
        config.write_text(CONFIG.format(folder=folder, parallel=parallel), encoding="utf-8")
        (pathlib.Path(folder) / "prompt.txt").write_text(
            PROMPT.format(ask=words(120, "ask")), encoding="utf-8"
        )
        annotator = PairwiseAnnotator(annotators_config=str(config), caching_path=None)
        done = annotator.annotate_head2head(outputs_1=first, outputs_2=second)
    whole = sum(row.get("preference") in (1, 2) for row in done)
    if whole != calls:
        sys.exit(f"{whole} of {calls} pairs have a preference")


if __name__ == "__main__":
    main()

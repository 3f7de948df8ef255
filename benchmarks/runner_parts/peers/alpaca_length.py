"""alpaca_eval's length control, and its cached re-run, by its own Python: `alpaca_length.py FOLDER ROUNDS MODELS`.

FOLDER holds rows.json (annotations of one model each) and df_gamed.csv, which it would fetch. Prints seconds as JSON.
"""

import json
import logging
import pathlib
import sys
import tempfile
import time
from typing import Any

CONFIG = """
load:
  prompt_template: {folder}/prompt.txt
  fn_completions: openai_completions
  completions_kwargs: {{model_name: none}}
  fn_completion_parser: regex_parser
  completion_parser_kwargs: {{outputs_to_match: {{1: 'first', 2: 'second'}}}}
  batch_size: 1
"""
PROMPT = "<|im_start|>user\n{instruction}\n{output_1}\n{output_2}\n<|im_end|>\n"


def length_control(folder: pathlib.Path, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each round for each model, and the rates."""
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]
    from alpaca_eval.metrics import glm_winrate  # type: ignore[import-not-found]

    glm_winrate.hf_hub_download = lambda **more: str(folder / "df_gamed.csv")
    found: dict[str, list[float]] = {"seconds": [], "rates": []}
    for model, rows in json.loads((folder / "rows.json").read_text()).items():
        frame = pd.DataFrame(rows)
        best = []
        for _ in range(rounds):
            begin = time.process_time()
            rate = glm_winrate.get_length_controlled_winrate(frame.copy(), save_weights_dir=None)
            best.append(time.process_time() - begin)
        found["seconds"].append(sorted(best)[len(best) // 2])
        found["rates"].append(float(rate["length_controlled_winrate"]))
        del model
    return found


def cached(models: int, rows: int) -> tuple[float, float]:
    """Return the seconds of a second run over so many models, and how often the cache was written in it."""
    from alpaca_eval.annotators import PairwiseAnnotator  # type: ignore[import-not-found]

    def answered(prompts: list[Any], **more: Any) -> dict[str, list[Any]]:
        return {"completions": ["first"] * len(prompts)}

    base = [
        {"instruction": f"Question {n}?", "output": f"base {n} " * 100, "generator": "base"}
        for n in range(rows)
    ]
    every = [
        [{**row, "output": f"{at} {row['output']}", "generator": f"model {at}"} for row in base]
        for at in range(models)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "configs.yaml").write_text(CONFIG.format(folder=folder), encoding="utf-8")
        (path / "prompt.txt").write_text(PROMPT, encoding="utf-8")
        seconds = 0.0
        for run in range(2):
            begin = time.process_time()
            before = (path / "cache.json").stat().st_mtime_ns if run else 0
            for outputs in every:
                annotator = PairwiseAnnotator(
                    annotators_config=str(path / "configs.yaml"),
                    caching_path=str(path / "cache.json"),
                )
                for own in annotator.annotators.values():
                    own.fn_completions = answered
                annotator.annotate_head2head(outputs_1=base, outputs_2=outputs)
            seconds = time.process_time() - begin
        return seconds, float((path / "cache.json").stat().st_mtime_ns != before)


def main() -> None:
    """Measure and print."""
    logging.disable(logging.CRITICAL)
    folder, rounds, models = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    control = length_control(folder, rounds)
    seconds, rewritten = cached(models, 805)
    print(json.dumps({"control": control, "cached": seconds, "rewritten": bool(rewritten)}))


if __name__ == "__main__":
    main()

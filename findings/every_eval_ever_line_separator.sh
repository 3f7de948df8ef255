#!/usr/bin/env bash
# every-eval-ever 0.3.0: two valid files are refused where an answer holds U+2028.
#
# A line separator may stand raw in a JSON string, and many chat models' answers have one. Lines of
# the samples are read one by one and pass; checked against the numbers they are split by
# str.splitlines, which ends a line there too, so that "line 1 is invalid JSON". The same text
# escaped as \u2028 passes. Needs Python 3.12 as python3.12.
# Seen: "raw: refused", "escaped: passes". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.12 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check every-eval-ever==0.3.0
cd "$folder"
"$folder/venv/bin/python" - <<'PY'
import json
import pathlib
import subprocess

NAME = "0f494bfe-ea18-42dd-a923-e59414bbc530"
home = pathlib.Path("data/bench/org/model")
home.mkdir(parents=True)
base = {"schema_version": "0.3.0", "evaluation_id": "bench/org/model/1"}
details = {"deployment_type": "unknown", "model_availability": "unknown"}
numbers = base | {
    "retrieved_timestamp": "1",
    "source_metadata": {"source_type": "evaluation_run", "source_organization_name": "o",
                        "evaluator_relationship": "other"},
    "model_info": {"name": "m", "id": "org/model", "additional_details": details},
    "eval_library": {"name": "l", "version": "1"},
    "evaluation_results": [{
        "evaluation_name": "e", "source_data": {"dataset_name": "d", "source_type": "other"},
        "metric_config": {"lower_is_better": False, "score_type": "continuous",
                          "min_score": 0, "max_score": 1},
        "score_details": {"score": 1.0}}],
    "detailed_evaluation_results": {"format": "jsonl", "total_rows": 1,
                                    "file_path": f"{home}/{NAME}_samples.jsonl"},
}
sample = base | {
    "model_id": "org/model", "evaluation_name": "e", "sample_id": "1",
    "interaction_type": "single_turn", "input": {"raw": "q", "reference": []},
    "output": {"raw": ["one\u2028two"]}, "evaluation": {"score": 1.0, "is_correct": True},
    "answer_attribution": [{"turn_idx": 0, "source": "output.raw", "extracted_value": "x",
                            "extraction_method": "llm_judge", "is_terminal": True}],
}
(home / f"{NAME}.json").write_text(json.dumps(numbers), encoding="utf-8")
seen = {}
for name, ascii_only in (("raw", False), ("escaped", True)):
    text = json.dumps(sample, ensure_ascii=ascii_only) + "\n"
    (home / f"{NAME}_samples.jsonl").write_text(text, encoding="utf-8")
    files = [str(path) for path in sorted(home.iterdir())]
    run = subprocess.run(["venv/bin/every_eval_ever", "validate", "--format", "json", *files],
                         capture_output=True, text=True, check=False)
    seen[name] = "passes" if all(r["valid"] for r in json.loads(run.stdout)) else "refused"
    print(f"{name}: {seen[name]}")
assert seen == {"raw": "refused", "escaped": "passes"}, "this has changed"
PY

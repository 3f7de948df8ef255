"""The command `turnbench init`: a commented turnbench.toml to begin with."""

import pathlib
from collections.abc import Sequence

from harness import options, store
from harness.cli.command import log, run
from harness.cli.parser import Parsed
from harness.errors import UsageError

TEXT = """\
# What every turnbench command in this folder would otherwise be told by flags.
# A flag that is typed comes first. Remove a leading "# " to use a line.

# bench_name = "mt_bench"        # a folder in the data folder, or a shipped benchmark
# data_dir = "data"              # where answers and judgments are
# judge_model = "gpt-4.1"        # or a list, for a panel
# judge_set = "mt_bench"         # show_judge_set lists the shipped ones
# model_list = ["my-model", "other-model"]
# baseline_model = "other-model"

# A model of your own, by the name that files and tables will show. Keys are never written here:
# api_key_env names the environment variable that holds one.
# [models.my-model]
# base_url = "http://localhost:8000/v1"
# model = "org/my-model-7b"      # what the server calls it, if not my-model
# api_key_env = "MY_SERVER_KEY"
# limits = { parallel = 32 }
# sampling = { temperature = 0.7, max_tokens = 4096 }
# price = { prompt = 0.0, completion = 0.0 }   # dollars for a million tokens
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Write turnbench.toml into the working folder; return the exit code."""
    return run("init", options.Init, _work, argv)


def _work(_: Parsed) -> int:
    path = pathlib.Path("turnbench.toml")
    if path.exists():
        raise UsageError(f"{path} is there already; edit it, or move it away")
    store.write_file(path, TEXT)
    log.info("wrote %s; next: gen_answer --model NAME", path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Show judge sets: a list, the contents of one, and the messages that it would send."""

import argparse
from typing import TYPE_CHECKING

from harness.old.cli import command, flags, messages, output
from harness.old.errors import UsageError

if TYPE_CHECKING:
    from harness.old.judging.prompts import JudgePrompt

NAME = "show_judge_set"
PURPOSE = "List the judge sets, show what is in one, or print the exact messages that it would send about a question."
EXAMPLES = (
    "show_judge_set",
    "show_judge_set mt_bench",
    "show_judge_set mt_bench --question 1031 --turns 2",
    "show_judge_set path/to/my_set --question 1031 --model-list my-model other-model --json",
)


def parser() -> command.Parser:
    """Return the command's parser."""
    p = command.Parser(NAME, PURPOSE, EXAMPLES, usual="--question")
    which = p.group("judge set")
    flags.add_object(which, "--judge-set", "SET", about="a judge set as gen_judgment takes it (default: list all)")
    prompts = p.group("prompts")
    prompts.add("--question ID", "print what would be sent about this question")
    flags.add_turns(prompts, "the turns to show (default: every turn)")
    prompts.add(
        "--model-list, --model NAME ...",
        "the model whose answer is shown, or the two that are compared (default: placeholder answers)",
    )
    prompts.add(
        f"--mode {flags.MODES}",
        "show one answer or two (default: as many as there are models, else all modes of the set)",
    )
    prompts.add("--criterion NAME ...", "the judge set's criteria to show (default: its default ones)")
    flags.add_reference(prompts)
    flags.add_bench(p)
    form = p.group("output")
    form.add("--format table|json", "output format", default="table")
    form.add("--json", "the same as --format json", action="store_const", const="json", dest="format")
    return p


def work(args: argparse.Namespace) -> int:
    """List the sets, describe one, or print its messages."""
    from harness.old.jsonl.copies import local_folder
    from harness.old.judging.sets import load_judge_set, shipped_judge_sets
    from harness.old.names import check_bench_name
    from harness.old.showing.judge_set import prompts_page, set_page, sets_page

    folder = local_folder(args.data_dir, args.bench_name) / check_bench_name(args.bench_name)
    text = None
    if args.judge_set is None:
        if args.question is not None:
            raise UsageError("--question needs a judge set; name one, such as mt_bench")
        page = sets_page([load_judge_set(name) for name in shipped_judge_sets()])
    elif args.question is None:
        page, text = set_page(load_judge_set(args.judge_set, folder))
    else:
        page, text = prompts_page(_prompts(args))
    if args.format == "json" or text is None:
        output.show(args, page)
    else:  # exactly, without fitting it to the terminal
        messages.results(text)
    return 0


def _prompts(args: argparse.Namespace) -> "list[JudgePrompt]":
    from harness.old.bench import load_bench
    from harness.old.judging.prompts import judge_prompts

    bench = load_bench(args.bench_name, args.data_dir)
    own = {"bench": bench, "question_id": args.question, "models": args.model_list or ()}
    return judge_prompts(**flags.words(args, judge_prompts, criteria=args.criterion or (), **own))


main = command.main_of(parser, work)


if __name__ == "__main__":
    raise SystemExit(main())

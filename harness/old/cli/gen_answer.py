"""Let chat models answer the questions of a benchmark."""

import argparse
import contextlib
import pathlib
from typing import TYPE_CHECKING

from harness.old.cli import command, flags, messages, output, values
from harness.old.errors import UsageError

if TYPE_CHECKING:
    from harness.old.answering import AnswerOptions, AnswerPlan, AnswerReport

NAME = "gen_answer"
PURPOSE = "Let chat models answer every question of a benchmark that they have not answered yet."
EXAMPLES = (
    "gen_answer --model builtin/reference builtin/eliza",
    "gen_answer --model-path ./my-weights --model-id my-model",
    "gen_answer --bench-name user_chat --model gpt-4.1 --user gpt-4.1-mini --user-samples 3",
    "gen_answer --model my-model --base-url http://localhost:8000/v1",
)


def parser() -> command.Parser:
    """Return the command's parser."""
    p = command.Parser(NAME, PURPOSE, EXAMPLES, usual="--model")
    models = p.group("models")
    models.add(
        "--model NAME ...",
        "models to ask: gpt-..., claude-..., builtin/..., or any name with --base-url (default: none; this or "
        "--model-path is required)",
    )
    flags.add_weights(models)
    models.add(
        "--serve SERVER",
        "serve these weights with vllm for this run (it must be installed); its own flags may follow, as in 'vllm "
        "--tensor-parallel-size 2' (default: load them into this process)",
    )
    models.add("--answer-file FILE", "write the answers of the one model to this file (default: in model_answer/)")
    flags.add_redo(models, "answer questions again that are answered")
    flags.add_slice(flags.add_bench(p))
    history = add_history(p)
    history.add(
        "--skip-missing", "leave out questions for which --history has no turns (default: such a question is an error)"
    )
    add_user(p)
    add_sampling(p)
    endpoint = flags.add_endpoint(p, "the models")
    flags.add_running(p)
    add_template(endpoint)
    return p


def add_history(p: command.Parser) -> command.Flags:
    """Add the flags that choose whose replies to earlier turns are used; return their group."""
    history = p.group("history")
    history.add(
        "--history NAME",
        "whose replies to the earlier turns the model continues from: own, reference (the only one there), a file of "
        "reference_answer/, or an answered model; unless own, answers are stored as those of MODEL+history=NAME",
        default="own",
    )
    return history


def add_user(p: command.Parser) -> None:
    """Add the flags that say who plays the user of questions that have one."""
    user = p.group("simulated user", "For questions that have a user instead of fixed turns.")
    user.add("--user NAME", "the chat model that plays the user, the same for all models; builtin/user needs no key")
    user.add(
        "--user-samples K",
        "conversations with the user for each question, each with its own seed; judge them with --choices all",
        default=1,
    )
    user.add("--user-seed N", "seed of the first conversation with the user", values.whole, default=0)
    user.add("--user-turns N", "the most turns of such a conversation (default: as the question states)")
    user.add(
        "--user-prompt FILE", "the user's prompt: a TOML file like harness/answering/user.toml (default: that file)"
    )
    user.add("--user-base-url URL", "address of an OpenAI-compatible server for the user (default: the provider's)")
    flags.add_key(user, "user-")


def add_sampling(p: command.Parser) -> None:
    """Add the flags that say how answers are sampled; `options` reads them."""
    sampling = p.group("sampling")
    sampling.add("--num-choices N", "conversations for each question", default=1)
    sampling.add(
        "--temperature, --force-temperature T",
        "one temperature for all questions (default: by category as in MT-Bench: 0.7 writing and roleplay, 0 "
        "extraction, math, coding and reasoning, 0.1 stem and humanities, else 0.7; bench.toml and models.toml may "
        "set others)",
    )
    sampling.add(
        "--max-tokens, --max-new-token N",
        "the most tokens of a reply, reasoning included (default: as models.toml says, else 4096)",
    )
    sampling.add("--top-p P", "nucleus sampling (default: the endpoint's)")
    sampling.add("--seed N", "sent to endpoints that take one", int)
    flags.add_retry_cut(sampling)
    flags.add_params(sampling, "the models")
    sampling.add("--system TEXT", "system prompt (default: the benchmark's, if it has one)")


def add_template(endpoint: command.Flags) -> None:
    """Add the flag for servers without a chat API."""
    endpoint.add(
        "--conv-template NAME",
        "for servers that only offer /v1/completions: the fschat conversation template to use (default: none, for chat "
        "servers)",
    )


def work(args: argparse.Namespace) -> int:
    """Plan, call, report."""
    from dataclasses import replace

    from harness.old.answering import plan_answers, run_answers
    from harness.old.bench import load_bench
    from harness.old.chat.endpoint import Weights
    from harness.old.chat.local.serving import check_server, free_port, served

    bench = load_bench(args.bench_name, args.data_dir)
    names = flags.model_names(args)
    if not names:
        raise UsageError("name the models to ask with --model, or the weights to load with --model-path")
    asked = replace(options(args), weights=Weights(args.dtype, args.device, args.batch_size))
    port = free_port()
    if args.serve is not None:
        if args.model_path is None or args.base_url is not None:
            raise UsageError("--serve is for the weights that --model-path names, without --base-url")
        check_server(args.serve)
        asked = replace(asked, model_path=None, base_url=f"http://127.0.0.1:{port}/v1")
    plan = plan_answers(
        names,
        bench,
        asked,
        questions=flags.questions(args, bench),
        answer_file=pathlib.Path(args.answer_file) if args.answer_file else None,
        redo=args.redo,
        skip_missing=args.skip_missing,
    )
    messages.detail(args, f"questions: {bench.source / 'question.jsonl'}")
    tell_plan(args, plan)
    if not output.go_on(args, plan):
        return 0
    with contextlib.ExitStack() as meanwhile:
        if args.serve is not None and plan.calls:
            messages.say(args, f"waiting until {args.serve} serves {args.model_path}")
            meanwhile.enter_context(served(args.serve, args.model_path, names[0], args.dtype, port))
        watch = meanwhile.enter_context(messages.bar(plan.jobs, "conversation", quiet=args.quiet))
        report = run_answers(plan, flags.running(args), watch=watch)
    tell_report(args, plan, report)
    messages.report_failures(NAME, report.tally.failures)
    messages.result_paths(report.paths)
    return 0 if report.complete else 1


def tell_report(args: argparse.Namespace, plan: "AnswerPlan", report: "AnswerReport", name: str = NAME) -> None:
    """Print warnings about the answers of a run."""
    told = {kind: number for kind, number in report.tally.flagged.items() if kind != "length"}
    flagged = ", ".join(f"{count} {kind}" for kind, count in told.items())
    if report.cut:
        cut = "1 reply is" if report.cut == 1 else f"{report.cut} replies are"
        messages.warn(name, f"{cut} cut off at the token limit; raise --max-tokens for whole ones")
    if flagged:
        messages.warn(name, f"some replies are incomplete ({flagged}); they are kept, flagged, and judged as they are")
    messages.moved(args, report.superseded, "older answer", plan.bench.answer_state)


def options(args: argparse.Namespace) -> "AnswerOptions":
    """Return the options of answering that the flags state."""
    from harness.old.answering import AnswerOptions

    return AnswerOptions(**flags.words(args, AnswerOptions, params=dict(args.param), key_needed=not args.dry_run))


def tell_plan(args: argparse.Namespace, plan: "AnswerPlan") -> None:
    """Print what each model has answered and still has to answer."""
    for notice in plan.notices:
        messages.say(args, notice)
    if plan.user is not None:
        messages.say(args, f"the user is played by {plan.user.endpoint.name}: {plan.simulated} conversations to hold")
    for model in plan.models:
        todo = f"{messages.counted(len(model.todo), 'question')} to answer, {messages.counted(model.calls, 'call')}"
        kept = messages.kept_text(model.path, plan.bench.answer_state, redo=plan.redo)
        told = messages.work_text("answer", "answered", model, todo if model.todo else "", kept)
        messages.say(args, f"{model.endpoint.name}: {told}")
        messages.detail(args, f"  {messages.endpoint_text(model.endpoint)}; answers: {model.path}")


main = command.main_of(parser, work)


if __name__ == "__main__":
    raise SystemExit(main())

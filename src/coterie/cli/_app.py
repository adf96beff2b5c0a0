"""The commands together, and how every failure becomes one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Annotated, cast

import typer

from coterie.cli._examples import ANSWERS, OVERVIEW, epilog, in_lines
from coterie.cli._outputs import SummaryLostError, drop_unprintable, forget_stdout
from coterie.cli.choose_k import choose_k
from coterie.cli.convert import convert
from coterie.cli.dendrogram import dendrogram
from coterie.cli.eps import eps
from coterie.cli.fit import fit
from coterie.cli.index import index
from coterie.cli.info import info
from coterie.cli.predict import predict
from coterie.cli.quantize import quantize
from coterie.cli.score import score
from coterie.cli.study import study
from coterie.cli.tendency import tendency

#: What typer raises for unknown options, missing arguments and the like.
_UsageError = cast("type[Exception]", typer.BadParameter.__base__)

#: Exit codes: results that say there is no structure (--strict), bad input, a summary that was
#: lost, a defect of coterie, Ctrl-C, and a reader of stdout that went away.
BAD_INPUT, SUMMARY_LOST, DEFECT, INTERRUPTED, CLOSED = 2, 3, 70, 130, 141

# Plain help: a grid of the terminal's width cuts the names of long options.
app = typer.Typer(
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=in_lines(OVERVIEW),
)
_COMMANDS: dict[str, Callable[..., None]] = {
    "study": study, "fit": fit, "predict": predict, "choose-k": choose_k, "tendency": tendency,
    "eps": eps, "dendrogram": dendrogram, "quantize": quantize, "convert": convert, "info": info,
    "score": score,
}  # fmt: skip
for name, command in _COMMANDS.items():
    app.command(name, epilog=epilog(name), short_help=ANSWERS[name])(command)
app.add_typer(index, name="index", short_help=ANSWERS["index"])


@app.callback(invoke_without_command=True)
def _describe(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Find groups in tables: look, choose, cluster, label new rows, judge."""
    if show_version:
        print(f"coterie {version('coterie')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: Sequence[str] | None) -> int:
    """Run a command; every failure, and Ctrl-C, ends in one line on stderr and an exit code.

    A defect of coterie shows its traceback where ``COTERIE_TRACEBACK`` is set.
    """
    try:
        code = int(app(args=arguments, prog_name="coterie", standalone_mode=False) or 0)
        sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except SystemExit as left:  # after a script for completion, or as stdout was closed
        return CLOSED if isinstance(left.__context__, BrokenPipeError) else int(left.code or 0)
    except SummaryLostError as lost:
        forget_stdout()
        _say(str(lost))
        return SUMMARY_LOST
    except (_UsageError, ValueError, OSError, ImportError, MemoryError) as error:
        drop_unprintable()
        _say(_explain(error))
        return BAD_INPUT
    except Exception as error:
        if os.environ.get("COTERIE_TRACEBACK"):
            raise
        _say(
            f"this is a defect of coterie ({type(error).__name__}: {error}); report it, please, "
            "with what COTERIE_TRACEBACK=1 shows."
        )
        return DEFECT
    if code == INTERRUPTED:
        _say("interrupted")
    return code


def _explain(error: Exception) -> str:
    """What went wrong, without the error's class or number."""
    if isinstance(error, OSError) and error.strerror:
        path = error.filename2 or error.filename
        return error.strerror if path is None else f"{os.fsdecode(path)}: {error.strerror}"
    if isinstance(error, _UsageError) and hasattr(error, "format_message"):
        said = _with_what_was_given(error.format_message().rstrip("."), error.__cause__)
        return f"{said}{'' if said.endswith('?') else '.'} Try --help."
    return str(error) or "not enough memory; use fewer rows or columns"


def _with_what_was_given(said: str, cause: BaseException | None) -> str:
    """A sentence of typer about an option; newer versions check by pydantic, which drops it."""
    details = getattr(cause, "errors", None)
    if details is None:
        return said
    said = said.replace("Value error, ", "", 1).partition(", unable to parse")[0]
    given = details()[0]["input"]
    return said.replace("Input should be", f"{given!r} was given, and it should be", 1)


def _say(message: str) -> None:
    print("coterie:", " ".join(message.split()), file=sys.stderr)

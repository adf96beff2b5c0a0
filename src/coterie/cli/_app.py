"""The commands together, and how every failure becomes one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated, cast

import typer

from coterie.cli._outputs import SummaryLostError, forget_stdout
from coterie.cli.choose_k import choose_k
from coterie.cli.fit import fit
from coterie.cli.index import index
from coterie.cli.predict import predict
from coterie.cli.quantize import quantize
from coterie.cli.study import study
from coterie.cli.tendency import tendency

#: What typer raises for unknown options, missing arguments and the like.
_UsageError = cast("type[Exception]", typer.BadParameter.__base__)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(study)
app.command()(fit)
app.command()(predict)
app.command()(tendency)
app.command()(choose_k)
app.command()(quantize)
app.add_typer(index, name="index")


@app.callback(invoke_without_command=True)
def _describe(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Find groups in tables: fit a clustering, apply it to new rows."""
    if show_version:
        print(f"coterie {version('coterie')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: Sequence[str] | None) -> int:
    """Run a command; bad input and Ctrl-C end in one line on stderr, defects in a traceback."""
    try:
        code = int(app(args=arguments, prog_name="coterie", standalone_mode=False) or 0)
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except SummaryLostError as lost:
        forget_stdout()
        _say(str(lost))
        return 3
    except (_UsageError, ValueError, OSError, ImportError, MemoryError) as error:
        _say(_explain(error))
        return 2
    if code == 130:
        _say("interrupted")
    return code


def _explain(error: Exception) -> str:
    """What went wrong, without the error's class or number."""
    if isinstance(error, OSError) and error.strerror:
        path = error.filename2 or error.filename
        return error.strerror if path is None else f"{os.fsdecode(path)}: {error.strerror}"
    if isinstance(error, _UsageError) and hasattr(error, "format_message"):
        return f"{error.format_message().rstrip('.')}. Try --help."
    return str(error) or "not enough memory; use fewer rows or columns"


def _say(message: str) -> None:
    print("coterie:", " ".join(message.split()), file=sys.stderr)

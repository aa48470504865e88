"""How help and mistakes look: plain text that fits 80 columns, options in groups, examples to copy, the nearest name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from earnshaw.cli.console import logged, user_errors
from earnshaw.cli.stopping import limited
from earnshaw.errors import nearest

OPTIONS, COMMANDS, EXAMPLES = "Options", "Commands", "Examples"
UNBROKEN = "\N{NO-BREAK SPACE}"  # while lines are broken
Rows = dict[str, list[tuple[str, str]]]


def options(group: str | None = None) -> Callable[..., Any]:
    """Return what declares an option of a group: by its help, its names if they are not the parameter's, and more."""
    return lambda said, *names, **more: typer.Option(*names, help=said, rich_help_panel=group, **more)


option = options()


def argument(metavar: str, said: str, **more: Any) -> Any:
    """Declare an argument by its name in the usage and its help."""
    return typer.Argument(metavar=metavar, help=said, **more)


def begins(choices: Iterable[str]) -> Callable[[str], list[str]]:
    """Return the function that completes a half-typed name."""
    return lambda incomplete: [name for name in choices if name.startswith(incomplete)]


class Command(TyperCommand):
    """A command whose help is plain text and whose mistakes name what was probably meant."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        _write(self, ctx, formatter, _options(self, ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line, required arguments without braces."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of the command line."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = _taught(error.message)
            raise
        except Exception as error:  # an option that is none: Click proposes what resembles it, dashes included
            named = [name for name in getattr(error, "possibilities", None) or [] if name.startswith("-")]
            if named:
                word = getattr(error, "option_name", "").lstrip("-")
                error.possibilities = [name for name in named if nearest(word, [name.lstrip("-")])]  # type: ignore[attr-defined]
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command, with the log and the time limit that it may have; a mistake becomes a sentence."""
        with user_errors(), logged(ctx.params.get("log_file")), user_errors(), limited(ctx.params.get("time_limit")):
            return super().invoke(ctx)


class Group(TyperGroup):
    """A command with commands of its own, whose help is plain text."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help: the commands first, then the options."""
        commands: Rows = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                panel = getattr(command, "rich_help_panel", None)
                rows = commands.setdefault(panel if isinstance(panel, str) else COMMANDS, [])
                rows.append((name, command.get_short_help_str(limit=200)))
        _write(self, ctx, formatter, commands | _options(self, ctx))


def _options(command: Any, ctx: Any) -> Rows:
    """Return the arguments and options by the group they belong to, the ungrouped ones last."""
    groups: Rows = {}
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is not None:
            panel = getattr(param, "rich_help_panel", None)
            name = panel if isinstance(panel, str) else "Arguments" if param.param_type_name == "argument" else OPTIONS
            said = re.sub(r"\[default: \S+\]$", lambda found: found[0].replace(" ", UNBROKEN), record[1])
            shown = record[0].split()[0] if name == "Arguments" else _kind(record[0])
            groups.setdefault(name, []).append((shown, said))
    return {name: groups[name] for name in sorted(groups, key=lambda name: name == OPTIONS)}


def _kind(names: str) -> str:
    """Return the names of an option with its kind in the usual form: ``--runs INT``, ``--stop early|paper``."""
    short = {"int": "INT", "float": "FLOAT", "str": "TEXT", "path": "PATH", "list[Path]": "PATH"}
    return re.sub(r" <(.*?)(?: range)?>", lambda found: f" {short.get(found[1], found[1])}", names)


def _write(command: Any, ctx: Any, formatter: Any, groups: Rows) -> None:
    formatter.width = max(formatter.width, 50)
    command.format_usage(ctx, formatter)
    command.format_help_text(ctx, formatter)
    width = min(max((len(name) for rows in groups.values() for name, _ in rows), default=0), 24)
    for title, rows in groups.items():
        with formatter.section(title):
            padded = [(name.ljust(width), said) for name, said in rows]  # one column for all groups
            formatter.write_dl(padded, col_max=width)
    if command.epilog:
        with formatter.section(EXAMPLES):
            for line in command.epilog.splitlines():
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
    formatter.buffer = [text.replace(UNBROKEN, " ") for text in formatter.buffer]


def _taught(message: str) -> str:
    """Return the message about a value that is none of the choices, with the choice that was probably meant."""
    message = message.removeprefix("Value error, ")
    found = re.fullmatch(r"'(.*)' is not one of (.*)\.", message)
    if found is None:
        return message
    choices = re.findall(r"'([^']*)'", found[2])
    return f"'{found[1]}' is not one of {', '.join(choices)}.{meant(found[1], choices)}"


def meant(word: str, choices: Iterable[str]) -> str:
    """Return the question whether the nearest choice was meant, with a space before it, or nothing."""
    close = nearest(word, choices)
    return f" Did you mean {close}?" if close else ""

"""Mutants of the checker, made from its syntax trees: every comparison, term, constant, rounding, guard and early return.

:func:`mutants` yields every mutant of ``proof/trusted`` in a fixed order, :func:`loaded` imports one under a name of its
own, and :func:`noticed_by` puts the cases of ``battery.py`` to it; as a program, all of that for every mutant. What is not mutated: docstrings, type
annotations, and the text of a reason for rejection, which decides nothing.
"""

import ast
import importlib.util
import multiprocessing
import re
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType

import flint

import earnshaw.proof.trusted as original

FOLDER = Path(original.__file__).parent
FILES = tuple(sorted(path.name for path in FOLDER.glob("*.py") if path.name != "__main__.py"))
SECONDS = 20  # a mutant that computes for longer over one case is noticed by that,
WAIT = 100  # and one that takes longer in all, for it may wait for a file; a busy machine alone is not noticed

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATIONS = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (),
}
# A method of a ball or a matrix, and what may stand in its place; "" leaves the object itself.
METHODS = {
    "upper": ("lower", "mid", ""),
    "lower": ("upper", "mid", ""),
    "abs_upper": ("abs_lower", "upper", "mid"),
    "sqrt": ("",),
    "transpose": ("",),
    "min": ("max", ""),
    "max": ("min", ""),
    "union": ("",),
    "tanh": ("",),
    "cosh": ("sinh",),
    "erf": ("erfc",),
    "cos": ("sin",),
    "sin": ("cos",),
    "exp": ("",),
    "mid": ("",),
}


@dataclass(frozen=True)
class Mutant:
    """One change to one file: its number among those of the file, where it is, what stood there, what stands there now."""

    file: str
    number: int
    function: str
    line: int
    old: str
    new: str

    def code(self) -> CodeType:
        """Compile the changed file."""
        tree = ast.parse((FOLDER / self.file).read_text())
        sites = _Sites()
        sites.visit(tree)
        _, parent, field, index, new = sites.found[self.number]
        if index is None:
            setattr(parent, field, new)
        else:
            getattr(parent, field)[index] = ast.Pass() if new is None else new
        return compile(ast.fix_missing_locations(tree), str(FOLDER / self.file), "exec")

    @property
    def name(self) -> str:
        """A name that does not change when lines move."""
        return f"{self.file} {self.function}: {self.old}  =>  {self.new}"


class _Sites(ast.NodeVisitor):
    """Collect (parent, field, index, replacement) for every change that is worth making."""

    def __init__(self) -> None:
        self.path: list[str] = []
        self.balls: list[bool] = []  # whether each function around a node returns balls
        self.found: list[tuple[str, ast.AST, str, int | None, ast.AST | None]] = []

    def add(self, parent: ast.AST, field: str, index: int | None, *new: ast.AST | None) -> None:
        self.found += [(".".join(self.path), parent, field, index, node) for node in new]

    def visit(self, node: ast.AST) -> None:
        named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        if named:
            self.path.append(node.name)
        if isinstance(node, ast.FunctionDef):
            self.balls.append(
                re.search(r"\barb\b|arb_mat|Derivatives|Near", ast.unparse(node.returns or ast.Constant(0))) is not None
            )
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "type_comment"):
                continue
            for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
                if not isinstance(child, ast.AST) or _reason(node, field, index) or _docstring(child):
                    continue
                if isinstance(child, ast.Return) and child.value is not None and self.balls[-1]:
                    # the midpoint of a ball in place of the ball
                    self.add(
                        node, field, index, ast.Return(ast.Call(ast.Name("_middle", ast.Load()), [child.value], []))
                    )
                self.add(node, field, index, *_changes(child))
                self.visit(child)
        if isinstance(node, ast.FunctionDef):
            self.balls.pop()
        if named:
            self.path.pop()


def _reason(parent: ast.AST, field: str, index: int | None) -> bool:
    """Whether a node is the text of a reason: the second argument of `require`, or that of `Rejected`."""
    if not (isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and field == "args"):
        return False
    return (parent.func.id, index) in {("require", 1), ("Rejected", 0), ("afford", None)}


def _docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _changes(node: ast.AST) -> Iterator[ast.AST | None]:
    """Yield what may stand in the place of a node; None removes a statement."""
    yield from _changed_statement(node)
    if isinstance(node, ast.Compare):
        yield from _changed_comparison(node)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        for left_out in range(len(node.values)):
            rest = node.values[:left_out] + node.values[left_out + 1 :]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.BinOp):
        for operation in OPERATIONS.get(type(node.op), ()):
            yield ast.BinOp(node.left, operation(), node.right)
        if not isinstance(node.op, ast.BitOr | ast.LShift):
            yield node.left
            yield node.right
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse
    elif isinstance(node, ast.Constant):
        yield from _changed_constant(node)
    elif isinstance(node, ast.Call):
        yield from _changed_call(node)
    elif isinstance(node, ast.Name) and node.id == "inf":
        yield ast.UnaryOp(ast.USub(), node)


def _changed_statement(node: ast.AST) -> Iterator[ast.AST | None]:
    if isinstance(node, ast.Expr | ast.AugAssign | ast.Raise | ast.Continue):
        yield None
    if isinstance(node, ast.If):
        yield ast.If(ast.Constant(True), node.body, node.orelse)
        yield ast.If(ast.Constant(False), node.body, node.orelse)
    if isinstance(node, ast.For):
        yield ast.For(node.target, node.iter, [*node.body, ast.Break()], node.orelse)
    if isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Tuple):
        for left_out in range(len(node.type.elts)):
            kinds = ast.Tuple(node.type.elts[:left_out] + node.type.elts[left_out + 1 :], ast.Load())
            yield ast.ExceptHandler(kinds, node.name, node.body)


def _changed_comparison(node: ast.Compare) -> Iterator[ast.AST]:
    for place, operation in enumerate(node.ops):
        for other in COMPARISONS[type(operation)]:
            yield ast.Compare(node.left, [*node.ops[:place], other(), *node.ops[place + 1 :]], node.comparators)
    yield ast.Constant(True)
    if len(node.ops) == 1 and type(node.ops[0]) in (ast.Lt, ast.LtE, ast.Gt, ast.GtE):
        # `not (a > b)` for `a <= b`: the same for numbers, and wrong for balls that overlap
        opposite = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}[type(node.ops[0])]
        yield ast.UnaryOp(ast.Not(), ast.Compare(node.left, [opposite()], node.comparators))


def _changed_constant(node: ast.Constant) -> Iterator[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
        yield ast.Constant(value - 1)
    elif isinstance(value, float):
        yield ast.Constant(value * 2 if value else 1.0)
        yield ast.Constant(value / 2 if value else -1.0)


def _changed_call(node: ast.Call) -> Iterator[ast.AST]:
    if isinstance(node.func, ast.Attribute):
        of = node.func.value
        module = isinstance(of, ast.Name) and of.id in ("np", "arb", "json", "base64", "hashlib", "os", "stat")
        for other in () if module else METHODS.get(node.func.attr, ()):
            yield ast.Call(ast.Attribute(of, other, ast.Load()), node.args, node.keywords) if other else of
    elif isinstance(node.func, ast.Name) and node.func.id in ("abs", "sorted", "bool", "root", "norm", "float", "arb"):
        if len(node.args) == 1 and node.func.id == "abs":
            yield node.args[0]
        elif node.func.id in ("root", "norm"):
            yield ast.Call(ast.Attribute(node, "mid", ast.Load()), [], [])
    elif isinstance(node.func, ast.Name) and node.func.id == "all":
        yield ast.Call(ast.Name("any", ast.Load()), node.args, node.keywords)
    elif isinstance(node.func, ast.Name) and node.func.id == "any":
        yield ast.Call(ast.Name("all", ast.Load()), node.args, node.keywords)


def mutants(files: tuple[str, ...] = FILES) -> Iterator[Mutant]:
    """Yield every mutant of some files of the checker, one file after the other."""
    for file in files:
        tree = ast.parse((FOLDER / file).read_text())
        sites = _Sites()
        sites.visit(tree)
        for number, (function, parent, field, index, new) in enumerate(sites.found):
            place = getattr(parent, field)
            old = place if index is None else place[index]
            yield Mutant(file, number, function, old.lineno, _text(old), "nothing" if new is None else _text(new))


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.If | ast.For | ast.ExceptHandler):
        once = isinstance(node, ast.For) and isinstance(node.body[-1], ast.Break)
        return ast.unparse(ast.fix_missing_locations(node)).splitlines()[0] + ("  (once)" if once else "")
    return ast.unparse(node).replace("\n", " ")


def _middle(value: object) -> object:
    """Return the midpoints of what is a ball, a matrix of balls, or a tuple or a list of them."""
    if isinstance(value, flint.arb | flint.arb_mat):
        return value.mid()
    if isinstance(value, list):
        return [_middle(entry) for entry in value]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_middle, value))
    if type(value) is tuple:
        return tuple(_middle(entry) for entry in value)
    return value


def loaded(mutant: Mutant | None) -> ModuleType:
    """Import the checker with one file changed, under a name of its own."""
    name = "mutated_checker"
    for module in [entry for entry in sys.modules if entry.partition(".")[0] == name]:
        del sys.modules[module]
    package = _module(name, FOLDER / "__init__.py", [str(FOLDER)])
    changed = None if mutant is None else mutant.code()
    if mutant is not None and mutant.file != "__init__.py":
        module = _module(f"{name}.{mutant.file.removesuffix('.py')}", FOLDER / mutant.file, None)
        exec(changed, module.__dict__)
    source = changed if mutant is not None and mutant.file == "__init__.py" else (FOLDER / "__init__.py").read_text()
    exec(source, package.__dict__)
    for module in [entry for entry in sys.modules if entry.partition(".")[0] == name]:
        sys.modules[module].__dict__["_middle"] = _middle
    return package


def _module(name: str, path: Path, search: list[str] | None) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=search)
    module = importlib.util.module_from_spec(spec)
    module.__dict__["_middle"] = _middle
    sys.modules[name] = module
    return module


class TooSlow(BaseException):
    """A mutant does not come to an end."""


def noticed_by(mutant: Mutant | None, cases: dict[str, Callable[[ModuleType], bool]]) -> str | None:
    """Return the first case that tells a mutant from the original, or None."""

    def alarm(*_: object) -> None:
        raise TooSlow

    before = [(number, signal.signal(number, alarm)) for number in (signal.SIGALRM, signal.SIGPROF)]
    flint.ctx.prec = 53
    name = "its import"
    try:
        _set(WAIT, SECONDS)
        checker = loaded(mutant)
        for name, right in cases.items():
            _set(WAIT, SECONDS)
            if not right(checker):
                return name
    except (Exception, TooSlow) as error:
        return f"{name} ({type(error).__name__})"
    finally:
        _set(0, 0)
        for number, handler in before:
            signal.signal(number, handler)
        flint.ctx.prec = 53
    return None


def _set(wait: float, seconds: float) -> None:
    """Set both clocks, the wall's and the processor's; 0 stops them."""
    signal.setitimer(signal.ITIMER_REAL, wait)
    signal.setitimer(signal.ITIMER_PROF, seconds)


Cases = dict[str, Callable[[ModuleType], bool]]
_cases: dict[str, Cases] = {}


def main() -> None:
    """Run every mutant against the battery, on all cores, and print the names of those that nothing notices.

    This is a process of its own: it forks, which a process that has imported JAX may not.
    """
    import battery

    cases = battery.everything(walks=1)
    _cases.update({file: battery.concerning(file, cases) for file in FILES})
    chosen = list(mutants())
    with multiprocessing.get_context("fork").Pool() as pool:
        found = pool.map(_one, chosen, chunksize=4)
    print("\n".join(mutant.name for mutant, by in zip(chosen, found, strict=True) if by is None))


def _one(mutant: Mutant) -> str | None:
    return noticed_by(mutant, _cases[mutant.file])


if __name__ == "__main__":
    main()

"""The reader's source: read, checked for what Triton's compiler refuses, and rewritten.

Python runs the kernel, line by line. Three things are changed before: a number that is assigned
becomes a value of the kernel as in the compiler, a loop or a branch on a runtime value is watched
for names and types that the compiler would refuse, and every loop is counted, so that one without
end stops.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

from play.messages import Refusal

FILE = "kernel.py"  # the name of the reader's source in tracebacks
WATCH = "__play__"  # the name under which rewritten code finds its watch
UNSUPPORTED = {  # statements and expressions that the compiler knows nothing of
    ast.AsyncFor: "async for",
    ast.AsyncFunctionDef: "async def",
    ast.AsyncWith: "async with",
    ast.Await: "await",
    ast.Break: "break",
    ast.ClassDef: "class",
    ast.Continue: "continue",
    ast.Delete: "del",
    ast.DictComp: "{…: … for …}",
    ast.Dict: "{…: …}",
    ast.FunctionDef: "def",
    ast.GeneratorExp: "(… for …)",
    ast.Global: "global",
    ast.Import: "import",
    ast.ImportFrom: "import",
    ast.Lambda: "lambda",
    ast.Match: "match",
    ast.NamedExpr: ":=",
    ast.Nonlocal: "nonlocal",
    ast.Raise: "raise",
    ast.Set: "{…}",
    ast.SetComp: "{… for …}",
    ast.Try: "try",
    ast.Yield: "yield",
    ast.YieldFrom: "yield from",
}
ELSEWHERE = {
    ast.ListComp: "[… for …]",
    ast.With: "with",
}  # the compiler takes these for its own objects
GROWING = {"append", "extend", "insert", "pop", "remove", "update", "setdefault", "sort", "reverse"}


@lru_cache(maxsize=4)
def compiled(source: str) -> CodeType:
    """The source as code, rewritten; the last few are kept, as an answer is run case after case."""
    return compile(read(source), FILE, "exec")


def read(source: str) -> ast.Module:
    """The source as a tree, rewritten; a Refusal names the line of a mistake."""
    if "\0" in source:
        raise Refusal("null_byte", line=source[: source.index("\0")].count("\n") + 1)
    try:
        tree = ast.parse(source, FILE)
    except SyntaxError as error:
        raise Refusal("syntax", line=error.lineno or 1, reason=error.msg) from None
    except (RecursionError, MemoryError):
        raise Refusal("too_nested", line=1) from None
    kernels = _kernels(tree)
    for kernel in kernels:
        check_kernel(kernel)
    _Host({id(kernel) for kernel in kernels}).visit(tree)
    return ast.fix_missing_locations(tree)


def _kernels(tree: ast.Module) -> list[ast.FunctionDef]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [f for f in functions if "jit" in map(_decorator_name, f.decorator_list)]


def _decorator_name(decorator: ast.expr) -> str:
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    return decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")


# What the compiler refuses


def check_kernel(kernel: ast.FunctionDef) -> None:
    """Raise a Refusal, with the compiler's reason, for what no kernel may hold."""
    arguments = kernel.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise Refusal("star_arguments", line=kernel.lineno, kernel=kernel.name)
    for statement in kernel.body:
        for node in ast.walk(statement):
            _check(node)
    _check_returns(kernel.body, in_loop=False)


def _check(node: ast.AST) -> None:
    line = getattr(node, "lineno", None)
    if type(node) in UNSUPPORTED:
        raise Refusal("unsupported_syntax", line=line, what=UNSUPPORTED[type(node)])
    if type(node) in ELSEWHERE:
        raise Refusal("syntax_elsewhere", line=line, what=ELSEWHERE[type(node)])
    if isinstance(node, ast.Assign) and len(node.targets) > 1:
        raise Refusal("several_targets", line=line)
    if isinstance(node, ast.Compare):
        if len(node.ops) > 1:
            raise Refusal("chained_comparison", line=line)
        if isinstance(node.ops[0], (ast.In, ast.NotIn)):
            raise Refusal("unsupported_syntax", line=line, what="in")
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        raise Refusal("block_item_assigned", line=line)
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        raise Refusal("attribute_assigned", line=line)
    if isinstance(node, (ast.For, ast.While)) and node.orelse:
        raise Refusal("unsupported_syntax", line=line, what="else")
    if isinstance(node, ast.For) and not isinstance(node.target, ast.Name):
        raise Refusal("loop_over_range_only", line=line)
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Attribute) and called.attr in GROWING:
        owner = called.value.id if isinstance(called.value, ast.Name) else ""
        if owner not in ("tl", "triton"):
            raise Refusal("python_container", line=line, method=called.attr)


def _check_returns(statements: Iterable[ast.stmt], in_loop: bool) -> None:
    for statement in statements:
        if isinstance(statement, ast.Return) and in_loop:
            raise Refusal("return_in_loop", line=statement.lineno)
        inside = in_loop or isinstance(statement, ast.While) or _is_runtime_loop(statement)
        _check_returns(getattr(statement, "body", ()), inside)
        _check_returns(getattr(statement, "orelse", ()), inside)


def _is_runtime_loop(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.For):
        return False
    called = statement.iter.func if isinstance(statement.iter, ast.Call) else None
    return not (isinstance(called, ast.Attribute) and called.attr == "static_range")


def free_names(kernel: ast.FunctionDef) -> dict[str, int]:
    """The names that a kernel reads and does not define, with the line of their first use."""
    own = {argument.arg for argument in kernel.args.args} | assigned_names(kernel.body)
    found: dict[str, int] = {}
    for statement in kernel.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.AnnAssign):
                continue
            if isinstance(node, ast.Name) and node.id not in own:
                found[node.id] = min(node.lineno, found.get(node.id, node.lineno))
    return found


def assigned_names(statements: Iterable[ast.stmt]) -> set[str]:
    """The names that these statements give a value."""
    return {
        node.id
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


# Rewriting


def _watch(method: str, *arguments: ast.expr) -> ast.Call:
    """A call of a method of the watch."""
    function = ast.Attribute(ast.Name(WATCH, ast.Load()), method, ast.Load())
    return ast.Call(function, list(arguments), [])


def _method(owner: str, method: str, *arguments: ast.expr) -> ast.Call:
    function = ast.Attribute(ast.Name(owner, ast.Load()), method, ast.Load())
    return ast.Call(function, list(arguments), [])


def _strings(values: Iterable[str]) -> ast.Tuple:
    return ast.Tuple([ast.Constant(value) for value in sorted(values)], ast.Load())


def _locals() -> ast.Call:
    return ast.Call(ast.Name("locals", ast.Load()), [], [])


def _named(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _at(nodes: Sequence[ast.stmt], original: ast.stmt) -> list[ast.stmt]:
    """The statements on the first line of the one that they replace; what has a line keeps it."""
    line = original.lineno
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, (ast.stmt, ast.expr)) and not hasattr(part, "lineno"):
                part.lineno = part.end_lineno = line
                part.col_offset = part.end_col_offset = 0
    return list(nodes)


class _Host(ast.NodeTransformer):
    """Code outside of kernels: loops and calls are counted; kernels are handed to `_Kernel`."""

    def __init__(self, kernels: set[int]) -> None:
        self.kernels = kernels

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if id(node) in self.kernels:
            names = free_names(node)
            rewriter = _Kernel()
            node.body = rewriter.statements(node.body)
            node.decorator_list.append(_names_decorator(node, names))
            return node
        self.generic_visit(node)
        node.decorator_list.append(ast.Attribute(ast.Name(WATCH, ast.Load()), "called", ast.Load()))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        self.generic_visit(node)
        return ast.copy_location(_watch("called", node), node)

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        node.iter = ast.copy_location(_watch("counted", node.iter), node.iter)
        return node

    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        node.body = [*_at([ast.Expr(_watch("tick"))], node), *node.body]
        return node

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        self.generic_visit(node)
        node.iter = ast.copy_location(_watch("counted", node.iter), node.iter)
        return node


def _names_decorator(node: ast.FunctionDef, names: dict[str, int]) -> ast.expr:
    """The innermost decorator: what the kernel reads of its surroundings, and its constants."""
    constants = [
        argument.arg
        for argument in node.args.args
        if argument.annotation is not None and "constexpr" in ast.unparse(argument.annotation)
    ]
    keys: list[ast.expr | None] = [ast.Constant(name) for name in names]
    table = ast.Dict(keys, [ast.Constant(line) for line in names.values()])
    call = _watch("kernel", table, _strings(constants), ast.Constant(node.lineno))
    return ast.fix_missing_locations(ast.copy_location(call, node))


class _Kernel(ast.NodeTransformer):
    """The body of a kernel."""

    def __init__(self) -> None:
        self.count = 0  # of loops and branches, which give their watches a name

    def statements(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            changed = self.visit(statement)
            found.extend(changed if isinstance(changed, list) else [changed])
        return found

    def _name(self) -> str:
        self.count += 1
        return f"__watch_{self.count}"

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        node.value = ast.copy_location(_watch("assigned", node.value), node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return node
        constant = "constexpr" in ast.unparse(node.annotation)
        value = self.visit(node.value)
        call = _watch("constant" if constant else "assigned", value)
        return _at([ast.Assign([node.target], call)], node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        assert isinstance(node.target, ast.Name)
        before = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = ast.copy_location(ast.BinOp(before, node.op, self.visit(node.value)), node)
        return _at([ast.Assign([node.target], _watch("assigned", value))], node)

    def visit_For(self, node: ast.For) -> Any:
        assert isinstance(node.target, ast.Name)
        name = self._name()
        changed = assigned_names(node.body) | {node.target.id}
        start = _named(name, _watch("loop", _strings(changed), ast.Constant(node.target.id)))
        enter = ast.Expr(_method(name, "enter", _locals()))
        check = ast.Expr(_method(name, "check", _locals()))
        iterated = ast.copy_location(_method(name, "over", self.visit(node.iter)), node.iter)
        body = [*self.statements(node.body), *_at([check], node)]
        loop = ast.copy_location(ast.For(node.target, iterated, body, []), node)
        return [*_at([start, enter], node), loop, *self._hidden(name, changed, node)]

    def visit_While(self, node: ast.While) -> Any:
        name = self._name()
        changed = assigned_names(node.body)
        start = _named(name, _watch("loop", _strings(changed), ast.Constant("")))
        enter = ast.Expr(_method(name, "enter", _locals()))
        check = ast.Expr(_method(name, "check", _locals()))
        test = ast.copy_location(_method(name, "goes_on", self.visit(node.test)), node.test)
        body = [*self.statements(node.body), *_at([check], node)]
        loop = ast.copy_location(ast.While(test, body, []), node)
        return [*_at([start, enter], node), loop, *self._hidden(name, changed, node)]

    def visit_If(self, node: ast.If) -> Any:
        name = self._name()
        then, other = assigned_names(node.body), assigned_names(node.orelse)
        changed = then | other
        returns = any(isinstance(each, ast.Return) for each in ast.walk(node))
        test = self.visit(node.test)
        start = _named(name, _watch("branch", test, _strings(then), _strings(other), _locals()))
        taken = ast.Attribute(ast.Name(name, ast.Load()), "taken", ast.Load())
        branch = ast.If(taken, self.statements(node.body), self.statements(node.orelse))
        found = [*_at([start], node), ast.copy_location(branch, node)]
        if returns or not changed:
            return found
        check = _at([ast.Expr(_method(name, "check", _locals()))], node)
        return [*found, *check, *self._hidden(name, changed, node)]

    def _hidden(self, watch: str, names: set[str], node: ast.stmt) -> list[ast.stmt]:
        """After a loop or a branch, the names that the compiler does not know any more."""
        found: list[ast.stmt] = []
        for name in sorted(names):
            test = _method(watch, "hides", ast.Constant(name))
            hide = _named(name, _method(watch, "hidden", ast.Constant(name)))
            found.append(ast.If(test, [hide], []))
        return _at(found, node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        method = "all_of" if isinstance(node.op, ast.And) else "any_of"
        no_arguments = ast.arguments([], [], None, [], [], None, [])
        parts = [ast.Lambda(no_arguments, value) for value in node.values]
        return ast.copy_location(_watch(method, *parts), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return ast.copy_location(_watch("negated", node.operand), node)
        return node

    def visit_List(self, node: ast.List) -> Any:
        self.generic_visit(node)
        return ast.copy_location(ast.Tuple(node.elts, node.ctx), node)

    def visit_Assert(self, node: ast.Assert) -> Any:
        self.generic_visit(node)
        message = node.msg or ast.Constant("")
        return _at([ast.Expr(_watch("asserted", node.test, message))], node)

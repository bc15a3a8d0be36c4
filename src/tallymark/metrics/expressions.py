"""Formulas of the four cells, written once and compiled to NumPy, JavaScript and LaTeX.

A formula consists of ``+ - * /``, ``sqrt``, ``abs``, ``max``, numbers, the cells ``tp fp fn tn``, their sums
(:data:`SUMS`) and declared parameters. IEEE 754 fixes the result of each operation to the last bit, so Python and the
report's page agree exactly.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallymark.registry import PARAMETERS

CELLS = ("tp", "fp", "fn", "tn")

#: Sums of cells that have a usual name.
SUMS = {"P": "tp + fn", "N": "fp + tn", "PP": "tp + fp", "PN": "fn + tn", "n": "tp + fp + fn + tn"}

_OPERATORS: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}

#: Functions of the language: in NumPy, in JavaScript, and around their arguments in LaTeX.
_FUNCTIONS: Mapping[str, tuple[Callable[..., Any], str, tuple[str, str]]] = {
    "sqrt": (np.sqrt, "Math.sqrt", (r"\sqrt{", "}")),
    "abs": (np.abs, "Math.abs", (r"\left|", r"\right|")),
    "max": (np.maximum, "Math.max", (r"\max(", ")")),
}

_LATEX_NAMES = {
    "tp": r"\mathrm{TP}", "fp": r"\mathrm{FP}", "fn": r"\mathrm{FN}", "tn": r"\mathrm{TN}",
    "P": "P", "N": "N", "PP": r"\hat P", "PN": r"\hat N", "n": "n",
}  # fmt: skip


@cache
def to_numpy(expression: str) -> Callable[..., NDArray[np.float64]]:
    """A function of tp, fp, fn, tn and the parameters, for numbers or arrays; 0/0 is nan."""
    functions = {name: function for name, (function, _, _) in _FUNCTIONS.items()}
    code = compile(ast.fix_missing_locations(ast.Expression(_expanded(expression))), f"<{expression}>", "eval")

    def evaluate(
        tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike, **parameters: ArrayLike
    ) -> NDArray[np.float64]:
        # Counts become float64 first: products of large counts overflow int64.
        names = {"tp": _floats(tp), "fp": _floats(fp), "fn": _floats(fn), "tn": _floats(tn)}
        names |= {name: _floats(value) for name, value in parameters.items()}
        with np.errstate(divide="ignore", invalid="ignore"):
            values: NDArray[np.float64] = eval(code, {"__builtins__": {}, **functions}, names)  # noqa: S307 - a formula of this package, checked
        return values

    return evaluate


def _floats(value: ArrayLike) -> Any:
    """A number or an array as float64; a number as a NumPy scalar, which divides by zero as arrays do."""
    return np.float64(value) if isinstance(value, int | float) else np.asarray(value, dtype=np.float64)


@cache
def smooth_parts(expression: str) -> tuple[str, ...]:
    """The formula with its first absolute value taken as it is, and with its opposite; itself where it has none.

    Where larger absolute values only lower the formula, it is the smaller of the two, and each is smooth where the
    absolute value has its kink.

    >>> smooth_parts("1 - abs(fp - fn) / n")
    ('1 - (fp - fn) / n', '1 - (0 - (fp - fn)) / n')
    """
    plain, negated = (ast.unparse(_Signed(sign).visit(_copied(expression))) for sign in "+-")
    return (plain,) if plain == negated else (plain, negated)


def to_javascript(expression: str) -> str:
    """The formula as a JavaScript expression of the same names, fully parenthesised.

    >>> to_javascript("tp / P")
    '(tp / (tp + fn))'
    """
    return _javascript(_expanded(expression))


def to_latex(expression: str) -> str:
    r"""The formula as LaTeX.

    >>> to_latex("tp / P")
    '\\frac{\\mathrm{TP}}{P}'
    """
    return _latex(_parse(expression), 0)


@cache
def _parse(expression: str) -> ast.expr:
    tree = ast.parse(expression, mode="eval").body
    for node in ast.walk(tree):
        allowed = isinstance(node, (ast.BinOp, ast.Name, ast.Constant, ast.Load, *_OPERATORS)) or (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS
        )
        if not allowed:
            raise ValueError(f"{expression!r}: {type(node).__name__} is not part of the formula language")
    return tree


class _Expand(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        return _parse(SUMS[node.id]) if node.id in SUMS else node


class _Signed(ast.NodeTransformer):
    """Replaces the first absolute value by its argument, or by the opposite of that."""

    def __init__(self, sign: str) -> None:
        self._sign = sign
        self._done = False

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if self._done or not (isinstance(node.func, ast.Name) and node.func.id == "abs"):
            self.generic_visit(node)
            return node
        self._done = True
        argument = node.args[0]
        return argument if self._sign == "+" else ast.BinOp(ast.Constant(0), ast.Sub(), argument)


def _copied(expression: str) -> ast.expr:
    return ast.parse(ast.unparse(_parse(expression)), mode="eval").body


def _expanded(expression: str) -> ast.expr:
    expanded: ast.expr = _Expand().visit(_copied(expression))
    return expanded


def _javascript(node: ast.expr) -> str:
    match node:
        case ast.BinOp(left, operator, right):
            return f"({_javascript(left)} {_OPERATORS[type(operator)]} {_javascript(right)})"
        case ast.Call(ast.Name(function), arguments):
            return f"{_FUNCTIONS[function][1]}({', '.join(map(_javascript, arguments))})"
        case ast.Constant(value):
            return repr(value)
        case ast.Name(name):
            return name
        case _:
            raise ValueError(ast.dump(node))


def _latex(node: ast.expr, binding: int) -> str:
    match node:
        case ast.BinOp(left, ast.Div(), right):
            return rf"\frac{{{_latex(left, 0)}}}{{{_latex(right, 0)}}}"
        case ast.BinOp(left, ast.Mult(), right):
            sign = r"\cdot " if _needs_dot(right) else ""
            return f"{_latex(left, 2)} {sign}{_latex(right, 2)}"
        case ast.BinOp(left, operator, right):
            right_binding = 2 if isinstance(operator, ast.Sub) else 1
            text = f"{_latex(left, 1)} {_OPERATORS[type(operator)]} {_latex(right, right_binding)}"
            return rf"\left({text}\right)" if binding > 1 else text
        case ast.Call(ast.Name(function), arguments):
            opening, closing = _FUNCTIONS[function][2]
            return opening + ", ".join(_latex(argument, 0) for argument in arguments) + closing
        case ast.Constant(value):
            return f"{value:g}" if isinstance(value, int | float) else str(value)
        case ast.Name(name) if name in _LATEX_NAMES:
            return _LATEX_NAMES[name]
        case ast.Name(name) if name in PARAMETERS:
            return PARAMETERS[name].symbol
        case ast.Name(name):
            raise ValueError(f"{name!r} is no name of a formula; there are {', '.join((*_LATEX_NAMES, *PARAMETERS))}")
        case _:
            raise ValueError(ast.dump(node))


def _needs_dot(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div))

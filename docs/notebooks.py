"""Tutorials: one percent script each, run when the docs are built, and written as a page and as a notebook with the same outputs.

A script in ``docs/tutorials`` is plain Python. ``# %%`` begins a cell of code, ``# %% [markdown]`` a cell of text, in which
``{{ expression }}`` is replaced by its value, so that no number in the text is typed by hand. What stands before the first cell is for linters.
"""

import ast
import contextlib
import io
import json
import re
import textwrap
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from tallymark.charts.theme import PALETTES

SOURCES = Path(__file__).parent / "tutorials"

#: The example on the first page.
FIRST = Path(__file__).parent / "first.py"

#: In the order in which they are listed.
TUTORIALS = (
    "audit_counts",
    "map_area",
    "elusion_test",
    "imperfect_test",
    "llm_judge",
    "price_index",
    "rare_events",
    "new_quantifier",
)


@dataclass
class Output:
    """What one cell left behind: text that was printed, a value, or a picture."""

    text: str
    html: str | None = None
    svg: str | None = None
    printed: bool = False


@dataclass
class Cell:
    """A cell of text or code, and what came of running it."""

    kind: str
    source: str
    outputs: list[Output] = field(default_factory=list)
    said: list[Any] = field(default_factory=list)


def parse(script: str) -> list[Cell]:
    """The cells of a percent script."""
    cells = []
    for part in re.split(r"^# %%", script, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        if "[markdown]" in head:
            cells.append(Cell("markdown", re.sub(r"^# ?", "", body.strip("\n"), flags=re.MULTILINE).strip()))
        else:
            cells.append(Cell("code", body.strip("\n").rstrip()))
    return cells


def _shown(value: Any) -> Output:
    """A value as a notebook shows it."""
    if hasattr(value, "to_dict") and type(value).__module__.startswith("altair"):
        import vl_convert

        drawn = value.to_dict()
        # A chart that says what it shows is described by that, another by its title.
        title = drawn.get("description") or drawn.get("title") or type(value).__name__
        text = title["text"] if isinstance(title, dict) else title
        return Output(" ".join(text) if isinstance(text, list) else text, svg=vl_convert.vegalite_to_svg(drawn))
    html = value._repr_html_() if hasattr(value, "_repr_html_") else None
    return Output(repr(value), html=html)


def _run(source: str, names: dict[str, Any], where: str) -> list[Output]:
    tree = ast.parse(source, where)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    said, found = io.StringIO(), []
    value = None
    with contextlib.redirect_stdout(said):
        exec(compile(tree, where, "exec"), names)  # noqa: S102
        if last is not None:
            value = eval(compile(ast.Expression(last.value), where, "eval"), names)  # noqa: S307
    if said.getvalue():
        found.append(Output(said.getvalue().rstrip("\n"), printed=True))
    if value is not None:
        found.append(_shown(value))
    return found


def _filled(text: str, names: dict[str, Any]) -> str:
    return re.sub(r"\{\{(.+?)\}\}", lambda match: str(eval(match[1].strip(), names)), text)  # noqa: S307


def run(path: Path) -> list[Cell]:
    """Every cell of a script, executed in order in a module of its own."""
    module = ModuleType("__main__")
    names = vars(module)
    cells = parse(path.read_text(encoding="utf-8"))
    for number, cell in enumerate(cells):
        where = f"{path.name}, cell {number + 1}"
        if cell.kind == "markdown":
            cell.source = _filled(cell.source, names)
            continue
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            cell.outputs = _run(cell.source, names, where)
        cell.said = list(said)
        heard = [f"{w.category.__name__}: {w.message}" for w in said]
        if heard:
            cell.outputs.insert(0, Output("\n".join(heard), printed=True))
    return cells


def _dark(svg: str) -> str:
    """The picture in the colours of the dark theme."""
    light, dark = (
        [one.paper, one.ink, one.faint, one.grid, *one.models, one.negative, one.positive]
        for one in (PALETTES["light"], PALETTES["dark"])
    )
    colours = dict(zip(light, dark, strict=True)) | {"white": PALETTES["dark"].paper}
    return re.sub(r"#[0-9a-f]{6}\b|\bwhite\b", lambda match: colours.get(match[0], match[0]), svg)


def _narrow(text: str) -> str:
    """Text that fits a page: sentences are wrapped, tables are left as they are."""
    lines = (
        textwrap.fill(line, 88) if len(line) > 88 and "  " not in line.strip() else line for line in text.splitlines()
    )
    return "\n".join(lines)


def body(cells: list[Cell], name: str, folder: Path) -> list[str]:
    """The cells in MyST; their pictures are written into `folder`."""
    lines = []
    for number, cell in enumerate(cells):
        if cell.kind == "markdown":
            lines += [cell.source, ""]
            continue
        lines += ["```python", cell.source, "```", ""]
        for place, output in enumerate(cell.outputs):
            if output.svg is not None:
                picture = f"{name}-{number}-{place}"
                (folder / f"{picture}.svg").write_text(output.svg, encoding="utf-8")
                (folder / f"{picture}-dark.svg").write_text(_dark(output.svg), encoding="utf-8")
                for kind, only in (("", "only-light"), ("-dark", "only-dark")):
                    lines += [f"```{{image}} {picture}{kind}.svg", f":class: {only} dark-light"]
                    lines += [":alt: " + " ".join(output.text.split()), "```", ""]
            else:
                lines += ["```{code-block} text", ":class: output", "", _narrow(output.text), "```", ""]
    return lines


def page(cells: list[Cell], name: str, folder: Path) -> str:
    """The page of a tutorial, with its notebook and script to download."""
    title, rest = "\n".join(body(cells, name, folder)).split("\n", 1)
    download = (
        f"Run it yourself: {{download}}`notebook <{name}.ipynb>`, {{download}}`script <../../tutorials/{name}.py>`."
    )
    return f"{title}\n\n{download}\n{rest}\n"


def notebook(cells: list[Cell]) -> dict[str, Any]:
    """The notebook, as Jupyter's format 4.5 has it."""
    written: list[dict[str, Any]] = []
    for number, cell in enumerate(cells):
        one = {"id": f"cell-{number}", "cell_type": cell.kind, "metadata": {}, "source": cell.source}
        if cell.kind == "code":
            outputs = []
            for output in cell.outputs:
                if output.printed:
                    outputs.append({"output_type": "stream", "name": "stdout", "text": output.text + "\n"})
                    continue
                data = {"text/plain": output.text, "text/html": output.html, "image/svg+xml": output.svg}
                outputs.append(
                    {
                        "output_type": "execute_result",
                        "execution_count": number + 1,
                        "metadata": {},
                        "data": {kind: text for kind, text in data.items() if text is not None},
                    }
                )
            one |= {"execution_count": number + 1, "outputs": outputs}
        written.append(one)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": written,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def write(app):
    folder = Path(app.srcdir) / "generated" / "tutorials"
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / "first.txt").write_text("\n".join(body(run(FIRST), "first", folder)), encoding="utf-8")
    for name in TUTORIALS:
        cells = run(SOURCES / f"{name}.py")
        (folder / f"{name}.md").write_text(page(cells, name, folder), encoding="utf-8")
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook(cells), indent=1), encoding="utf-8")


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}

"""The picture of the layers, drawn from the import contract that the linter enforces, so that it stays true."""

import ast
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "tallymark"

#: What a band of layers does with the data, by a module of its highest layer.
BANDS = {
    "__main__": "shown",
    "decisions": "counted and decided",
    "evaluation": "asked: how good, how sure",
    "sources": "rows come in through sources and become summaries",
    "registry": "checked and named",
}


def layers() -> list[list[str]]:
    """The layers of the contract, highest first, each a list of modules."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (one for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def about(module: str) -> str:
    """The first sentence of what a module says of itself."""
    path = PACKAGE / f"{module}.py"
    if not path.exists():
        path = PACKAGE / module / "__init__.py"
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return said.split("\n\n")[0].replace("\n", " ").split(". ")[0].rstrip(".")


def picture() -> str:
    """The layers as boxes, the highest on top; a box may use what lies below it and nothing above."""
    width, height, gap = 760, 30, 8
    lines, y = [], 34
    for layer in layers():
        label = next((BANDS[name] for name in layer if name in BANDS), None)
        if label:
            lines.append(f'<text class="band" x="0" y="{y + 13}">{escape(label)}</text>')
            y += 20
        # Boxes share the line by the length of their names.
        weights = [len(name) + 3 for name in layer]
        x, room = 0.0, width - gap * (len(layer) - 1)
        for name, weight in zip(layer, weights, strict=True):
            wide = room * weight / sum(weights)
            lines.append(
                f'<g><title>{escape(about(name))}</title><rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{height}" rx="4"/>'
                f'<text class="package" x="{x + wide / 2:.1f}" y="{y + 20}">{escape(name)}</text></g>'
            )
            x += wide + gap
        y += height + gap
    head = '<text class="band" x="0" y="14">a box uses what lies below it, and nothing above</text>'
    return (
        f'<svg class="layers" viewBox="0 0 {width} {y}" role="img" '
        f'aria-label="The layers of the package, highest first">{head}{"".join(lines)}</svg>'
    )


def table() -> str:
    """The same in words."""
    lines = ["| layer | module | what it says of itself |", "|---|---|---|"]
    for number, layer in enumerate(layers()):
        lines += [
            f"| {len(layers()) - number} | `{name}` | {about(name).replace('|', chr(92) + '|')} |" for name in layer
        ]
    return "\n".join(lines)


def write(app):
    folder = Path(app.srcdir) / "generated"
    folder.mkdir(exist_ok=True)
    (folder / "layers.txt").write_text(f"```{{raw}} html\n{picture()}\n```\n", encoding="utf-8")
    (folder / "layers-table.txt").write_text(table(), encoding="utf-8")


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}

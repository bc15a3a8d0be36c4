"""Stubs of the modules whose names are loaded when first used, made from where the names are declared.

``python tests/stubs.py`` writes them.
"""

from pathlib import Path

import tallymark as tm
import tallymark.results

SOURCE = Path(tm.__file__).parent


def _stub(about, names):
    ordered = sorted(names, key=lambda one: (one[1], not one[2][0].isupper(), one[2].casefold(), one[0]))
    lines = [f"from tallymark{'.' * bool(home)}{home} import {name} as {shown}" for shown, home, name in ordered]
    head = f"# {about} Made by tests/stubs.py, held true by tests/test_public.py."
    listed = [f'    "{shown}",' for shown in sorted(shown for shown, _, _ in names if not shown.startswith("_"))]
    return "\n".join([head, "", *lines, "", "__all__ = [", *listed, "]", ""])


def _of_homes(homes):
    return [(name, home, name) for home, names in homes.items() for name in names]


def stubs():
    """The text of each stub, by its file."""
    metrics = [
        (name, function.__module__.removeprefix("tallymark."), function.__name__)
        for name in tm.metrics.__all__
        for function in (getattr(tm.metrics, name),)
    ]
    top = [*_of_homes(tm.HOMES), *((name, "", name) for name in tm.MODULES), ("__version__", "_version", "__version__")]
    return {
        SOURCE / "__init__.pyi": _stub("Names of tallymark.", top),
        SOURCE / "results.pyi": _stub("Classes of results.", _of_homes(tallymark.results.HOMES)),
        SOURCE / "metrics" / "__init__.pyi": _stub("Metrics and their aliases.", metrics),
    }


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")

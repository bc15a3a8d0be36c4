"""Stubs of the modules whose names are loaded when first used, made from where the names are declared.

``python tests/stubs.py`` writes them.
"""

from pathlib import Path

import tallymark as tm
import tallymark.results

SOURCE = Path(tm.__file__).parent


def _stub(about, names):
    declared = sorted(
        {(home, name) for _, home, name in names}, key=lambda one: (one[0], one[1].islower(), one[1].casefold())
    )
    lines = [f"from tallymark{'.' * bool(home)}{home} import {name} as {name}" for home, name in declared]
    aliases = [f"{shown} = {name}" for shown, _, name in sorted(names) if shown != name]
    head = f"# {about} Made by tests/stubs.py, held true by tests/test_public.py."
    return "\n".join([head, "", *lines, *([""] if aliases else []), *aliases, ""])


def _of_homes(homes):
    return [(name, home, name) for home, names in homes.items() for name in names]


def stubs():
    """The text of each stub, by its file."""
    metrics = [
        (name, function.__module__.removeprefix("tallymark."), function.__name__)
        for name in tm.metrics.__all__
        for function in (getattr(tm.metrics, name),)
    ]
    top = [
        *_of_homes(tm._HOMES),
        *((name, "", name) for name in tm._MODULES),
        ("__version__", "_version", "__version__"),
    ]
    return {
        SOURCE / "__init__.pyi": _stub("Names of tallymark.", top),
        SOURCE / "results.pyi": _stub("Classes of results.", _of_homes(tallymark.results._HOMES)),
        SOURCE / "metrics" / "__init__.pyi": _stub("Metrics and their aliases.", metrics),
    }


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")

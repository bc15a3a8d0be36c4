"""``llms.txt``: the pages with a sentence each, for programs that read documentation (https://llmstxt.org)."""

from pathlib import Path

from docutils import nodes


def listed(pages):
    """The file, from name, title and first sentence of each page."""
    lines = [
        "# Tallymark",
        "",
        "> How good a classifier really is, and how many there really are: a Python library, a command line and a "
        "report. `tallymark skill` prints which command answers which question, and what must not be claimed; "
        "`tallymark look FILE` prints the commands for a file.",
        "",
        "## Pages",
        "",
    ]
    return "\n".join([*lines, *(f"- [{title}]({name}.html): {said}" for name, title, said in pages), ""])


def first_sentence(page):
    """What stands first on a page, up to the first full stop that ends a sentence."""
    texts = (" ".join(one.astext().split()) for one in page.findall(nodes.paragraph))
    # Links to the notebook and the script stand above a tutorial.
    text = next((one for one in texts if not one.startswith("Run it yourself")), "")
    head, stop, _ = text.partition(". ")
    return head + stop.strip()


def write(app, env):
    pages = [
        (name, env.titles[name].astext(), first_sentence(env.get_doctree(name)))
        for name in env.toctree_includes["index"]
    ]
    Path(app.srcdir, "generated", "live", "llms.txt").write_text(listed(pages), encoding="utf-8")
    return []


def setup(app):
    app.connect("env-updated", write)
    return {"parallel_read_safe": True}

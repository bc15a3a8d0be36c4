"""Code in a sentence leads to the page of the object it names, and pictures of the gallery come in both themes."""

import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

from reference import pages_by_name


def _inside(node, kinds):
    """Whether any node around this one is of these kinds: a link inside a link would leave the outer one empty."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


class LinkCode(SphinxPostTransform):
    """Code such as ``tm.evaluate(t)`` in a sentence leads to the page of what it names."""

    default_priority = 800

    def run(self, **kwargs):  # noqa: ARG002
        here = self.env.docname
        for node in list(self.document.findall(nodes.literal)):
            text = node.astext()
            if not text.startswith("tm.") or _inside(node, (nodes.reference, nodes.title)):
                continue
            target = pages_by_name().get(re.match(r"tm((\.\w+)+)", text)[1].removeprefix("."))
            if target and target != here and target in self.env.all_docs:
                uri = self.app.builder.get_relative_uri(here, target)
                node.replace_self(nodes.reference("", "", node.deepcopy(), refuri=uri, internal=True))


class BothThemes(SphinxTransform):
    """A picture of the gallery on another page: the light one on light pages, the dark one on dark pages."""

    default_priority = 500

    def apply(self, **kwargs):  # noqa: ARG002
        for node in list(self.document.findall(nodes.image)):
            dark = node["uri"].removesuffix(".svg") + "-dark.svg"
            if node["classes"] or not (Path(self.app.srcdir) / dark).exists():
                continue
            twin = node.deepcopy()
            twin["uri"] = dark
            node["classes"] += ["only-light", "dark-light"]
            twin["classes"] += ["only-dark", "dark-light"]
            node.parent.insert(node.parent.index(node) + 1, twin)


def setup(app):
    app.add_transform(BothThemes)
    app.add_post_transform(LinkCode)
    return {"parallel_read_safe": True}

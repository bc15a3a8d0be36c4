"""Code in a sentence leads to the page of the object it names."""

import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from reference import pages_by_name


class LinkCode(SphinxPostTransform):
    """Code such as ``tm.evaluate(t)`` in a sentence leads to the page of what it names."""

    default_priority = 800

    def run(self, **kwargs):  # noqa: ARG002
        here = self.env.docname
        for node in list(self.document.findall(nodes.literal)):
            text = node.astext()
            if not text.startswith("tm.") or isinstance(node.parent, (nodes.reference, nodes.title)):
                continue
            target = pages_by_name().get(re.match(r"tm((\.\w+)+)", text)[1].removeprefix("."))
            if target and target != here and target in self.env.all_docs:
                uri = self.app.builder.get_relative_uri(here, target)
                node.replace_self(nodes.reference("", "", node.deepcopy(), refuri=uri, internal=True))


def setup(app):
    app.add_post_transform(LinkCode)
    return {"parallel_read_safe": True}

"""Names of public classes and functions in tables, and of classes in texts, are links. In narrow
columns, names break between their words."""

import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode


class LinkNames(SphinxPostTransform):
    """Make links of literals in tables that are the names of documented objects."""

    default_priority = 5
    formats = ("html",)

    def run(self, **kwargs):
        if self.env.docname.startswith("generated/"):
            return
        pages = pages_of_names(self.env)
        for table in self.document.findall(nodes.table):
            for literal in list(table.findall(nodes.literal)):
                name = literal.astext().partition("(")[0]
                page = pages.get(name)
                if page is None or isinstance(literal.parent, nodes.reference):
                    continue
                docname, anchor = page
                literal.replace_self(
                    make_refnode(
                        self.app.builder, self.env.docname, docname, anchor, literal.deepcopy()
                    )
                )


def pages_of_names(env):
    """Where each public name is documented; of two of one name, the one that is not Dask's."""
    pages = {}
    for full, entry in sorted(env.domaindata["py"]["objects"].items()):
        module, _, name = full.rpartition(".")
        if entry.objtype in ("class", "function", "data"):
            known = pages.get(name)
            if known is None or module != "sparsemaps.dask":
                pages[name] = entry.docname, entry.node_id
            pages[full] = pages[f"{module.rpartition('.')[2]}.{name}"] = (
                entry.docname, entry.node_id,
            )  # fmt: skip
        elif entry.objtype == "method":
            cls = module.rpartition(".")[2]
            pages[f"{cls}.{name}"] = entry.docname, entry.node_id
    return pages


def link_class(app, env, node, content):
    """A link of a class's name in single backticks, wherever the class is from."""
    name = node["reftarget"]
    if node.get("reftype") != "obj" or not name[:1].isupper():
        return None
    page = pages_of_names(env).get(name)
    return page and make_refnode(app.builder, node["refdoc"], *page, content)


def let_names_break(app, page, template, context, document):
    """Browsers may break a name in a table before its words, and after an underscore or a dot."""

    def words(match):
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[_.(=])(?=\w)", "<wbr>", match[0])

    def cell(match):
        return re.sub(r'(?<=<span class="pre">)[^<]+', words, match[0])

    if "body" in context:
        context["body"] = re.sub(r"<td>.*?</td>", cell, context["body"], flags=re.DOTALL)


def setup(app):
    app.add_post_transform(LinkNames)
    app.connect("html-page-context", let_names_break)
    app.connect("missing-reference", link_class)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Math as MathML, written when the site is built.

Every browser draws MathML by itself, so that pages need no script and no network; MathJax from a
local copy would add several megabytes of scripts to the site.
"""

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.util.math import get_node_equation_number


def visit_inline(self, node):
    self.body.append(convert(node.astext()))
    raise SkipNode


def visit_block(self, node):
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})</span>')
    self.body.append(convert(node.astext(), display="block"))
    self.body.append("</div>\n")
    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

r"""Questions that the reader answers before the page does.

    :::{predict} The width $d_k$ grows from 4 to 64. How much does a typical score $q \cdot k$ grow?
    :right: 2

    16-fold
    : That is the *variance*. A typical size is its root.

    4-fold
    : The variance grows 16-fold, and a typical size is its root.
    :::

Each answer unfolds and says why it is right or tempting; ``right`` counts from 1. Without a
definition list the content is the one answer. Nothing needs a script. For paper,

    ```{answers}
    ```

repeats all questions with their right answers, page by page.
"""

from collections.abc import Iterator

from docutils import nodes
from docutils.parsers.rst import directives
from folds import Fold, FoldLine
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

VERDICTS = {True: "right", False: "wrong"}


class Prediction(nodes.General, nodes.Element):
    """One question: a paragraph, then a fold for each answer."""


class AllAnswers(nodes.General, nodes.Element):
    """The place where all questions come again with their answers."""


def fold(line: list[nodes.Node], content: list[nodes.Node], kind: str) -> Fold:
    """Make one answer that unfolds."""
    return Fold("", FoldLine("", "", *line), *content, classes=["answer", kind])


class Predict(SphinxDirective):
    """Put one question on the page."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = {"right": directives.positive_int}  # noqa: RUF012 - docutils asks for it

    def run(self) -> list[nodes.Node]:
        """Parse question and answers; what does not fit together is a warning here."""
        self.assert_has_content()
        content = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, content)
        choices = [item for found in content.findall(nodes.definition_list) for item in found]
        right = self.options.get("right")
        if bool(choices) != (right is not None) or (right or 0) > len(choices):
            raise self.error(f"predict: {len(choices)} answers to choose from, but right: {right}")
        box = Prediction(ids=[f"predict-{self.env.new_serialno('predict') + 1}"])
        asked, messages = self.parse_inline(self.arguments[0])
        label = nodes.inline("", "Predict", classes=["label"])
        box += [nodes.paragraph("", "", label, nodes.Text(" "), *asked), *messages]
        for count, choice in enumerate(choices, start=1):
            term, definition = choice[0].children, choice[-1].children
            box += fold(term, definition, VERDICTS[count == right])
        if not choices:
            box += fold([nodes.Text("Answer")], content.children, "right")
        return [box]


def open_box(translator, node: nodes.Element) -> None:
    """Begin the box of a question."""
    attributes = {"role": "group", "aria-label": "A question to answer before you read on"}
    translator.body.append(translator.starttag(node, "div", CLASS="predict", **attributes))


def close_box(translator, _node: nodes.Element) -> None:
    """End it."""
    translator.body.append("</div>\n")


def pass_by(_translator, _node: nodes.Element) -> None:
    """Print what is inside."""


class Answers(SphinxDirective):
    """Say where all answers stand."""

    def run(self) -> list[nodes.Node]:
        """Leave a mark that is filled once all pages are read."""
        answer_pages(self.env).add(self.env.docname)
        return [AllAnswers()]


def answer_pages(env: BuildEnvironment) -> set[str]:
    """Give the pages that show all answers."""
    if not hasattr(env, "answer_pages"):
        env.answer_pages = set()
    return env.answer_pages


def forget(_app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Drop a page that is read again."""
    answer_pages(env).discard(docname)


def merge(_app: Sphinx, env: BuildEnvironment, _docnames: set[str], other) -> None:
    """Take over what another process has read."""
    answer_pages(env).update(answer_pages(other))


def write_again(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Have the answers written anew after any page was read."""
    return sorted(answer_pages(env))


class FillAnswers(SphinxPostTransform):
    """Puts the questions and right answers of all pages into their place."""

    default_priority = 5  # before references are resolved

    def run(self, **_kwargs: object) -> None:
        """Fill each mark of this page."""
        for place in list(self.document.findall(AllAnswers)):
            place.replace_self(list(self.all_pages()))

    def all_pages(self) -> Iterator[nodes.Node]:
        """Give a title and a list for each page with questions, in the outline's order."""
        for page in self.app.config.external_site_map:
            if page == self.env.docname or page not in self.env.all_docs:
                continue
            boxes = list(self.env.get_doctree(page).findall(Prediction))
            if boxes:
                yield nodes.rubric("", self.env.titles[page].astext())
                yield nodes.enumerated_list("", *(self.item(page, box) for box in boxes))

    def item(self, page: str, box: Prediction) -> nodes.list_item:
        """Repeat one question with its right answer, and link to it."""
        # Not by `copy`, which would copy the whole page along, as a node knows its parents.
        asked = box[0].deepcopy()
        asked.pop(0)  # the label
        where = (self.app.builder, self.env.docname, page, box["ids"][0])
        asked += [nodes.Text(" "), make_refnode(*where, nodes.Text("↩"))]
        asked[-1]["reftitle"] = "to the question"
        (right,) = (fold for fold in box.findall(Fold) if "right" in fold["classes"])
        line, *content = (part.deepcopy() for part in right.children)
        said = nodes.paragraph("", "", nodes.strong("", "", *line.children))
        item = nodes.list_item("", asked, *([said] if len(box) > 2 else []), *content)
        for reference in item.findall(addnodes.pending_xref):
            reference["refdoc"] = self.env.docname
        for element in item.findall(nodes.Element):
            element["ids"] = []
        return item


def setup(app: Sphinx) -> dict[str, bool]:
    """Register question and answers."""
    app.setup_extension("folds")
    plain = dict.fromkeys(("latex", "text", "man", "texinfo"), (pass_by, pass_by))
    app.add_node(Prediction, html=(open_box, close_box), **plain)
    app.add_directive("predict", Predict)
    app.add_directive("answers", Answers)
    app.add_post_transform(FillAnswers)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-updated", write_again)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

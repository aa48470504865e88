"""How the site is built: ``make docs``, or ``sphinx-build -W -b html docs out/site``.

The pages are plain Markdown, to be read in the repository as well; what only the site needs is here.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from sphinx.util.nodes import make_refnode  # noqa: E402

import earnshaw  # noqa: E402
from earnshaw.plots.style import COLOURS  # noqa: E402

project = "earnshaw"
author = "the earnshaw authors"
version = release = earnshaw.__version__
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_copybutton", "commands", "docstrings", "mathml", "public"]
exclude_patterns = ["_ext", "_static", "**/.ipynb_checkpoints"]
suppress_warnings = ["config.cache"]

html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # the tests run the notebooks; the site shows what they stored

copybutton_prompt_text = "$ "  # a console block: what is typed, without what is printed
copybutton_exclude = ".linenos, .gp, .go"

autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!earnshaw\.).*"),  # types of JAX and NumPy: there is no network to look them up
    ("py:.*", r"earnshaw\.\w+\.\w+(\..*)?"),  # what lives in a module of a package and is not a public name
]

# Notebooks are written and run in examples/; Sphinx reads pages below this folder only.
for old in (HERE / "notebooks").glob("*.ipynb"):
    old.unlink()
for notebook in (HERE.parent / "examples").glob("*.ipynb"):
    shutil.copy2(notebook, HERE / "notebooks")

# The sidebar.
NOTEBOOKS = [f"notebooks/{path.stem}" for path in sorted((HERE / "notebooks").glob("*.ipynb"))]
API = [
    "problems",
    "landscapes",
    "potentials",
    "starts",
    "descent",
    "symmetry",
    "proof",
    "experiments",
    "plots",
    "web",
    "numerics",
]
SIDEBAR = {
    "Start": ["start", "The idea <idea>", "gallery"],
    "Tutorials": ["find-and-prove", "own-teacher", "own-activation", "own-optimizer", "own-data"],
    **({"Notebooks": NOTEBOOKS} if NOTEBOOKS else {}),
    "Theory": [
        "One idea <theory>",
        "Landscape <landscape>",
        "Potentials <potentials>",
        "Certificates <certificates>",
        "Absence <absence>",
        "Symmetry <symmetry>",
        "Every k <every-k>",
        "Families <families>",
        "Follow <follow>",
        "More neurons <over-parameterised>",
        "Convolutional network <convnet>",
        "Logistic regression <logistic>",
        "charges",
    ],
    "Reference": [
        "Commands <commands>",
        "explore",
        "sweeps",
        "Optimisers <optimizers>",
        "results",
        "full-runs",
        "Reproduce <reproduce>",
        "Errata <errata>",
        "performance",
        "Many machines <cluster>",
        "architecture",
        "glossary",
        "What is stable <stability>",
        "What changed <changelog>",
        "coming",
    ],
    "API": ["Overview <api>", *(f"api/{name}" for name in [*API, "store", "errors"])],
}

html_theme = "furo"
html_title = f"earnshaw {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = html_show_sphinx = html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": COLOURS[0], "color-brand-content": COLOURS[0]},
    "dark_css_variables": {"color-brand-primary": COLOURS[4], "color-brand-content": COLOURS[4]},
}


def title(page: str) -> str:
    """Return what a page is called in the sidebar."""
    for entry in (entry for pages in SIDEBAR.values() for entry in pages):
        if entry.endswith(f" <{page}>"):
            return entry.removesuffix(f" <{page}>")
    return (HERE / f"{page}.md").read_text().partition("\n")[0].lstrip("# ")


def adapt(app, docname: str, source: list[str]) -> None:
    """Say titles where a page says file names, and append the contents to the first page, where they make the sidebar."""
    if docname in NOTEBOOKS:
        source[0] = source[0].replace("](../docs/", "](../")
    source[0] = re.sub(r"\]\(\.\./examples/(\w+)\.ipynb\)", r"](notebooks/\1.ipynb)", source[0])
    source[0] = re.sub(r"\[([\w-]+)\.md\](?=\()", lambda found: f"[{title(found[1])}]", source[0])
    if docname == "index":
        for caption, pages in SIDEBAR.items():
            source[0] += "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])


def find_public(app, env, node, contnode):
    """Lead a reference to earnshaw.package.module.Name to where Name is documented: under its public name."""
    target = node.get("reftarget", "")
    if node.get("refdomain") == "py" and target.startswith("earnshaw."):
        name = target.rpartition(".")[2]
        objects = env.domains.python_domain.objects
        for public in (f"earnshaw.{name}", f"earnshaw.{target.split('.')[1]}.{name}"):
            if public in objects:
                page, anchor = objects[public].docname, objects[public].node_id
                return make_refnode(app.builder, node["refdoc"], page, anchor, contnode, public)
    return None


def setup(app) -> None:
    """Connect the hooks."""
    app.connect("source-read", adapt)
    app.connect("missing-reference", find_public)

"""LaTeX to MathML, on top of latex2mathml, which passes over what it does not know: here that raises ValueError."""

from __future__ import annotations

import re
import unicodedata
from xml.etree.ElementTree import Element, fromstring, tostring

from latex2mathml.converter import convert

ENVIRONMENTS = {"align*", "aligned", "cases", "matrix", "pmatrix", "bmatrix", "split"}
ALPHABETS = {"double-struck": "DOUBLE-STRUCK", "fraktur": "FRAKTUR", "script": "SCRIPT"}
SCRIPTS = ("msup", "msub", "msubsup")
PAIRS = {")": "(", "]": "[", "}": "{", "|": "|"}
THIN = "0.167em"


def render(tex: str, display: bool) -> str:
    """Return a formula as MathML that looks right in today's browsers."""
    if unknown := set(re.findall(r"\\begin\{([^}]*)\}", tex)) - ENVIRONMENTS:
        raise ValueError(f"unknown environment {', '.join(sorted(unknown))}")
    try:
        found = convert(tex.replace("{aligned}", "{align*}"), display="block" if display else "inline")
        tree = fromstring(re.sub(r"&(?![#\w]+;)", "&amp;", found))
    except Exception as error:  # latex2mathml's errors have no common parent, and most of them no text
        raise ValueError(f"{type(error).__name__} {error}".strip()) from error
    _repair(tree)
    return tostring(tree, encoding="unicode")


def _repair(element: Element) -> None:
    """Refuse what was passed over, and put right what browsers show badly, here and below."""
    text = element.text or ""
    element.tag = element.tag.rpartition("}")[2]  # no namespace: the page is HTML
    if text.startswith("\\") or (element.tag == "mi" and text in ("{", "}", "&", "$")):
        raise ValueError(f"unknown or stray {text!r}")
    if alphabet := ALPHABETS.get(element.get("mathvariant", "")):
        element.text = _letter(text, alphabet)
        del element.attrib["mathvariant"]
    if text in ("|", "/"):  # an absolute value or a quotient, not a relation
        element.attrib |= {"lspace": "0", "rspace": "0"}
    if element.get("width") == "negativethinmathspace":
        element.set("width", "-" + THIN)
    for child in element:
        _repair(child)
    position = 0
    while position < len(element):
        child = element[position]
        base = child[0] if child.tag in SCRIPTS else child
        if base is not child and base.get("minsize"):
            position = _wrap(element, position)
        elif base.tag in ("mi", "mo") and len(base.text or "") > 1 and (base.text or "").isalpha():
            _space_function(element, position, base)
        elif child.text in ("−", "-", "+") and (
            not position or element[position - 1].text in ("=", "≤", "≥", "<", ">")
        ):
            child.attrib |= {"form": "prefix", "lspace": "0", "rspace": "0"}
        position += 1


def _letter(letter: str, alphabet: str) -> str:
    """Return the letter R of the blackboard, say; browsers ignore ``mathvariant`` for these alphabets."""
    rest = f"{'CAPITAL' if letter.isupper() else 'SMALL'} {letter.upper()}"
    for prefix in (f"MATHEMATICAL {alphabet}", alphabet.replace("FRAKTUR", "BLACK-LETTER")):
        try:
            return unicodedata.lookup(f"{prefix} {rest}")
        except KeyError:
            continue
    raise ValueError(f"there is no {alphabet.lower()} {letter!r}")


def _wrap(row: Element, position: int) -> int:
    """Make everything from the opening bracket on the base of a script: a large bracket grows only inside a row."""
    script, depth, begin = row[position], 1, position
    closing = script[0].text or ""
    while depth:
        begin -= 1
        if begin < 0:
            raise ValueError(f"no opening bracket for {closing!r}")
        if row[begin].get("minsize"):
            depth += {PAIRS.get(closing): -1, closing: 1}.get(row[begin].text, 0)
    base = Element("mrow")
    base.extend([*row[begin:position], script[0]])
    script[0] = base
    row[begin : position + 1] = [script]
    return begin


def _space_function(row: Element, position: int, name: Element) -> None:
    """Give sin, log, max the space that TeX gives them, and max and min their limits below in a displayed formula."""
    before = row[position - 1] if position else None
    after = row[position + 1].text if position + 1 < len(row) else "("
    factor = before is not None and (before.tag not in ("mo", "mspace") or before.text in (")", "]", "|"))
    name.tag = "mo"
    name.attrib |= {"form": "prefix", "movablelimits": "true", "lspace": THIN if factor else "0"}
    name.set("rspace", "0" if after in ("(", "[", "{", ")", "]", ",") else THIN)
    if row[position].tag == "msub" and name.text in ("max", "min", "sup", "inf", "lim"):
        row[position].tag = "munder"

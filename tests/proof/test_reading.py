"""The reader, the hash, and the documentation agree on what a certificate is."""

import json
from pathlib import Path

import pytest

from earnshaw.proof.explanation import KINDS as WORDS
from earnshaw.proof.trusted import CHECKERS, convexity
from earnshaw.proof.trusted.reading import (
    FORMAT,
    KINDS,
    LARGE_BYTES,
    MAX_BYTES,
    MAX_PAIRS,
    MAX_PRODUCTS,
    OBJECTIVE,
    Rejected,
    parse,
    seal,
)

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "certificates.md"


def test_a_document_is_read_back_bit_for_bit(minimum_proof):
    document = parse(minimum_proof.main.to_text().encode(), 1.0)
    assert document.kind == "minimum"
    assert document.center == minimum_proof.point.weights.tolist()
    assert document.real("claims.F_ge") == minimum_proof.claim.objective_ge
    assert document.numbers["claims.lambda_ext_ge"] == minimum_proof.claim.lambda_ext_ge
    assert document.precision == 128


def test_a_missing_number_is_rejected_when_asked_for(forger):
    document = parse(forger.forged("minimum", claims__lambda_ext_ge=None, hint__shift_ext=None), 1.0)
    with pytest.raises(Rejected, match="null"):
        document.real("claims.lambda_ext_ge")


def test_the_hash_ignores_order_and_spaces_but_nothing_else(forger):
    document = json.loads(forger.forged("minimum"))
    backwards = dict(reversed(document.items()))
    assert parse(json.dumps(backwards, indent=3).encode(), 1.0).kind == "minimum"
    assert seal(document) == seal(backwards) == document["sha256"]
    assert seal({**document, "meta": {"producer": "other"}}) != document["sha256"]
    assert seal({**document, "sha256": "anything"}) == document["sha256"]


def test_the_documentation_names_every_key():
    text = DOCUMENT.read_text()
    assert FORMAT in text
    assert OBJECTIVE in text
    assert MAX_PAIRS == 2**25
    assert MAX_PRODUCTS == 2**41
    assert "2^{25}" in text
    assert "2^{41}" in text
    assert MAX_BYTES == 1 << 20
    assert "1 MiB" in text
    for kind, sections in KINDS.items():
        assert f"`{kind}`" in text
        for section, keys in sections.items():
            assert f"`{section}`" in text, section
            for key in keys or ():
                assert f"`{key}`" in text, key
    assert "`convexity`" in text
    assert LARGE_BYTES == 32 << 20
    assert "32 MiB" in text
    for key in convexity.CLAIMS:
        assert f"`{key}`" in text, key
    for name in convexity.ACTIVATIONS:
        assert f"data/{name}" in text


def test_every_kind_has_a_checker_and_words():
    assert set(CHECKERS) == set(WORDS)

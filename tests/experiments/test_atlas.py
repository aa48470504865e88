"""The atlas: what is proved is checked and kept, what is there is not computed again, damage is named."""

import json

import numpy as np
import pytest

from earnshaw.errors import InputError, Interrupted
from earnshaw.experiments import atlas as module
from earnshaw.experiments import build_atlas, family_spectrum, load_atlas
from earnshaw.landscapes import landscape
from earnshaw.problems import NamedFamily, TwoLayer
from earnshaw.proof import check_lines


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("atlas")
    return build_atlas(folder, ["II", "B"], range(6, 10), workers=1)


def test_every_size_is_proved_as_what_it_is(built):
    kinds = {name: [(point.k, point.n, point.kind) for point in points] for name, points in built.points.items()}
    assert kinds["II"] == [(k, k, "minimum") for k in range(6, 10)]
    assert kinds["B"] == [(6, 7, "saddle"), *((k, k + 1, "minimum") for k in range(7, 10))]
    point = built.points["II"][2]
    assert point.objective_ge == pytest.approx(0.021508, abs=1e-6)
    assert point.lambda_ge == pytest.approx(0.02135, abs=1e-5)
    assert built.points["B"][0].lambda_ge == pytest.approx(-0.0060, abs=1e-4)
    assert built.points["B"][0].unique_radius is None


def test_its_files_are_checked_line_by_line(built):
    results = [result for name in ("II", "B") for result in check_lines(built.folder / f"{name}.jsonl")]
    assert [result.verified for result in results] == [True] * 8
    assert results[0].file.endswith("II.jsonl:1")
    assert next(iter(check_lines(built.folder / "nothing.jsonl"))).reason.startswith("cannot read the file")


def test_it_resumes_and_depends_on_nothing_else(built, tmp_path, monkeypatch):
    """Built in another order, in parts and by processes, the bytes are the same; what is there is not proved again."""
    build_atlas(tmp_path, ["II"], [9, 7], workers=1)
    build_atlas(tmp_path, ["B", "II"], range(6, 10), workers=2)
    for name in ("II.jsonl", "B.jsonl"):
        assert (tmp_path / name).read_bytes() == (built.folder / name).read_bytes()
    monkeypatch.setattr(module, "prove_families", None)
    again = build_atlas(tmp_path, ["II"], range(6, 9))
    assert [point.k for point in again.points["II"]] == [6, 7, 8, 9]
    assert [point.report() for point in load_atlas(tmp_path)] == [
        point.report() for name in ("B", "II") for point in built.points[name]
    ]


def test_damage_is_named_and_kept(built, tmp_path):
    lines = (built.folder / "II.jsonl").read_text().splitlines()
    other = (built.folder / "B.jsonl").read_text().splitlines()[1]
    for bad in ("{", "[]", other, lines[0], "{}"):
        path = tmp_path / "II.jsonl"
        path.write_text("\n".join([lines[0], bad]) + "\n")
        with pytest.raises(InputError, match=r"line 2 of .*II\.jsonl is no certificate of family II"):
            load_atlas(tmp_path)
        assert path.read_text().splitlines()[1] == bad
    forged = json.loads(lines[1])
    forged["claims"]["F_ge"] = (1.0).hex()
    path.write_text(json.dumps(forged) + "\n")
    assert [result.verified for result in check_lines(path)] == [False]


def test_a_time_limit_keeps_what_is_proved(tmp_path):
    with pytest.raises(Interrupted, match="stopped at 1 of 2 points"):
        build_atlas(tmp_path, ["II", "A"], [7], workers=1, time_limit=1e-9)
    assert len([*load_atlas(tmp_path)]) == 1
    assert len([*build_atlas(tmp_path, ["II", "A"], [7], workers=1, time_limit=3600)]) == 2


def test_bad_wishes_are_refused_before_anything_is_made(tmp_path):
    out = tmp_path / "none"
    for families, sizes, words in (
        (["Q"], [7], "no family"),
        (["II"], [3, 7], "from 4"),
        ([], [7], "at least one family"),
        (["II"], [], "at least one family"),
    ):
        with pytest.raises(InputError, match=words):
            build_atlas(out, families, sizes)
    with pytest.raises(InputError, match="workers"):
        build_atlas(out, ["II"], [7], workers=0)
    with pytest.raises(InputError, match="is no atlas"):
        load_atlas(tmp_path)
    (tmp_path / "II.jsonl").write_bytes(b"")
    with pytest.raises(InputError, match="is empty"):
        load_atlas(tmp_path)
    assert not out.exists()


def test_what_is_not_proved_is_listed_with_the_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "check", lambda certificate: type("No", (), {"verified": False, "reason": "no"})())
    atlas = build_atlas(tmp_path, ["A"], [7], workers=1)
    assert [(point.kind, point.reason) for point in atlas] == [(None, "the checker rejects it: no")]
    assert not (tmp_path / "A.jsonl").exists()


def test_a_family_that_is_lost_on_the_way_is_listed_and_the_others_are_proved(tmp_path, monkeypatch):
    """Continuation that fails at one size is a reason there, not the end of the work."""
    follow = NamedFamily.follow

    def lost(family, k, correct, known=None):
        if k == 8:
            raise InputError("family A is lost on the way to k = 8; try another k")
        return follow(family, k, correct, known)

    monkeypatch.setattr(NamedFamily, "follow", lost)
    atlas = build_atlas(tmp_path, ["A"], [7, 8, 9], workers=1)
    assert [point.kind for point in atlas] == ["minimum", None, "minimum"]
    assert "lost on the way" in atlas.points["A"][1].reason
    assert [point.k for point in load_atlas(tmp_path)] == [7, 9]


def test_spectra_are_those_of_the_full_hessian():
    """Also at the global minimum, where the paper's numbers are known: 1/4 -+ 1/(2 pi), with their multiplicities."""
    for family, k in (("global", 6), ("II", 6), ("B", 6), ("M:4", 7)):
        lines = family_spectrum(family, k)
        values = np.repeat([line.eigenvalue for line in lines], [line.multiplicity for line in lines])
        pattern, numbers = (None, None) if family == "global" else module.named(family, k)
        weights = np.eye(k) if pattern is None else pattern.weights(numbers)
        full = np.linalg.eigvalsh(
            np.asarray(landscape(TwoLayer(np.eye(k), students=len(weights))).hessian(weights)).reshape(weights.size, -1)
        )
        np.testing.assert_allclose(np.sort(values), full, atol=1e-12)
    low = [line for line in family_spectrum("global", 20) if abs(line.eigenvalue - (0.25 - 0.5 / np.pi)) < 1e-12]
    assert sum(line.multiplicity for line in low) == 20 * 19 // 2
    high = [line for line in family_spectrum("global", 20) if abs(line.eigenvalue - (0.25 + 0.5 / np.pi)) < 1e-12]
    assert sum(line.multiplicity for line in high) == 20 * 17 // 2
    with pytest.raises(InputError, match="at least 2"):
        family_spectrum("global", 1)


def test_blocks_are_drawn_as_they_are(built, tmp_path):
    """The columns of the figure: sizes, losses, radii, and the smallest eigenvalue of every block."""
    columns = built.columns("B")
    assert columns["k"].tolist() == [6, 7, 8, 9]
    assert np.isnan(columns["far"]).tolist() == [True, False, False, False]
    least = built.least_eigenvalues("II", 10)
    assert set(least) == {"trivial", "standard of group 0", "(q-2,1,1) of group 0", "(q-2,2) of group 0"}
    assert min(values[0] for _, values in least.values()) == pytest.approx(0.0047003547, abs=1e-9)

"""``prove`` beyond points of a sweep, and ``check`` and ``explain`` on whatever a user may give them."""

import json
from pathlib import Path

import numpy as np
import pytest

import earnshaw as es

MINIMUM = np.full((6, 6), -0.0504134)
np.fill_diagonal(MINIMUM, 0.98670382)
MINIMUM[:-1, -1], MINIMUM[-1, :-1], MINIMUM[-1, -1] = 0.30801099, 0.22451581, -0.60151192


def test_a_convolutional_network_of_ones_own_is_proved(earnshaw, tmp_path):
    np.save("w.npy", [1.0, 2.0, -0.5])
    np.save("a.npy", [1.0, -0.4, 0.3, 0.2])
    code, out, _ = earnshaw("prove", "--filter", "w.npy", "--outputs", "a.npy", "--out", "certs", "--json")
    row = json.loads(out)
    assert code == 0
    assert list(row)[:6] == ["source", "index", "p", "k", "verdict", "reason"]
    assert row["verdict"] == "PROVED_MINIMUM"
    assert row["margin"][0] > 0
    assert row["certificate"].startswith("certs/w-p3-k4-")
    assert es.check(row["certificate"]).verified
    code, out, _ = earnshaw("prove", "--filter", "w.npy", "--outputs", "a.npy", "--out", "certs")
    assert code == 0
    assert "loss of the spurious point >= 1.28186" in out
    assert len(list((tmp_path / "certs").iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--out", "certs"), "one of them"),
        (("points.npz", "--filter", "w.npy", "--outputs", "w.npy", "--out", "certs"), "one of them"),
        (("--filter", "w.npy", "--out", "certs"), "belong together"),
        (("--outputs", "w.npy", "--out", "certs"), "belong together"),
        (("--filter", "one.npy", "--outputs", "w.npy", "--out", "certs"), "give p >= 2"),
        (("--filter", "w.npy", "--outputs", "none.npy", "--out", "certs"), "cannot read the output weights none.npy"),
        (("--filter", "w.npy", "--outputs", "w.npy", "--paper-chain"), "about ReLU"),
        (("points.npz",), "--out DIR"),
        (("points.npz", "--out", "w.npy"), "choose another --out"),
    ],
)
def test_each_mistake_is_one_sentence_and_exit_code_2(earnshaw, arguments, says):
    np.savez("points.npz", weights=MINIMUM)
    np.save("w.npy", [1.0, 2.0])
    np.save("one.npy", [1.0])
    code, out, err = earnshaw("prove", *arguments)
    assert code == 2
    assert not out
    assert says in err
    assert err.count("\n") == 1


def test_the_papers_own_chain(earnshaw, tmp_path):
    np.savez("points.npz", weights=MINIMUM)
    np.savez("rough.npz", weights=MINIMUM + 1e-3)
    code, out, err = earnshaw("prove", "points.npz", "--paper-chain")
    assert code == 0
    assert "the paper's chain holds" in out
    assert "as printed" in out
    assert "not a proof" in err
    code, out, _ = earnshaw("prove", "points.npz", "rough.npz", "--paper-chain", "--json")
    first, second = map(json.loads, out.splitlines())
    assert code == 1
    assert (first["holds"], second["holds"]) == (True, False)
    assert not first["is_proof"]
    assert 0.0046 < first["eigenvalue_corrected"] <= first["eigenvalue_printed"]
    assert {"gradient_le", "radius", "objective_ge", "third_order", "alpha", "n", "k", "d"} <= set(first)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["points.npz", "rough.npz"]


def test_checking_folders_of_every_sort(earnshaw, tmp_path):
    proof = es.prove(es.TwoLayer(np.eye(6)), MINIMUM)
    run = tmp_path / "run"
    proof.save_all(run / "certificates", "k6")
    (run / "manifest.json").write_text("{}")
    (run / "k6-n6.json").write_text('{"k": 6}')  # a summary is no certificate
    code, out, _ = earnshaw("check", "run")
    assert (code, out.count("VERIFIED")) == (0, 3)
    (run / "certificates" / "k6-basin.json").write_text("{}")
    code, out, _ = earnshaw("check", "run", "run/certificates/k6-minimum.json", "absent.json")
    assert (code, out.count("VERIFIED"), out.count("REJECTED")) == (1, 3, 2)
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "manifest.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    for folder in ("bare", "empty"):
        code, out, err = earnshaw("check", folder)
        assert (code, out) == (2, "")
        assert f"the folder {folder} holds no certificates" in err
    code, out, _ = earnshaw("check", "empty", "run/certificates/k6-minimum.json")
    assert (code, out.count("VERIFIED")) == (2, 1)


def test_explaining_several(earnshaw, tmp_path):
    es.prove(es.TwoLayer(np.eye(6)), MINIMUM, robust=False).save_all(tmp_path / "run" / "certificates", "k6")
    es.prove(es.ConvNet([1.0, 2.0], [1.0, -0.5])).save(tmp_path / "conv.json")
    code, out, _ = earnshaw("explain", "run", "conv.json")
    assert code == 0
    assert out.count(r"\begin{theorem}") == 3
    assert "# run/certificates/k6-basin.json" in out
    code, out, _ = earnshaw("explain", "conv.json", "--latex")
    assert out.startswith(r"\begin{theorem}")
    assert earnshaw("explain", "run", "absent.json")[0] == 2
    (tmp_path / "run" / "certificates" / "odd.json").write_text('{"kind": "theorem"}')
    code, out, _ = earnshaw("explain", "run/certificates/odd.json")
    assert code == 1
    assert "REJECTED unknown kind 'theorem'" in out


def test_every_n_is_proved_or_refused_with_the_way_down(earnshaw):
    np.savez(
        "tiny.npz", weights=[[0.6334, 1.1758], [-0.3222, 0.0], [0.6334, -1.1758]], teacher=[[1, 0], [0, 1], [0, -1]]
    )
    np.savez("points.npz", weights=MINIMUM)
    code, out, _ = earnshaw("prove", "tiny.npz", "--every-n", "--out", "certs", "--json")
    row = json.loads(out)
    assert (code, row["split_neuron"]) == (0, 1)
    assert row["split_ge"] > 0.347
    assert [part["stable"] for part in row["splitting"]] == [False, True]
    held = str(next(path for path in Path("certs").iterdir() if path.name.endswith("every_n.json")))
    code, out, _ = earnshaw("check", held)
    assert (code, "VERIFIED every n" in out) == (0, True)
    code, out, _ = earnshaw("explain", held)
    assert "for every n' >= 3" in out
    code, out, _ = earnshaw("prove", held, "--every-n", "--out", "again")  # a certificate is a source, too
    assert code == 0
    code, out, err = earnshaw("prove", "points.npz", "--every-n", "--out", "certs")
    assert code == 1
    assert "a way down at neurons 0-4 (curvature -0.1182), neuron 5 (curvature -0.09039)" in out
    assert "not proved that every n has a spurious minimum" in err
    code, _, err = earnshaw("prove", "points.npz", "--every-n", "--paper-chain")
    assert (code, "leave out" in err) == (2, True)
    Path("other.json").write_text('{"kind": "minimum"}')
    code, _, err = earnshaw("prove", "other.json", "--out", "certs")
    assert (code, "no certificate about a point" in err) == (2, True)


def test_a_family_is_proved_for_every_k_or_refused_with_the_block_that_fails(earnshaw, tmp_path):
    code, out, _ = earnshaw(
        "prove", "--family", "A", "--every-k", "-k", 37, "--out", "all", "--figure", "course", "--json"
    )
    row = json.loads(out)
    assert code == 0
    assert (row["verdict"], row["first"], row["from"]) == ("PROVED_EVERY_K", 37, 40)
    assert row["lambda_tail_ge"] > 0.048
    assert (tmp_path / "course.png").stat().st_size > 10_000
    assert "VERIFIED every k: for every k >= 37" in earnshaw("check", "all")[1]
    code, out, _ = earnshaw("prove", "--family", "II", "--every-k", "-k", 5, "--out", "all")
    assert code == 1
    assert "k = 5: the part standard of group 0 is not positive definite" in out
    for wrong, says in {
        ("--every-k",): "--every-k is about a family",
        ("--family", "C", "--every-k"): "is not proved for every k; give II, A, B",
        ("--family", "A", "--every-k", "-k", "6..8"): "the first k",
        ("--family", "A", "--every-k", "--precision", "200"): "leave out --precision",
    }.items():
        code, out, err = earnshaw("prove", *wrong, "--out", "x")
        assert (code, out) == (2, "")
        assert says in err


def test_where_families_turn(earnshaw):
    code, out, _ = earnshaw("atlas", "turns", "--family", "A", "--json")
    row = json.loads(out)
    assert (code, row["family"], row["first"], row["block"]) == (0, "A", 6, "(q-2,1,1) of group 0")
    assert 5.7638127348 < row["k_ge"] < row["k_le"] < 5.7638127350
    code, out, _ = earnshaw("atlas", "turns", "--family", "A")
    assert (code, "5.76381273480" in out, "5.76381273498" in out) == (0, True, True)
    code, _, err = earnshaw("atlas", "turns", "--family", "Z")
    assert (code, "Z" in err) == (2, True)

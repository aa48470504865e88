import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.experiments.data import looks_standard_normal, read_data
from earnshaw.landscapes.rows import Rows
from earnshaw.problems.logistic import check_neurons

X = np.random.default_rng(0).normal(size=(50, 3))
Y = np.random.default_rng(1).random(50)


def write_csv(path, rows, header=""):
    path.write_text(header + "\n".join(",".join(str(value) for value in row) for row in rows) + "\n")
    return path


@pytest.fixture
def table():
    return [[*map(repr, map(float, x)), repr(float(y))] for x, y in zip(X, Y, strict=True)]


def test_three_kinds_of_files_hold_the_same_rows(tmp_path, table):
    np.savez(tmp_path / "d.npz", x=X, y=Y)
    np.savez(tmp_path / "column.npz", x=X, y=Y[:, None])
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    found = [
        read_data(tmp_path / "d.npz"),
        read_data(tmp_path / "column.npz"),
        read_data(tmp_path / "x.npy", tmp_path / "y.npy"),
        read_data(write_csv(tmp_path / "plain.csv", table)),
        read_data(write_csv(tmp_path / "header.csv", table, "a,b,c,label\n")),
    ]
    for rows in found:
        assert np.array_equal(rows.x, X)
        assert np.array_equal(rows.y, Y)
    assert isinstance(found[2].x, np.memmap)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t[6].__setitem__(1, ""), "line 7, column 2 of .* is missing"),
        (lambda t: t[0].__setitem__(0, "nan"), "line 1, column 1 of .* is missing"),
        (lambda t: t[3].__setitem__(2, "red"), "line 4, column 3 of .* is 'red'"),
        (lambda t: t[5].pop(), "line 6 of .* has 3 columns where the first has 4"),
        (lambda t: [row.__delitem__(slice(1, None)) for row in t], "has one column"),
        (lambda t: [row.__setitem__(3, "0.5") for row in t], "all labels are 0.5"),
        (lambda t: t[9].__setitem__(3, "2"), "run from .* to 2"),
        (lambda t: t.clear(), "no rows of numbers"),
    ],
)
def test_each_mistake_in_a_csv_is_one_sentence(tmp_path, table, change, message):
    change(table)
    with pytest.raises(InputError, match=message) as caught:
        read_data(write_csv(tmp_path / "bad.csv", table)).validate()
    assert "\n" not in str(caught.value)


def test_other_files_are_refused(tmp_path):
    np.savez(tmp_path / "names.npz", inputs=X, labels=Y)
    np.savez(tmp_path / "words.npz", x=np.array([["a"]]), y=Y[:1])
    np.savez(tmp_path / "short.npz", x=X, y=Y[:-1])
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "image.png").write_bytes(b"x")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    for name, message in (
        ("names.npz", "no array x and no array y"),
        ("words.npz", "not real numbers"),
        ("short.npz", "one label for each"),
        ("x.npy", "give the labels too"),
        ("image.png", "unknown ending"),
        ("bytes.csv", "not a CSV"),
        ("absent.csv", "cannot read"),
    ):
        with pytest.raises(InputError, match=message):
            read_data(tmp_path / name)


def test_a_network_that_the_data_cannot_determine_is_refused():
    check_neurons(*X.shape, 3)
    for neurons, message in ((0, "from 1"), (4, "as many neurons as dimensions")):
        with pytest.raises(InputError, match=message):
            check_neurons(*X.shape, neurons)
    with pytest.raises(InputError, match="at least 9 samples"):
        check_neurons(8, 3, 3)


def test_inputs_that_are_not_standard_normal_are_noticed():
    assert looks_standard_normal(Rows(X, Y))
    many = np.random.default_rng(2).normal(size=(20_000, 3))
    labels = np.zeros(20_000)
    assert looks_standard_normal(Rows(many, labels))
    for wrong in (many + 1, 2 * many, many[:, [0, 0, 1]]):
        assert not looks_standard_normal(Rows(wrong, labels))

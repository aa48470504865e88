import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.landscapes.rows import Rows


def data(n=1000, d=3):
    generator = np.random.default_rng(0)
    return generator.normal(size=(n, d)), generator.random(n)


def sums(x, y):
    return (x * y[:, None]).sum(0), np.array(len(y))


def test_sums_do_not_depend_on_threads_at_all_and_on_chunks_by_rounding():
    x, y = data()
    expected = (x * y[:, None]).sum(0)
    for chunk in (1, 7, 64, 999, 1000, 5000):
        one, two, five = (Rows(x, y, chunk, threads).total(sums) for threads in (1, 2, 5))
        assert np.array_equal(one[0], two[0])
        assert np.array_equal(one[0], five[0])
        np.testing.assert_allclose(one[0], expected, rtol=1e-12)
        assert one[1] == 1000


def test_mapped_files_of_another_type(tmp_path):
    x, y = data()
    np.save(tmp_path / "x.npy", x.astype(np.float32))
    np.save(tmp_path / "y.npy", (y > 0.5))
    rows = Rows.open(tmp_path / "x.npy", tmp_path / "y.npy", chunk=300)
    assert isinstance(rows.x, np.memmap)
    assert [(a.dtype, b.dtype, len(a)) for a, b in rows.chunks()] == [
        (np.float64, np.float64, m) for m in (300, 300, 300, 100)
    ]
    np.testing.assert_allclose(np.concatenate([a for a, _ in rows.chunks()]), x, rtol=1e-6)
    assert len(rows.part(10, 30)) == 20
    rows.validate()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y: x.__setitem__((17, 1), np.nan), "inputs have a missing or infinite value in row 17"),
        (lambda x, y: y.__setitem__(999, np.inf), "labels have a missing or infinite value in row 999"),
        (lambda x, y: y.__setitem__(3, 1.5), "run from .* to 1.5"),
        (lambda x, y: y.fill(0.25), "all labels are 0.25"),
        (lambda x, y: x.__setitem__((3, 0), 1e9), "reach 1e.09 in size"),
    ],
)
def test_bad_numbers_are_found(change, message):
    x, y = data()
    change(x, y)
    with pytest.raises(InputError, match=message):
        Rows(x, y, chunk=100).validate()


def test_bad_shapes_and_files_are_refused(tmp_path):
    x, y = data(10)
    for wrong in ((x[:, 0], y), (x, y[:5]), (x[:0], y[:0])):
        with pytest.raises(InputError, match="shape"):
            Rows(*wrong)
    with pytest.raises(InputError, match="at least 1"):
        Rows(x, y, chunk=0)
    with pytest.raises(InputError, match="at least 1"):
        Rows(x, y, threads=0)
    (tmp_path / "bad.npy").write_text("no array")
    np.save(tmp_path / "words.npy", np.array(["a", "b"]))
    for name, message in (("bad.npy", "not a .npy"), ("words.npy", "real numbers"), ("absent.npy", "cannot read")):
        with pytest.raises(InputError, match=message):
            Rows.open(tmp_path / name, tmp_path / name)

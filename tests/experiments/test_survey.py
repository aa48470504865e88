"""The map of k and n: what is proved where, that only the checker's word counts, that it resumes, and how it is drawn."""

import copy
import dataclasses

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from earnshaw.errors import InputError
from earnshaw.experiments import Interrupted, Status, atlas_map, load, survey, verify, work_of
from earnshaw.plots.atlas import STATUS_COLOURS, draw_cells, map_figure
from earnshaw.problems.named import families_of
from earnshaw.proof import Certificate
from earnshaw.proof.trusted import check_bytes

SMALL = [(6, 6), (6, 7), (7, 7), (7, 8)]


def files(folder):
    """Return every file of a folder but pictures and the record of times."""
    names = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {str(name): (folder / name).read_bytes() for name in names if name.name not in ("record.json", ".lock")}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("map") / "small"
    return atlas_map(SMALL, folder, workers=1), folder


@pytest.mark.parametrize(
    ("k", "n", "family", "least"),
    [(6, 6, "II", 0.00470), (7, 8, "B", 0.00261), (11, 14, "3Bp", 0.00077), (16, 25, "P:7", 0.00051)],
)
def test_minima_are_proved_with_their_families(k, n, family, least):
    cell = survey.look(k, n)
    assert (cell.k, cell.n, cell.status, cell.family) == (k, n, Status.PROVED, family)
    assert cell.least == pytest.approx(least, abs=1e-5)
    assert cell.lambda_ge <= cell.least < cell.lambda_ge * (1 + 1e-6)
    assert cell.objective_ge == pytest.approx(cell.objective, rel=1e-9)
    assert check_bytes(cell.certificate.encode())[:2] == (True, "blocks")


@pytest.mark.nightly
@pytest.mark.slow
def test_the_map_up_to_sixteen():
    """The smallest k of each number more, as docs/over-parameterised.md has them."""
    found = atlas_map([(k, n) for k in range(6, 17) for n in range(k, 2 * k + 1)])
    assert {more: cell.k for more, cell in found.smallest.items()} == {
        0: 6, 1: 7, 2: 11, 3: 11, 4: 15, 5: 15, 6: 15, 7: 16, 8: 16, 9: 16,
    }  # fmt: skip
    assert [found.count(status) for status in Status] == [42, 0, 90]


def test_where_every_family_is_a_saddle_or_lost_nothing_is_found(small):
    cell = small[0][6, 7]
    assert (cell.status, cell.family, cell.certificate) == (Status.NOT_FOUND, None, None)
    assert cell.tried["B"] == "a saddle, smallest eigenvalue -0.006"
    assert list(cell.tried) == [family.name for family in families_of(6, 7)] == ["B", "M:4", "M:3", "M:2"]


def test_a_proof_that_the_checker_rejects_is_only_found(monkeypatch):
    """A certificate that claims more than is true makes no cell proved; the next family is tried."""
    prove = survey.prove_pattern

    def boast(*given, **more):
        proof = prove(*given, **more)
        document = copy.deepcopy(proof.certificate.document)
        document["claims"]["lambda_min_ge"] = (2 * proof.claim.lambda_min_ge).hex()
        return dataclasses.replace(proof, certificates={"blocks": Certificate("blocks", document)})

    monkeypatch.setattr(survey, "prove_pattern", boast)
    cell = survey.look(7, 7)
    assert (cell.status, cell.family, cell.lambda_ge, cell.certificate) == (Status.FOUND, "II", None, None)
    assert "the checker rejects it" in cell.tried["II"]
    assert "the checker rejects it" in cell.tried["A"]


def test_families_have_the_neurons_that_are_asked_for_and_are_in_a_likely_order():
    for k, n in ((7, 7), (12, 13), (14, 16), (19, 22), (16, 25), (30, 55), (50, 99)):
        found = families_of(k, n)
        assert {family.neurons(k) for family in found} == {n}
        assert len({family.name for family in found}) == len(found)
    assert families_of(16, 25)[0].name == "P:7"
    assert [family.name for family in families_of(50, 99)] == ["P:1"]
    assert families_of(9, 18) == []


def test_an_interrupted_map_goes_on_to_the_same_bytes(small, tmp_path):
    """In parts, by processes and after an interruption: every file is the same, and what is there is not computed again."""

    def stop(share, what):
        if share > 0.4:
            raise KeyboardInterrupt

    folder = tmp_path / "again"
    with pytest.raises(Interrupted):
        atlas_map(SMALL, folder, workers=1, progress=stop)
    begun = load(folder)
    assert 0 < len(begun) < len(SMALL)
    assert list(begun) == [cell for cell in small[0] if (cell.k, cell.n) in begun.cells]
    (folder / "certificates" / "k6-n6.json").unlink()  # of a finished cell: written again
    assert atlas_map(SMALL, folder, workers=2) == small[0] == load(small[1])
    assert files(folder) == files(small[1])
    assert verify(folder) == []
    assert isinstance(work_of(folder), survey.Surveying)


def test_a_map_grows_by_other_places(small, tmp_path, monkeypatch):
    atlas_map(SMALL[:3], tmp_path, workers=1)
    monkeypatch.setattr(survey, "apart", lambda look, k, n: {(7, 8): small[0][7, 8]}[k, n])  # the one that is missing
    assert atlas_map(SMALL[3:], tmp_path, workers=1).cells == {(7, 8): small[0][7, 8]}
    assert load(tmp_path) == small[0]


def test_the_smallest_k_of_each_number_more(small):
    assert {more: (cell.k, cell.family) for more, cell in small[0].smallest.items()} == {0: (6, "II"), 1: (7, "B")}
    assert [small[0].count(status) for status in Status] == [3, 0, 1]


def test_bad_places_are_refused(tmp_path):
    for places, words in (
        ([], "1 to 10000"),
        ([(7, 6)], "students for k = 7"),
        ([(0, 3)], "teacher"),
        ([(7, 9999)], "4096"),
    ):
        with pytest.raises(InputError, match=words):
            atlas_map(places, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_square_for_each_cell_in_the_colour_of_its_status(small, tmp_path):
    axes = Figure().add_subplot()
    found = dataclasses.replace(small[0][7, 7], status=Status.FOUND)
    some = dataclasses.replace(small[0], cells={**small[0].cells, (7, 7): found})
    draw_cells(axes, some)
    squares = {(round(p.get_x() + 0.46), round(p.get_y() + 0.46)): to_hex(p.get_facecolor()) for p in axes.patches}
    assert squares == {(cell.k, cell.n - cell.k): to_hex(STATUS_COLOURS[cell.status]) for cell in some}
    assert len(set(squares.values())) == 3
    names = {text.get_position(): text.get_text() for text in axes.texts}
    assert names == {(6, 0): "II", (7, 0): "II", (7, 1): "B"}
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["proved: 2", "found: 1", "not found: 1"]
    map_figure(some, tmp_path / "map.png")
    assert {path.name for path in tmp_path.iterdir()} == {"map.png", "map.svg"}

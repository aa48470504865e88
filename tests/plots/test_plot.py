"""``es.plot`` draws what it says: data, labels and limits are those of the runs and of the point."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

import earnshaw as es
from earnshaw.descent import Outcome, Trace
from earnshaw.descent.newton.continuation import Fate
from earnshaw.experiments import Followed, Runs, Station, Trail
from earnshaw.experiments.views import (
    Place,
    Spectrum,
    family_place,
    global_minimum_near,
    place_of,
    slice_of,
    traced_run,
)
from earnshaw.plots.style import GLOBAL, SPURIOUS, common_style
from earnshaw.plots.sweeps import draw_values, loss_bars
from earnshaw.proof.certificate import shipped_certificate

CODES = [Outcome.GLOBAL.code] * 3 + [Outcome.SPURIOUS.code] * 2 + [Outcome.UNDECIDED.code]


def made(values, codes=CODES, problem=None, trace=None):
    """Runs that ended like this, without having been run."""
    problem, n = problem or es.TwoLayer(np.eye(2)), len(values)
    numbers = {name: np.zeros(n, dtype=np.int64) for name in ("gradients", "hessians", "halvings")}
    return Runs(
        problem=problem,
        run=np.arange(n),
        outcome=np.array(codes, dtype=np.int8),
        value=np.array(values, dtype=float),
        gradient_norm=np.zeros(n),
        min_eigenvalue=np.full(n, np.nan),
        steps=np.full(n, 50),
        by_value=np.zeros(n, dtype=bool),
        weights=np.zeros((n, *problem.shape)),
        last_weights=np.zeros((n, *problem.shape)),
        trace=trace,
        **numbers,
    )


VALUES = [4e-4, 5e-4, 6e-4, 0.02, 0.02, 0.5]


@pytest.fixture
def axes():
    with common_style():
        return Figure().add_subplot()


@pytest.fixture(scope="module")
def certificate():
    with shipped_certificate() as path:
        return es.Certificate.load(path)


def heights(axes, colour):
    return [
        bar.get_height() for bar in axes.patches if to_hex(bar.get_facecolor()) == colour.lower() and bar.get_height()
    ]


def test_a_histogram_has_a_share_for_each_fate(axes):
    assert es.plot.histogram(made(VALUES), axes) is axes
    assert sum(heights(axes, GLOBAL)) == pytest.approx(50)
    assert heights(axes, SPURIOUS) == pytest.approx([100 / 3])
    (bar,) = [p for p in axes.patches if to_hex(p.get_facecolor()) == SPURIOUS.lower() and p.get_height()]
    assert bar.get_x() <= 0.02 <= bar.get_x() + bar.get_width()
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert words == ["the global minimum: 50.0%", "other minima: 33.3%", "neither: 16.7%"]
    assert axes.get_xscale() == "log"
    assert axes.get_title(loc="left") == "Where 6 runs end, k = 2, n = 2"


def test_a_histogram_of_losses_that_are_tiny_or_negative(axes):
    es.plot.histogram(made([1e-30, 0.0, 1e-20, 0.02, 0.02, 0.5]), axes)
    assert axes.texts[0].get_text() == "first bar: up to 5e-07"
    assert sum(heights(axes, GLOBAL)) == pytest.approx(50)
    other = Figure().add_subplot()
    es.plot.histogram(made([-1.0, -0.9, -0.8, 0.02, 0.02, 0.5]), other)
    assert other.get_xscale() == "linear"
    edges, shown, least = loss_bars(np.array([0.0, 0.2, 0.2]))
    assert np.histogram(shown, edges)[0][[1, -2]].tolist() == [1, 2], "what ended at 0 is not among the others"
    assert least == pytest.approx(0.02)
    edges, _, least = loss_bars(np.array([-10.0, -9.5, -9.0]))
    assert (edges[0], edges[-1], least) == (pytest.approx(-10.02), pytest.approx(-8.98), None)


def test_runs_that_diverged_are_counted_and_not_drawn(axes):
    lost = np.array([1e-4, np.nan, np.inf, 0.02])
    fates = [outcome.code for outcome in (Outcome.GLOBAL, Outcome.DIVERGED, Outcome.DIVERGED, Outcome.SPURIOUS)]
    es.plot.histogram(made(lost, fates), axes)
    assert axes.texts[0].get_text() == "2 without a finite loss"
    assert (sum(heights(axes, GLOBAL)), sum(heights(axes, SPURIOUS))) == pytest.approx((25, 25))
    other, nobody = Figure().add_subplot(), Figure().add_subplot()
    draw_values(other, {"some": lost, "all": np.full(3, np.nan)})
    some, none = (line.get_ydata() for line in other.lines)
    assert (some.max(), none.max()) == (50, 0)
    words = [text.get_text() for text in other.get_legend().get_texts()]
    assert words == ["some (2 without a finite loss)", "all (3 without a finite loss)"]
    es.plot.histogram(made(np.full(3, np.nan), [Outcome.DIVERGED.code] * 3), nobody)
    assert nobody.texts[0].get_text() == "3 without a finite loss"


def test_no_runs_are_refused(axes):
    with pytest.raises(es.InputError, match="no runs to draw"):
        es.plot.histogram(made([], []), axes)


def test_a_trace_goes_from_the_start_to_the_end_of_each_run(axes):
    run, step = np.repeat(np.arange(6), 2), np.tile([0, 25], 6)
    value = np.where(step == 0, 1.0, 0.1)
    recorded = Trace(run, step, value, value, np.zeros((12, 2, 2)))
    es.plot.trace(made(VALUES, trace=recorded), axes)
    paths = [path for lines in axes.collections for path in lines.get_segments()]
    assert len(paths) == 6
    np.testing.assert_allclose(paths[0], [[0, 1.0], [25, 0.1], [50, 4e-4]])
    ends = {line.get_label(): line.get_xydata() for line in axes.lines}
    np.testing.assert_allclose(ends["other minima"], [[50, 0.02], [50, 0.02]])
    assert axes.get_yscale() == "log"
    rounded = es.plot.trace(made([-1e-17, *VALUES[1:]], trace=recorded), Figure().add_subplot())
    assert rounded.get_yscale() == "log", "a loss of 0 with rounding is no negative one"
    assert rounded.lines[0].get_ydata()[0] == pytest.approx(5e-4), "and is drawn with the least that is not 0"
    with pytest.raises(es.InputError, match="sweep with trace=25"):
        es.plot.trace(made(VALUES), axes)


def test_a_sweep_records_the_way_where_that_is_asked_for(tmp_path):
    runs = es.sweep(es.TwoLayer(np.eye(2)), runs=3, trace=20, out=tmp_path / "run")
    assert runs.trace is not None
    assert set(runs.trace.run) == {0, 1, 2}
    assert set(runs[1:].trace.run) == {1, 2}
    kept = es.load(tmp_path / "run")["k2-n2"]
    np.testing.assert_array_equal(kept.trace.value, runs.trace.value)
    assert es.plot.trace(kept, Figure().add_subplot()).get_title(loc="left") == "3 runs on their way, k = 2, n = 2"


def test_two_sweeps_are_compared(axes):
    first, second = made(VALUES), made(VALUES, [*CODES[:3], *[Outcome.GLOBAL.code] * 3])
    es.plot.compare(first, second, axes, labels=("gd", "adam"))
    curves = {line.get_label(): line.get_xydata() for line in axes.lines}
    assert list(curves) == ["gd", "adam"]
    x, y = curves["gd"].T
    assert y[np.searchsorted(x, 0.02, side="right") - 1] == pytest.approx(100 * 5 / 6)
    assert "spurious 40.0% and 0.0%, z = 1.71" in axes.get_title(loc="left")  # of 5 and of 6 decided
    unknown = made(VALUES, [Outcome.CONVERGED.code] * 6)
    other = es.plot.compare(first, unknown, Figure().add_subplot())
    assert other.get_title(loc="left").endswith("40.0% and unknown")


def test_weights_are_in_the_order_that_shows_the_pattern(axes, certificate):
    es.plot.weights(certificate, axes)
    (image,) = axes.images
    shown = np.asarray(image.get_array())
    place = place_of(certificate)
    assert sorted(shown.ravel()) == pytest.approx(sorted(place.weights.ravel()))
    assert np.all(shown.argmax(axis=1)[:5] == np.arange(5)), "copies on the diagonal"
    assert shown[5, 5] == shown.min(), "the odd one last"
    assert image.get_clim() == (-shown.max(), shown.max())
    assert axes.texts[0].get_text() == f"{shown[0, 0]:.2f}"
    assert len(axes.texts) == 36
    assert axes.get_title(loc="left") == "Weights, k = 6, n = 6: loss 0.025081"


def test_large_matrices_are_not_written_out():
    large = Place(es.TwoLayer(np.eye(13)), np.eye(13))
    axes = es.plot.weights(large, Figure().add_subplot())
    assert not axes.texts
    assert [tick.get_text() for tick in axes.get_yticklabels()][-1] == "13"


def test_a_spectrum_has_multiplicities(axes, certificate):
    es.plot.spectrum(certificate, axes, label="minimum")
    place = place_of(certificate)
    values = np.asarray(es.landscape(place.problem).spectrum(place.weights))
    (line,) = axes.lines
    np.testing.assert_allclose(line.get_xydata(), np.column_stack([np.arange(1, 37), values]), rtol=1e-9)
    assert line.get_label() == "minimum"
    assert axes.get_yscale() == "log"
    levels = Spectrum(values).levels
    assert sum(count for _, count in levels) == 36
    assert [text.get_text() for text in axes.texts] == [f"×{count}" for _, count in levels if count > 1]
    assert [count for _, count in levels if count > 1].count(4) >= 3, "the standard representation of S_5"
    assert axes.get_title(loc="left") == f"Spectrum: smallest 0.004700, {len(levels)} distinct of 36"


def test_negative_eigenvalues_are_diamonds_on_a_linear_scale(axes):
    from earnshaw.plots.points import draw_spectrum

    draw_spectrum(axes, Spectrum(np.array([-0.2, -0.2, 0.0, 0.5])))
    diamonds, circles = axes.lines[:2]
    assert (diamonds.get_marker(), circles.get_marker()) == ("D", "o")
    np.testing.assert_allclose(diamonds.get_ydata(), [-0.2, -0.2])
    assert axes.get_yscale() == "linear"
    assert [text.get_text() for text in axes.texts] == ["×2"]


def test_a_slice_is_the_loss_on_a_plane_of_eigenvectors(certificate):
    place = place_of(certificate)
    found = slice_of(place, resolution=21)
    levels = [value for value, _ in Spectrum.at(place).levels]
    assert found.curvatures == pytest.approx(levels[:2], abs=1e-9)
    middle = found.values[10, 10]
    assert middle == pytest.approx(found.loss, abs=1e-12) == found.values.min()
    step = found.across[11]
    near = slice_of(place, reach=1e-3, resolution=3, steps=10)
    assert near.values[1, 2] - near.loss == pytest.approx(0.5 * levels[0] * 1e-6, rel=0.05)
    assert near.values[2, 1] - near.loss == pytest.approx(0.5 * levels[1] * 1e-6, rel=0.05)
    start = found.path.places[0] / found.across[-1]
    assert start[0] == pytest.approx(start[1])
    assert 0.7 / start[0] == pytest.approx(round(0.7 / start[0]))
    assert 0.02 < start[0] < 0.6, "from farther away it ends elsewhere"
    assert np.linalg.norm(found.path.places[-1]) < step, "descent comes home"
    assert np.all(np.diff(found.path.losses) <= 1e-15)


def test_a_slice_towards_another_point_holds_it(axes, certificate):
    es.plot.slice(certificate, np.eye(6), axes, resolution=9)
    place = place_of(certificate)
    length = np.linalg.norm(np.eye(6) - place.weights)
    (star,) = [line for line in axes.lines if line.get_marker() == "*"]
    np.testing.assert_allclose(star.get_xydata(), [[length, 0]])
    assert axes.get_xlim() == pytest.approx((-0.5 * length, 1.5 * length))
    assert axes.get_xlabel() == "towards the other point"
    found = slice_of(place, np.eye(6), resolution=9)
    assert found.values[4, 6] == pytest.approx(0.0, abs=1e-12), "the teacher, at three quarters of the columns"
    with pytest.raises(es.InputError, match=r"give another point of shape \(6, 6\)"):
        slice_of(place, np.eye(5))
    with pytest.raises(es.InputError, match="ask for one of them"):
        slice_of(place, np.eye(6), directions=(0, 1))


def test_a_slice_has_the_directions_and_the_run_that_were_asked_for(axes, certificate):
    place = place_of(certificate)
    values = Spectrum.at(place).values
    found = slice_of(place, directions=(9, 35), resolution=9, steps=10)
    assert found.curvatures == pytest.approx((values[9], values[35]))
    for wrong in ((3, 3), (0, 36), (-1, 2)):
        with pytest.raises(es.InputError, match="two different ones from 0 to 35"):
            slice_of(place, directions=wrong)
    runs = traced_run(place.problem, seed=0, index=3)
    assert runs.value == pytest.approx(es.sweep(place.problem, runs=4, seed=0).value[3], rel=1e-9)
    end = Place(place.problem, runs.weights[0])
    es.plot.slice(end, ax=axes, run=runs.trace, resolution=9)
    drawn = np.asarray(axes.lines[0].get_xydata())
    assert len(drawn) == len(runs.trace.step)
    lengths = np.linalg.norm(runs.trace.weights - runs.weights[0], axis=(1, 2))
    assert np.all(np.linalg.norm(drawn, axis=1) <= lengths + 1e-12), "a shadow is shorter"
    assert np.abs(drawn).max() < axes.get_xlim()[1], "the plane holds all of it"


def test_a_global_minimum_is_matched_to_a_point():
    for family, k in (("II", 6), ("B", 8), ("2B", 11)):
        place = family_place(family, k)
        near = global_minimum_near(place)
        assert near.shape == place.weights.shape
        assert abs(Place(place.problem, near).loss) < 1e-13
    place = family_place("II", 6)
    assert np.vdot(global_minimum_near(place), place.weights) > np.trace(place.weights), "nearer than the rows in order"
    with pytest.raises(es.InputError, match="n >= k"):
        global_minimum_near(Place(es.TwoLayer(np.eye(3), 2), np.eye(3)[:2]))


def test_a_split_neuron_shows_the_way_out(axes, certificate):
    es.plot.split(certificate, 0, axes, resolution=9)
    assert "Neuron 1 split in two: a saddle" in axes.get_title(loc="left")
    assert axes.get_ylabel() == "the two halves part"
    assert "smallest eigenvalue −0.2363" in axes.get_title(loc="left")
    assert [text.get_text() for text in axes.texts] == ["teacher, F = 0"]
    with pytest.raises(es.InputError, match="the theorems cover relu only"):
        es.plot.split(Place(es.TwoLayer(np.eye(2), activation="erf"), np.eye(2)), 0, axes)


def test_a_point_is_found_in_what_is_given(certificate):
    place = place_of(certificate)
    assert place.problem == es.TwoLayer(np.eye(6))
    proof = es.prove(place.problem, place.weights)
    np.testing.assert_array_equal(place_of(proof).weights, proof.point.weights)
    with pytest.raises(es.InputError, match="an object of type int was given"):
        place_of(3)
    nowhere = es.Certificate("every_n", {"problem": {}})
    with pytest.raises(es.InputError, match="about no single point"):
        place_of(nowhere)
    patterned = es.prove_family("B", 7)
    found = place_of(patterned)
    assert found.problem == es.TwoLayer(np.eye(7), 8)
    np.testing.assert_allclose(found.weights, family_place("B", 7).weights, atol=1e-12)
    broken = {**patterned.certificate.document, "center": []}
    with pytest.raises(es.InputError, match="cannot be read"):
        place_of(es.Certificate("blocks", broken))
    convolution = es.ConvNet([1.0, 0.0], [1.0, -0.5, 0.2])
    spurious = place_of(es.prove(convolution))
    assert float(np.linalg.norm(np.asarray(es.landscape(convolution).gradient(spurious.weights)))) < 1e-12


def test_a_family_without_its_problem_says_so():
    family = es.Family(count=1, objective=0.0, weights=np.eye(2), members=np.arange(1), alignments=None)
    with pytest.raises(es.InputError, match="functions=True"):
        es.plot.weights(family)


def test_without_axes_a_figure_of_pyplot_is_made():
    from matplotlib import pyplot

    with mpl.rc_context({"backend": "agg"}):
        axes = es.plot.histogram(made(VALUES))
        assert pyplot.gcf() is axes.get_figure()
        assert not axes.spines["top"].get_visible(), "in the house style"
        pyplot.close(axes.get_figure())


@pytest.mark.slow
def test_a_picture_of_a_point_has_its_panels_in_three_formats(certificate, tmp_path):
    files = es.plot.draw(certificate, tmp_path / "k6.minimum")
    assert [file.name for file in files] == [f"k6.minimum.{kind}" for kind in ("png", "svg", "pdf")]
    assert all(file.exists() for file in files)
    with Image.open(files[0]) as picture:
        assert picture.width > 1500
    said = files[1].read_text()
    for words in ("Weights, k = 6, n = 6", "Spectrum: smallest 0.004700", "Loss on a plane", "Neuron 1 split in two"):
        assert words in said
    assert files[2].read_bytes().startswith(b"%PDF")
    with pytest.raises(es.InputError, match="'gif' was asked for; use png, svg, pdf"):
        es.plot.draw(certificate, tmp_path / "other", kinds=("gif",))


def test_trails_are_drawn_with_their_ends_and_stations():
    t = np.array([0.0, 0.2, 0.25])
    station = dict(weights=np.eye(2), lambda_ge=None, objective_ge=None, reason=None, certificates={})
    stations = tuple(
        Station(t=x, value=0.1, least=y, proved=p, **station) for x, y, p in ((0.0, 0.3, True), (0.2, 0.1, False))
    )
    common = dict(source=0, family="II (S_1)", copies=2, end=np.eye(2), stations=stations, beyond_value=None)
    ended = Trail(copy=1, t=t, value=t, least=0.3 - t, fate=Fate.FOLD, beyond="GLOBAL", **common)
    stays = Trail(
        copy=2, t=np.array([0.0, 1.0]), value=np.ones(2), least=np.ones(2), fate=Fate.ARRIVES, beyond=None, **common
    )
    axes = es.plot.follow(Followed(np.eye(2), 2 * np.eye(2), (ended, stays)), Figure().add_subplot())
    curves = [line for line in axes.lines if line.get_marker() == "None" and len(line.get_xdata()) > 1]
    assert np.array_equal(curves[0].get_xdata(), t)
    assert np.allclose(curves[0].get_ydata(), 0.3 - t)
    (cross,) = (line for line in axes.lines if line.get_marker() == "X")
    assert tuple(cross.get_xydata()[0]) == pytest.approx((0.25, 0.05))
    hollow = [line for line in axes.lines if line.get_marker() == "o" and line.get_markerfacecolor() == "white"]
    assert [tuple(line.get_xydata()[0]) for line in hollow] == [(0.2, 0.1)] * 2
    assert [text.get_text() for text in axes.texts] == ["0.2500"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["II (S_1)"]

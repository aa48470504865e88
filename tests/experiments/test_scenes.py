"""What the animations show agrees with the sweep, the certificate and the Hessian that they speak of."""

import jax.numpy as jnp
import numpy as np
import pytest

import earnshaw as es
from earnshaw.experiments import scenes
from earnshaw.experiments.scenes import scenes_of, shipped_minimum, split_scene, sweep_scene, traced
from earnshaw.experiments.views import Place, Slice
from earnshaw.landscapes import landscape


@pytest.fixture(scope="module")
def split():
    return split_scene(maps=3, resolution=9)


def test_a_proved_minimum_becomes_a_saddle(split):
    assert split.before[0] == pytest.approx(0.00470035, abs=1e-8)
    assert split.loss == pytest.approx(0.0250805810, abs=1e-10)
    assert split.gradient < 1e-14
    assert (split.after < -1e-6).sum() == 5
    assert split.after[0] == pytest.approx(-0.236300, abs=1e-6)
    assert split.curvatures[0] > 0 > split.curvatures[-1]
    assert split.curvatures[-1] == pytest.approx(split.after[0], abs=1e-10)


def test_descent_stays_before_and_finds_the_teacher_after(split):
    assert np.linalg.norm(split.stays.places[-1]) < 0.4 * np.linalg.norm(split.stays.places[0])
    assert split.loss < split.stays.losses[-1] < split.loss + 1e-5
    assert split.leaves.losses[0] < split.loss
    assert split.leaves.losses[-1] < 1e-6
    assert np.all(np.diff(split.leaves.losses) < 0)


@pytest.mark.slow
def test_maps_are_the_loss_on_planes_through_the_point():
    fine = split_scene(maps=2, resolution=41)  # coordinates in steps of 0.05 and 0.04
    near = fine.maps[:, :, np.argmin(np.abs(fine.across))]
    across = fine.maps[0, np.argmin(np.abs(fine.along))]
    assert np.abs(across.min() - fine.loss) < 2e-4
    assert near[0].min() > fine.loss - 1e-9  # the first plane only goes up there
    assert near[1].min() < fine.loss - 1e-3  # the last one does not
    assert fine.maps[-1].min() < 1e-3  # it holds the teacher


@pytest.mark.slow
def test_a_sweep_scene_is_the_sweep():
    plan = es.Plan.of(es.TwoLayer(teacher=np.eye(8)), runs=100)
    scene = sweep_scene(traced(plan, "k8-n8", most=48))
    runs = es.sweep(es.TwoLayer(teacher=np.eye(8)), runs=48, seed=0)
    assert scene.spurious.sum() == len(runs.spurious) > 0
    np.testing.assert_allclose(scene.values[-1], runs.value, rtol=1e-6)
    assert np.all(scene.steps[scene.last] >= runs.steps)
    assert scene.found.sum() == runs.outcomes["GLOBAL"]
    resting = [scene.values[last:, run] for run, last in enumerate(scene.last)]
    assert all(np.ptp(values) == 0 for values in resting)
    assert scene.levels[0] == pytest.approx(0.0215080372, abs=1e-9)


def test_the_shipped_minimum_is_critical():
    energy = landscape(es.TwoLayer(teacher=np.eye(6)))
    assert np.linalg.norm(np.asarray(energy.gradient(jnp.asarray(shipped_minimum())))) < 1e-14


def test_a_folder_without_a_record_is_run_again_and_one_with_it_is_not(tmp_path, monkeypatch):
    problem = es.TwoLayer(np.eye(2))
    plain, kept = tmp_path / "plain", tmp_path / "kept"
    es.sweep(problem, runs=5, out=plain)
    runs = es.sweep(problem, runs=5, trace=20, out=kept)
    ((name, anew),) = scenes_of(plain)
    assert name == "k2-n2"
    assert anew.again
    monkeypatch.setattr(scenes, "run_plan", None)
    ((_, scene),) = scenes_of(kept)
    assert not scene.again
    np.testing.assert_array_equal(scene.values[-1], runs.value)
    np.testing.assert_allclose(anew.values[-1], runs.value, rtol=1e-9)
    np.testing.assert_array_equal(scene.values[0], runs.trace.value[runs.trace.step == 0])
    for source in (es.load(kept), es.load(kept)["k2-n2"], runs):
        ((name, other),) = scenes_of(source)
        assert name == "k2-n2"
        np.testing.assert_array_equal(other.values, scene.values)
    with pytest.raises(es.InputError, match="nothing was recorded on the way"):
        next(scenes_of(es.sweep(problem, runs=2)))


def test_what_is_no_scene_is_one_sentence(tmp_path):
    with pytest.raises(es.InputError, match="give a family, a proof or a certificate"):
        next(scenes_of(3))
    with pytest.raises(es.InputError, match="holds neither runs nor certificates"):
        next(scenes_of(tmp_path))


def test_a_point_whose_neurons_are_not_split_is_seen_on_a_plane():
    problem = es.ConvNet(filter=np.array([1.0, 0.0]), output_weights=np.array([1.0, -0.5, 0.2]))
    place = Place(problem, np.array([0.8, 0.3, 0.5, 0.1, 0.0]))
    ((name, scene),) = scenes_of(place, quick=True)
    assert name == f"{problem.name}-point"
    assert isinstance(scene, Slice)
    assert scene.loss == pytest.approx(place.loss)

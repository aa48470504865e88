import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw import landscapes
from earnshaw.errors import InputError
from earnshaw.landscapes import OnSphere, PairEnergy
from earnshaw.landscapes.charges import law_potential, node_minima
from earnshaw.potentials.radial import AlmostYukawa, Circle, Coulomb, Variant
from earnshaw.problems import ChargeLaw, Charges, TwoLayer

RNG = np.random.default_rng(3)
PROTONS = RNG.normal(size=(4, 3))
CHARGES = RNG.uniform(-1, 1, 4)
MOVING = RNG.uniform(-1, 1, 2)
POSITIONS = RNG.normal(size=(2, 3))
POINT = np.concatenate([POSITIONS, MOVING[:, None]], 1)


@jax.jit
def everything(energy, point):
    """Value, gradient and Hessian in one program."""
    return energy.value(point), energy.gradient(point), energy.hessian(point)


@jax.jit
def slope_of_value(energy, point):
    """The gradient by automatic differentiation."""
    return jax.grad(energy.value)(point)


def slow_energy(phi, charges, positions, regularisation=0.0, alone=1.0):
    """Sum over all pairs of charges -a of electrons and b of protons, one at a time."""
    everyone = [*zip(-charges, positions, strict=True), *zip(CHARGES, PROTONS, strict=True)]
    total = 0.5 * alone * sum(q * q for q, _ in everyone) + 0.5 * regularisation * sum(a * a for a in charges)
    for (q, x), (p, y) in itertools.combinations(everyone, 2):
        total += q * p * float(phi(math.dist(x, y)))
    return total


def landscape(law="almost-yukawa", fixed=False, regularisation=0.0, **options):
    moving = MOVING if fixed else None
    return landscapes.landscape(Charges(PROTONS, CHARGES, 2, moving, ChargeLaw(law, **options), regularisation))


def test_the_value_is_the_sum_over_pairs():
    phi = AlmostYukawa(3, 1.0, 0.5).value
    assert math.isclose(
        float(landscape().value(jnp.asarray(POINT))), slow_energy(phi, MOVING, POSITIONS), rel_tol=1e-12
    )
    ours = float(landscape(fixed=True, regularisation=1.0).value(jnp.asarray(POSITIONS)))
    assert math.isclose(ours, slow_energy(phi, MOVING, POSITIONS, 1.0), rel_tol=1e-12)
    ours = float(landscape("coulomb", fixed=True).value(jnp.asarray(POSITIONS)))
    assert math.isclose(ours, slow_energy(Coulomb(3).value, MOVING, POSITIONS, alone=0.0), rel_tol=1e-12)


@pytest.mark.parametrize(
    ("law", "fixed"),
    [
        ("almost-yukawa", False),
        pytest.param("almost-yukawa", True, marks=pytest.mark.slow),
        pytest.param("coulomb", False, marks=pytest.mark.slow),
        pytest.param("coulomb", True, marks=pytest.mark.slow),
    ],
)
def test_gradient_and_hessian_are_those_of_the_value(law, fixed):
    energy = landscape(law, fixed, regularisation=0.7)
    point = jnp.asarray(POSITIONS if fixed else POINT)
    size = point.size
    slope, curvature = jax.jit(lambda x: (jax.grad(energy.value)(x), jax.hessian(energy.value)(x)))(point)
    _, gradient, hessian = map(np.asarray, everything(energy, point))
    assert np.allclose(gradient, slope, rtol=1e-11, atol=1e-12)
    assert np.allclose(hessian, curvature.reshape(size, size), rtol=1e-10, atol=1e-11)
    direction = RNG.normal(size=point.shape)
    product = np.asarray(energy.hessian_vector(point, jnp.asarray(direction)))
    assert np.allclose(product.ravel(), hessian @ direction.ravel(), atol=1e-11)


@pytest.mark.slow
def test_one_landscape_a_lane_is_the_same_as_one_at_a_time():
    lanes = RNG.normal(size=(3, 4, 3))
    charges = RNG.uniform(-1, 1, (3, 4))
    points = jnp.asarray(RNG.normal(size=(3, 2, 4)))
    together = PairEnergy.among(AlmostYukawa(3), lanes, charges, students=2, regularisation=1.0)
    found = everything(together, points)
    for i in range(3):
        alone = PairEnergy.among(AlmostYukawa(3), lanes[i], charges[i], students=2, regularisation=1.0)
        for many, one in zip(found, everything(alone, points[i]), strict=True):
            assert np.allclose(many[i], one, rtol=1e-12)
    some = together.take(jnp.array([2, 0]))
    assert np.allclose(some.value(points[jnp.array([2, 0])]), together.value(points)[jnp.array([2, 0])])


def test_a_perfect_match_has_no_energy_and_best_charges_find_it():
    energy = landscapes.landscape(Charges(PROTONS, CHARGES))
    best = energy.best_charges(jnp.asarray(PROTONS))
    assert np.allclose(best, CHARGES, atol=1e-12)
    assert abs(float(energy.value(energy.join(jnp.asarray(PROTONS), best)))) < 1e-14
    assert energy.global_value == 0.0
    assert landscape(fixed=True).global_value is None
    elsewhere = landscape(regularisation=0.5)
    best = elsewhere.best_charges(jnp.asarray(POSITIONS))
    assert np.abs(elsewhere.gradient(elsewhere.join(jnp.asarray(POSITIONS), best))[:, -1]).max() < 1e-13


@pytest.mark.slow
def test_velocity_is_minus_the_gradient_and_field_is_the_sum_over_protons():
    energy = landscape(fixed=True)
    point = jnp.asarray(POSITIONS)
    assert np.allclose(energy.velocity(point), -slope_of_value(energy, point), rtol=1e-12)
    whole = landscape()
    assert np.allclose(whole.velocity(jnp.asarray(POINT)), energy.velocity(point), rtol=1e-12)
    value, slope = energy.field(point)
    phi = jax.jit(AlmostYukawa(3).value)
    by_hand = [sum(b * float(phi(math.dist(x, w))) for b, w in zip(CHARGES, PROTONS, strict=True)) for x in POSITIONS]
    assert np.allclose(value, by_hand, rtol=1e-13)
    field = jax.jit(jax.grad(lambda x: energy.field(x[None])[0][0]))
    assert np.allclose(slope[0], field(point[0]), rtol=1e-12)


@pytest.mark.slow
def test_a_node_sees_all_others_as_fixed():
    energy = landscape()
    node = energy.node(jnp.asarray(POSITIONS[:1]), jnp.asarray(MOVING[:1]))
    assert node.shape == (1, 4)
    assert math.isclose(
        float(node.value(jnp.asarray(POINT[1:]))), float(energy.value(jnp.asarray(POINT))), rel_tol=1e-12
    )


@pytest.mark.slow
def test_a_charge_on_a_cone_tip_gives_finite_numbers():
    energy = landscapes.landscape(Charges(PROTONS, CHARGES))
    point = energy.join(jnp.asarray(PROTONS), jnp.asarray(CHARGES))
    _, gradient, hessian = everything(energy, point)
    assert np.isfinite(gradient).all()
    assert np.isfinite(hessian).all()


@pytest.mark.slow
@pytest.mark.parametrize("law", [ChargeLaw("polynomial", degree=3), ChargeLaw("sign")])
def test_on_the_sphere_only_directions_count(law):
    units = PROTONS / np.linalg.norm(PROTONS, axis=1, keepdims=True)
    energy = landscapes.landscape(Charges(units, CHARGES, 2, None, law))
    assert isinstance(energy, OnSphere)
    point = energy.project(jnp.asarray(POINT))
    longer = point.at[0, :3].multiply(3.0)
    assert math.isclose(float(energy.value(point)), float(energy.value(longer)), rel_tol=1e-12)
    slope = energy.gradient(point)
    assert np.abs(jnp.sum(slope[:, :3] * point[:, :3], -1)).max() < 1e-12
    angle = np.arccos(np.clip(np.asarray(point[:, :3]) @ units.T, -1, 1))
    phi = np.cos(angle) ** 3 if law.name == "polynomial" else 1 - 2 * angle / math.pi
    a = np.asarray(point[:, 3])
    own = float(np.asarray(point[0, :3]) @ np.asarray(point[1, :3]))
    own = own**3 if law.name == "polynomial" else 1 - 2 * math.acos(own) / math.pi
    mixed = 0.5 * a @ a + a[0] * a[1] * own - a @ phi @ CHARGES
    fixed = float(energy.value(point.at[:, 3].set(0.0)))
    assert math.isclose(float(energy.value(point)), mixed + fixed, rel_tol=1e-12)


@pytest.mark.slow
def test_the_hessian_on_the_sphere_is_symmetric_and_flat_along_the_radius():
    energy = landscapes.landscape(Charges(np.eye(3), [0.5, -1.0, 0.8], 1, None, ChargeLaw("polynomial", degree=3)))
    point = jnp.array([[1.0, 0.0, 0.0, 0.5]])  # the teacher neuron e_1 with its best charge: a critical point
    assert np.abs(energy.gradient(point)).max() < 1e-15
    hessian = np.asarray(energy.hessian(point))
    assert np.allclose(hessian, hessian.T)
    assert np.allclose(np.diag(hessian), [0.0, 3 * 0.25, 3 * 0.25, 1.0], atol=1e-12)


@pytest.mark.slow
def test_the_circle_is_the_sphere_in_the_plane():
    angles, moving = RNG.uniform(-3, 3, 4), RNG.uniform(-3, 3, 2)
    circle = PairEnergy.among(Circle(), angles[:, None], CHARGES, students=2)
    units = np.stack([np.cos(angles), np.sin(angles)], 1)
    sphere = landscapes.landscape(Charges(units, CHARGES, 2, None, ChargeLaw("sign")))
    point = circle.join(jnp.asarray(moving)[:, None], jnp.asarray(MOVING))
    places = jnp.stack([jnp.cos(moving), jnp.sin(moving)], 1)
    other = sphere.join(places, jnp.asarray(MOVING))
    assert math.isclose(float(circle.value(point)), float(sphere.value(other)), rel_tol=1e-9)
    assert np.allclose(circle.gradient(point), slope_of_value(circle, point), atol=1e-12)
    tangent = jnp.stack([-jnp.sin(moving), jnp.cos(moving)], 1)
    assert np.allclose(circle.gradient(point)[:, 0], jnp.sum(sphere.gradient(other)[:, :2] * tangent, -1), rtol=1e-7)
    fixed = PairEnergy.among(Circle(), angles[:, None], CHARGES, student_output_weights=MOVING)
    assert np.allclose(fixed.gradient(moving[:, None])[:, 0], circle.gradient(point)[:, 0])


@pytest.mark.slow
def test_minima_of_one_neuron_on_the_circle_are_at_the_teacher():
    angles = jnp.array([0.3, 1.4, -2.0])
    circle = PairEnergy.among(Circle(), angles[:, None], jnp.array([0.7, -0.4, 0.9]), students=1)
    places, minima = node_minima(circle, 501)
    found = np.asarray(places)[np.asarray(minima)]
    assert len(found) >= 1
    gaps = np.abs(np.angle(np.exp(2j * (found[:, None] - np.asarray(angles)))) / 2).min(1)
    assert gaps.max() < 1e-12


@pytest.mark.slow
def test_variants_reach_the_landscape():
    values = {v.name: float(landscape(variant=v.name).value(jnp.asarray(POINT))) for v in Variant}
    assert len(set(values.values())) == 3


@pytest.mark.slow
@pytest.mark.parametrize("law", [ChargeLaw("polynomial", degree=4), ChargeLaw("sign")])
def test_on_the_sphere_lanes_and_derivatives(law):
    """One teacher a lane is one at a time, and the gradient is that of the value."""
    units = RNG.normal(size=(2, 3, 3))
    units /= np.linalg.norm(units, axis=-1, keepdims=True)
    potential, charges = law_potential(law, 3), RNG.uniform(-1, 1, (2, 3))
    together = OnSphere.among(potential, units, charges, students=2)
    points = jnp.asarray(RNG.normal(size=(2, 2, 4)))
    found = everything(together, points)
    for i in range(2):
        alone = landscapes.landscape(Charges(units[i], charges[i], 2, None, law))
        assert alone.global_value is None
        assert alone.gauge == 2
        expected = everything(alone, points[i])
        taken = everything(together.take(jnp.array([i])), points[i : i + 1])
        for many, one, exact in zip(found, taken, expected, strict=True):
            assert np.allclose(many[i], exact, rtol=1e-12, atol=1e-13)
            assert np.allclose(one[0], exact, rtol=1e-12, atol=1e-13)
        assert np.allclose(expected[1], slope_of_value(alone, points[i]), atol=1e-13)


def test_the_convention_is_the_networks():
    """Electrons with a and protons with b have the energy of a student with output weights a and a teacher with b."""
    units = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    charges = Charges(units, [0.5, -1.0, 0.8], 2, None, ChargeLaw("polynomial", degree=3))
    network = TwoLayer(units, 2, "hermite:3", output_weights=[0.5, -1.0, 0.8], trainable_output=True)
    on_sphere, energy = landscapes.landscape(charges), landscapes.landscape(network)
    point = on_sphere.project(jnp.asarray(POINT))
    assert on_sphere.shape == energy.shape == charges.shape == network.shape
    assert math.isclose(float(on_sphere.value(point)), float(energy.value(point)), rel_tol=1e-14)
    assert np.array_equal(energy.neurons(point), point[:, :3])
    assert np.array_equal(on_sphere.neurons(point), point[:, :3])


def test_an_electron_and_a_proton_attract_each_other():
    energy = landscapes.landscape(Charges([[0.0, 0.0, 0.0]], electron_charges=[1.0]))
    assert energy.velocity(jnp.array([[2.0, 0.0, 0.0]]))[0, 0] < 0


def test_how_many_students_must_be_said():
    with pytest.raises(InputError, match="give the number or the weights"):
        PairEnergy.among(AlmostYukawa(3), PROTONS, CHARGES)

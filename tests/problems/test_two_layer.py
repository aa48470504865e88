"""Problems: what is refused and in which words, and exact JSON."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnshaw.errors import InputError
from earnshaw.problems import TwoLayer, problem_from_json, standard_teacher

numbers = st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100)


@st.composite
def problems(draw):
    k, d, n = (draw(st.integers(1, 4)) for _ in range(3))
    row = st.lists(numbers, min_size=d, max_size=d).filter(any)
    charge = numbers.filter(bool)
    teacher = draw(st.lists(row, min_size=k, max_size=k))
    output = draw(st.none() | st.lists(charge, min_size=k, max_size=k))
    student = draw(st.none() | st.lists(charge, min_size=n, max_size=n))
    return TwoLayer(teacher, students=n, output_weights=output, student_output_weights=student)


@given(problems())
def test_json_brings_back_the_same_problem_bit_by_bit(problem):
    again = problem_from_json(json.loads(json.dumps(problem.to_json())))
    assert again == problem
    assert hash(again) == hash(problem)
    assert again.teacher.tobytes() == problem.teacher.tobytes()
    assert again.students == problem.students
    for name in ("output_weights", "student_output_weights"):
        before, after = getattr(problem, name), getattr(again, name)
        assert (before is None) == (after is None)
        assert before is None or before.tobytes() == after.tobytes()


def test_sizes_and_defaults():
    problem = TwoLayer(teacher=np.arange(1.0, 7).reshape(2, 3))
    assert (problem.teachers, problem.students, problem.dimension) == (2, 2, 3)
    assert problem.with_students(5).students == 5
    assert problem.with_students(2) is problem
    assert problem.scale == pytest.approx(91.0)
    assert TwoLayer([[3.0, 4.0]], output_weights=[2.0]).scale == pytest.approx(100.0)
    assert np.array_equal(standard_teacher(4), np.eye(4))


def test_the_teacher_is_a_frozen_copy():
    teacher = np.eye(3)
    problem = TwoLayer(teacher)
    teacher[0, 0] = 7
    assert problem.teacher[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        problem.teacher[0, 0] = 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"teacher": [[1.0, np.nan], [0.0, 1.0]]}, r"nan in row 0, column 1"),
        ({"teacher": [[1.0, 0.0], [-np.inf, 1.0]]}, r"-inf in row 1, column 0"),
        ({"teacher": [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]}, r"zero neuron in row 1"),
        ({"teacher": [1.0, 2.0]}, r"shape \(2,\)"),
        ({"teacher": np.zeros((0, 3))}, r"shape \(0, 3\)"),
        ({"teacher": np.zeros((3, 0))}, r"shape \(3, 0\)"),
        ({"teacher": np.ones((2, 2, 2))}, r"shape \(2, 2, 2\)"),
        ({"teacher": [[1.0, 2.0], [3.0]]}, r"not a matrix of real numbers"),
        ({"teacher": [["one", "two"]]}, r"not a matrix of real numbers"),
        ({"teacher": np.array([[1.0 + 2.0j]])}, r"not a matrix of real numbers"),
        ({"teacher": None}, r"shape \(\)"),
        ({"teacher": [[1e200]]}, r"rescale"),
        ({"teacher": [[1e-150]]}, r"rescale"),
        ({"teacher": [[1e-200, 1.0], [1e-200, 0.0]]}, r"rescale"),
        ({"teacher": np.eye(2), "students": 0}, r"0 student neurons"),
        ({"teacher": np.eye(2), "students": -1}, r"-1 student neurons"),
        ({"teacher": np.eye(2), "students": True}, r"True student neurons"),
        ({"teacher": np.eye(2), "students": False}, r"False student neurons"),
        ({"teacher": np.eye(2), "students": 2.0}, r"2.0 student neurons"),
        ({"teacher": np.eye(2), "students": 10**6}, r"1000000 student neurons"),
        ({"teacher": np.eye(2), "activation": "sine"}, r"unknown activation 'sine'; choose one of relu"),
        ({"teacher": np.eye(2), "output_weights": [1.0]}, r"output_weights has shape \(1,\).*2 neurons"),
        ({"teacher": np.eye(2), "output_weights": [1.0, 0.0]}, r"nonzero"),
        ({"teacher": np.eye(2), "output_weights": [1.0, np.nan]}, r"finite"),
        ({"teacher": np.eye(2), "output_weights": "xy"}, r"not a vector of real numbers"),
        ({"teacher": np.eye(2), "students": 3, "student_output_weights": [1.0, 2.0]}, r"student_output_weights.*3"),
    ],
)
def test_bad_input_is_refused_in_a_sentence_that_names_it(arguments, message):
    with pytest.raises(InputError, match=message):
        TwoLayer(**arguments)


def test_bad_sizes_are_refused_by_the_helpers():
    with pytest.raises(InputError, match="0 neurons"):
        standard_teacher(0)
    with pytest.raises(InputError, match="0 student neurons"):
        TwoLayer(np.eye(2)).with_students(0)
    with pytest.raises(InputError, match="do not fit 3"):
        TwoLayer(np.eye(2), student_output_weights=[1.0, 2.0]).with_students(3)


@pytest.mark.parametrize(
    "change",
    [
        {"n": 0},
        {"n": None},
        {"n": "2"},
        {"n": True},
        {"k": 3},
        {"d": 3},
        {"target": [[1.0, 0.0], [0.0, 1.0]]},
        {"target": [["0x1p0"], ["0x1p0", "0x0p0"]]},
        {"target": [["nan", "0x1p0"], ["0x1p0", "0x0p0"]]},
        {"target": 5},
        {"objective": "two-layer/sine"},
        {"objective": "conv/relu"},
        {"objective": None},
        {"surprise": 1},
        {"output_weights": ["0x1p0"]},
        {"output_weights": "x"},
    ],
    ids=str,
)
def test_a_damaged_record_is_refused(change):
    record = TwoLayer(np.eye(2)).to_json()
    assert problem_from_json(record).students == 2
    with pytest.raises(InputError):
        problem_from_json(record | change)


@pytest.mark.parametrize("record", [None, [], "text", {}, {"n": 1}])
def test_what_is_not_a_record_is_refused(record):
    with pytest.raises(InputError, match=r"unknown objective|needs the keys"):
        problem_from_json(record)


def test_realisable_counts_neurons_of_each_sign():
    def realisable(teacher_signs, student_signs):
        problem = TwoLayer(
            np.eye(len(teacher_signs)),
            students=len(student_signs),
            output_weights=teacher_signs,
            student_output_weights=student_signs,
        )
        return problem.is_realisable

    assert realisable([1, 1], [1, 1])
    assert realisable([1, 1], [0.5, 7, 1])
    assert not realisable([1, 1, 1], [1, 1])
    assert not realisable([1, -1], [1, 1])
    assert realisable([1, -1], [-3, 2])
    assert not realisable([-1, -1], [-1, 1])
    assert not TwoLayer(np.eye(3), students=2).is_realisable
    assert TwoLayer(np.eye(3), students=4).is_realisable


def test_orthonormal_means_orthonormal_rows_and_unit_charges():
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    assert TwoLayer(turn).is_orthonormal
    assert TwoLayer(turn[:2]).is_orthonormal
    assert not TwoLayer(1.001 * turn).is_orthonormal
    assert not TwoLayer(turn + 1e-9).is_orthonormal
    assert not TwoLayer(turn, output_weights=[1, 1, 1, 2]).is_orthonormal
    assert not TwoLayer(turn, student_output_weights=[1, 1, 1, 2]).is_orthonormal
    assert not TwoLayer([[1.0], [1.0]]).is_orthonormal


def test_equality_is_about_content():
    problem = TwoLayer(np.eye(2))
    same = TwoLayer([[1, 0], [0, 1]], students=2, output_weights=[1, 1])
    assert problem == same
    assert hash(problem) == hash(same)
    others = [
        TwoLayer(np.eye(2), students=3),
        TwoLayer(np.eye(3)),
        TwoLayer([[1.0, 0.0], [1e-300, 1.0]]),
        TwoLayer(np.eye(2), output_weights=[1, 2]),
        TwoLayer(np.eye(2), student_output_weights=[1, 2]),
    ]
    assert all(problem != other for other in others)
    assert len({problem, same, *others}) == 1 + len(others)
    assert problem != "a problem"

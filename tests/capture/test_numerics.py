"""The check of outputs and gradients finds what is wrong, and only that."""

import warnings
from dataclasses import replace

import pytest
import torch

from traceview.capture.backends import RefusedError, attention, keys_seen, pinned, refusals
from traceview.capture.inputs import Inputs, run
from traceview.capture.numerics import WORK, numerics
from traceview.capture.problem import Backend, Mask, Problem, square
from traceview.workload import Numerics

CPU = torch.device("cpu")
SMALL = replace(square(2, 2, 24, 16), dtype="float32", training=True)
SAID = (
    "Memory efficient kernel not used because: (Triggered internally at a.cpp:1)",
    "head_dim is 7 (Triggered internally at a.cpp:2.)",
    "Flash attention kernel not used because:",
    "Flash attention has been runtime disabled.",
)
NO_KEY = {"rows without a key", "causal lower right, more queries than keys"}


def verdicts(checked: Numerics) -> dict[str, str]:
    return {case.case: case.verdict for case in checked.cases}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("backend", [Backend.MATH, Backend.FLASH])
@pytest.mark.filterwarnings("ignore:Lower right causal bias will produce NaNs")
def test_torch_is_right_on_every_case(backend: Backend, dtype: str) -> None:
    checked = numerics(backend, replace(SMALL, dtype=dtype), CPU)
    wrong = [case for case in checked.cases if case.verdict == "wrong"]
    assert wrong == []
    assert checked.verdict == "correct"
    assert verdicts(checked)[WORK] == "correct"


@pytest.mark.parametrize("backend", [Backend.NAIVE, Backend.INPLACE])
def test_a_plain_softmax_has_no_answer_for_a_query_without_a_key(backend: Backend) -> None:
    checked = numerics(backend, SMALL, CPU)
    found = verdicts(checked)
    assert {name for name, verdict in found.items() if verdict == "wrong"} == NO_KEY
    assert checked.verdict == "correct"
    assert "no finite numbers" in next(c.text for c in checked.cases if c.case in NO_KEY)
    assert checked.text.startswith(
        "naive is right on the work, and wrong on: ".replace("naive", backend)
    )


def test_a_mask_that_is_left_out_is_found() -> None:
    checked = numerics(Backend.UNMASKED, SMALL, CPU, edges=False)
    assert checked.verdict == "wrong"
    assert checked.text.startswith("unmasked does not compute what was asked for: out is off by ")
    assert [error.tensor for error in checked.cases[0].errors] == [
        "out",
        "grad_q",
        "grad_k",
        "grad_v",
    ]


def test_a_mask_that_is_left_out_is_no_matter_where_there_is_none() -> None:
    problem = replace(SMALL, mask=Mask.NONE, training=False)
    assert numerics(Backend.UNMASKED, problem, CPU, edges=False).verdict == "correct"


def test_a_refusal_is_a_result() -> None:
    checked = numerics(Backend.EFFICIENT, SMALL, CPU, edges=False)
    assert checked.verdict == "unchecked"
    assert [case.verdict for case in checked.cases] == ["refused"]
    assert "No viable backend" in checked.cases[0].text
    assert "is not known: " in checked.text


def test_a_refusal_carries_the_reasons_of_the_backend_that_was_asked() -> None:
    def attend() -> None:
        for said in SAID:
            warnings.warn(said, stacklevel=1)
        raise RuntimeError

    with pytest.raises(RefusedError) as caught, refusals():
        attend()
    assert caught.value.reasons == ("head_dim is 7",)


@pytest.mark.parametrize(
    ("mask", "seen"),
    [
        (Mask.CAUSAL, [[1, 0, 0, 0], [1, 1, 0, 0]]),
        (Mask.LOWER_RIGHT, [[1, 1, 1, 0], [1, 1, 1, 1]]),
        (Mask.ROWS, [[0, 0, 0, 0], [1, 1, 0, 0]]),
    ],
)
def test_a_mask_says_which_keys_a_query_sees(mask: Mask, seen: list[list[int]]) -> None:
    keep = keys_seen(Problem(1, 1, 2, 8, 1, 4, mask=mask), CPU)
    assert keep is not None
    assert keep.int().tolist() == seen


def test_padding_ends_every_other_sequence_early() -> None:
    keep = keys_seen(Problem(2, 1, 2, 8, 1, 4, mask=Mask.PADDING), CPU)
    assert keep is not None
    assert keep.int().tolist() == [[[[1, 1, 1, 1]]], [[[1, 1, 1, 0]]]]


def test_the_inputs_of_a_seed_are_the_same_for_all() -> None:
    one, other = Inputs.of(SMALL, CPU), Inputs.of(SMALL, CPU)
    assert torch.equal(one.q, other.q)
    assert not torch.equal(one.q, Inputs.of(replace(SMALL, seed=1), CPU).q)


def test_a_forward_step_keeps_no_graph() -> None:
    problem = replace(SMALL, training=False)
    with pinned(Backend.MATH):
        results = run(attention(Backend.MATH, problem, CPU), Inputs.of(problem, CPU))
    assert len(results) == 1
    assert results[0].grad_fn is None

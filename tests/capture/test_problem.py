"""The problem that a recording is of."""

from dataclasses import replace

import pytest

from traceview.capture.problem import PRESETS, Mask, Problem, edge_cases
from traceview.errors import UsageError


@pytest.mark.parametrize(
    ("preset", "text"),
    [
        ("published", "B8 H16 S1024 D64 bfloat16 causal, forward"),
        ("training", "B4 H16 S2048 D64 bfloat16 causal, forward+backward"),
        ("small", "B1 H4 S256 D32 float32 causal, forward"),
    ],
)
def test_a_preset_in_a_few_words(preset: str, text: str) -> None:
    assert PRESETS[preset].text == text


def test_shared_heads_other_keys_and_no_mask_are_named() -> None:
    problem = Problem(2, 8, 1, 64, kv_heads=2, kv_length=96, mask=Mask.NONE)
    assert problem.text == "B2 H8/2 S1/96 D64 bfloat16 no mask, forward"


@pytest.mark.parametrize("wrong", [{"batch": 0}, {"head_dim": -1}, {"kv_heads": 3}])
def test_impossible_sizes_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="has to be"):
        replace(PRESETS["small"], **wrong)  # type: ignore[arg-type] # a subset of the fields


def test_facts_tell_two_works_apart() -> None:
    forward = PRESETS["small"]
    assert forward.facts() == replace(forward).facts()
    assert forward.facts() != replace(forward, training=True).facts()
    assert forward.facts()["mask"] == "causal"


def test_edge_cases_have_the_precision_and_passes_of_the_work() -> None:
    cases = edge_cases(PRESETS["training"])
    assert {case.dtype for case in cases.values()} == {"bfloat16"}
    assert all(case.training for case in cases.values())
    assert len(set(cases.values())) == len(cases) == 10

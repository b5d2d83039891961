"""Operations and bytes, against arithmetic that fits in a line."""

import json
from typing import Any

import pytest

from traceview.flops import Cost, cost, shapes_text

BF16, FP32 = "c10::BFloat16", "float"


def of(op: str, dims: list[Any], values: dict[int, str] | None = None, dtype: str = BF16) -> Cost:
    """The cost of an op whose tensors all have one type, scalars by their position."""
    texts = [""] * (max(values, default=0) + 1 if values else 0)
    for at, text in (values or {}).items():
        texts[at] = text
    found = cost(op, json.dumps(dims), json.dumps([dtype] * len(dims)), json.dumps(texts))
    assert found is not None
    return found


def test_a_product() -> None:
    found = of("aten::mm", [[2, 3], [3, 5]])
    assert found == Cost(2 * 2 * 3 * 5, 60, 2 * (6 + 15 + 10), "bf16")
    assert of("aten::bmm", [[7, 2, 3], [7, 3, 5]])[:3] == (420, 420, 7 * 62)
    assert of("aten::addmm", [[5], [2, 3], [3, 5], [], []])[:3] == (60, 60, 62 + 10)
    assert of("aten::baddbmm", [[7, 2, 5], [7, 2, 3], [7, 3, 5]]).useful == 420
    assert of("aten::linear", [[4, 2, 3], [5, 3], [5]])[:3] == (240, 240, 2 * (24 + 15 + 40))


def test_a_convolution() -> None:
    # 8 images of 3 x 6 x 6, 16 filters of 3 x 3 x 3, stride 2, padding 1: out 3 x 3.
    values = {3: "[2, 2]", 4: "[1, 1]", 5: "[1, 1]", 6: "False", 7: "[0, 0]", 8: "1"}
    found = of("aten::convolution", [[8, 3, 6, 6], [16, 3, 3, 3], []], values, FP32)
    out = 8 * 16 * 3 * 3
    assert found == Cost(2 * out * 27, 2 * out * 27, 4 * (864 + 432 + out), "fp32")


def test_a_convolution_backward_counts_what_it_computes() -> None:
    dims = [[8, 16, 3, 3], [8, 3, 6, 6], [16, 3, 3, 3]]
    flops = 2 * (8 * 16 * 3 * 3) * 27
    for mask, times in (("[True, True, False]", 2), ("[False, True, True]", 1)):
        values = {7: "False", 10: mask}
        assert of("aten::convolution_backward", dims, values).useful == times * flops


PUBLISHED = [[8, 16, 1024, 64]] * 3


def test_attention_of_a_published_shape() -> None:
    """17.18 GFLOP of 34.36, as the papers count (attention notes, 5)."""
    flash = of("aten::_scaled_dot_product_flash_attention", PUBLISHED, {4: "True"})
    assert flash.useful == flash.executed == 17_179_869_184
    assert flash.least_bytes == 4 * 8 * 16 * 1024 * 64 * 2
    assert round(flash.least_bytes / 1e6, 1) == 67.1
    math = of("aten::_scaled_dot_product_attention_math", PUBLISHED, {5: "True"})
    assert (math.useful, math.executed) == (17_179_869_184, 34_359_738_368)
    whole = of("aten::_scaled_dot_product_efficient_attention", PUBLISHED, {6: "False"})
    assert whole.useful == whole.executed == 34_359_738_368
    scores = of("aten::bmm", [[128, 1024, 64], [128, 64, 1024]])
    values = of("aten::bmm", [[128, 1024, 1024], [128, 1024, 64]])
    assert scores.executed + values.executed == 34_359_738_368


def test_attention_backward_is_two_and_a_half_times_forward() -> None:
    forward = of("aten::_scaled_dot_product_cudnn_attention", PUBLISHED, {6: "True"})
    backward = of(
        "aten::_scaled_dot_product_cudnn_attention_backward",
        [PUBLISHED[0], *PUBLISHED],
        {14: "True"},
    )
    assert 2 * backward.useful == 5 * forward.useful


def test_grouped_queries_save_bytes_and_no_operations() -> None:
    dims = [[1, 8, 16, 32], [1, 2, 16, 32], [1, 2, 16, 32]]
    grouped = of("aten::_scaled_dot_product_flash_attention", dims, {4: "False"})
    plain = of("aten::_scaled_dot_product_flash_attention", [dims[0]] * 3, {4: "False"})
    assert grouped.useful == plain.useful
    assert grouped.least_bytes == 2 * (2 * 8 + 2 * 2) * 16 * 32


@pytest.mark.parametrize(
    ("rows", "columns", "top_left", "bottom_right"),
    [(4, 4, 16, 16), (2, 6, 4, 20), (6, 2, 20, 4), (1, 8, 1, 15)],
)
def test_a_causal_mask_of_a_rectangle(
    rows: int, columns: int, top_left: int, bottom_right: int
) -> None:
    """Twice the visible entries, the diagonal cut in half."""
    query, key = [1, 1, rows, 1], [1, 1, columns, 1]
    found = of("aten::_scaled_dot_product_attention_math", [query, key, key], {5: "True"})
    assert found.useful == 2 * top_left
    assert found.executed == 2 * 2 * rows * columns
    query, key = [1, rows, 1, 1], [1, columns, 1, 1]
    found = of("flash_attn::_flash_attn_forward", [query, key, key], {5: "True"})
    assert found.useful == 2 * bottom_right


def test_what_was_not_recorded_has_no_cost() -> None:
    shapes, types = json.dumps([[2, 3], [3, 5]]), json.dumps([BF16, BF16])
    assert cost("aten::mm", None, types, None) is None
    assert cost("aten::mm", "[]", types, None) is None
    assert cost("aten::mm", "[[2, 3", types, None) is None
    assert cost("aten::mm", json.dumps([[2, 3], [4, 5]]), types, None) is None
    assert cost("aten::mm", shapes, json.dumps(["unheard of"] * 2), None) is None
    assert cost("aten::add", shapes, types, None) is None
    flash = json.dumps(PUBLISHED)
    assert (
        cost("aten::_scaled_dot_product_flash_attention", flash, json.dumps([BF16] * 3), None)
        is None
    )
    packed = json.dumps([[100, 8, 64]] * 3)
    assert cost("aten::_flash_attention_forward", packed, json.dumps([BF16] * 3), None) is None


def test_shapes_on_a_line() -> None:
    assert shapes_text("[\n [2,\n 3],\n [],\n []\n]") == "[[2, 3]]"
    assert shapes_text("not json") == "not json"

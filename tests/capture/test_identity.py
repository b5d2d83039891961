"""Which backend ran is told from names alone."""

import pytest

from traceview.capture.identity import backends_seen

WRITTEN = {"aten::matmul", "aten::mul", "aten::_softmax"}


@pytest.mark.parametrize(
    ("names", "backends"),
    [
        ({"aten::_scaled_dot_product_flash_attention_for_cpu"}, ("flash",)),
        ({"aten::_scaled_dot_product_attention_math", "aten::_softmax"}, ("math",)),
        ({"aten::_scaled_dot_product_efficient_attention"}, ("efficient",)),
        ({"aten::_cudnn_attention_forward"}, ("cudnn",)),
        ({"triton_tem_fused_flex_attention_0", "CompiledFunction"}, ("flex",)),
        ({"Torch-Compiled Region: 0/0", "triton_red_fused__softmax_0"}, ("compiled",)),
        ({"Torch-Compiled Region: 0/0", "aten::_flash_attention_forward"}, ("flash",)),
        (WRITTEN | {"aten::masked_fill", "aten::masked_fill_"}, ("naive",)),
        (WRITTEN | {"aten::masked_fill_", "aten::mul_"}, ("inplace",)),
        (WRITTEN | {"aten::masked_fill_", "aten::mul_", "aten::masked_fill"}, ("inplace",)),
        (WRITTEN, ("unmasked",)),
        ({"aten::add"}, ()),
    ],
)
def test_the_backend_is_told_by_its_ops(names: set[str], backends: tuple[str, ...]) -> None:
    assert backends_seen(names) == backends

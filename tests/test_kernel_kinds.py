"""Kinds of kernels, with the ops around them and without."""

import pytest

from traceview.kernel_kinds import Kind, kernel_kind

KINDS = (
    # name, ops, annotations, category, kind
    ("pytorch_flash::flash_fwd_kernel", "aten::_flash_attention_forward", "", "kernel",
     ("attention", "flash")),
    ("softmax_warp_forward", "aten::_scaled_dot_product_attention_math/aten::_softmax", "",
     "kernel", ("attention", "math")),
    ("softmax_warp_forward", "aten::softmax/aten::_softmax", "", "kernel", ("softmax", None)),
    ("attn_fwd", "aten::_flash_attention_forward", "", "kernel", ("attention", "flash")),
    ("attn_fwd", "", "", "kernel", ("attention", "triton")),
    ("fmha_cutlassB_bf16_aligned_64x64_k64_seqaligned_sm80", "", "", "kernel",
     ("attention", "efficient")),
    ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7", "", "", "kernel",
     ("attention", "cudnn")),
    ("void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<int>>>", "", "",
     "kernel", ("attention", "flash 3")),
    ("_ZN7ck_tile6kentryILi1ENS_43FmhaBatchPrefillWithPagedKVCacheKernelEE", "", "", "kernel",
     ("attention", "ck")),
    ("triton_tem_fused_flex_attention_0", "", "", "kernel", ("attention", "flex")),
    ("triton_tem_fused_mm_3", "", "", "kernel", ("triton", "template")),
    ("triton_poi_fused__scaled_dot_product_attention_2", "", "", "kernel",
     ("triton", "pointwise")),
    ("void vllm::reshape_and_cache_flash_kernel<int>", "", "", "kernel", ("copy", None)),
    ("nvjet_sm90_tst_128x160_64x5_4x1_v_bz_NTT", "", "", "kernel", ("gemm", "tensor cores")),
    ("ampere_sgemm_128x32_nn", "aten::mm", "", "kernel", ("gemm", "CUDA cores")),
    ("void cublasLt::splitKreduce_kernel<32, 16>", "aten::addmm", "", "kernel", ("gemm", None)),
    ("elementwise_kernel", "aten::convolution/aten::cudnn_convolution", "", "kernel",
     ("convolution", None)),
    ("void at::native::vectorized_layer_norm_kernel<float>", "", "", "kernel",
     ("normalization", None)),
    ("void at::native::reduce_kernel<512, 1, MeanOps>", "aten::mean", "", "kernel",
     ("reduction", None)),
    ("void at::native::elementwise_kernel<128, 4, direct_copy_kernel_cuda>", "", "", "kernel",
     ("copy", None)),
    ("void at::native::vectorized_elementwise_kernel<4, AddFunctor>", "aten::add_",
     "train/Optimizer.step#AdamW.step", "kernel", ("optimizer", None)),
    ("multi_tensor_apply_kernel<AdamFunctor<float>>", "", "", "kernel", ("optimizer", None)),
    ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "", "", "kernel", ("communication", None)),
    ("Memcpy DtoD (Device -> Device)", "aten::_flash_attention_forward", "", "gpu_memcpy",
     ("copy", None)),
    ("rotary", "", "", "kernel", ("other", None)),
)  # fmt: skip


@pytest.mark.parametrize(("name", "ops", "annotations", "category", "kind"), KINDS)
def test_kinds(
    name: str, ops: str, annotations: str, category: str, kind: tuple[str, str | None]
) -> None:
    assert kernel_kind(name, ops, annotations, category) == Kind(*kind)


def test_a_name_of_any_length_has_its_kind_at_once() -> None:
    """A search that begins anew at each letter would take hours for this one."""
    assert kernel_kind("kernel", "x" * 1_000_000) == Kind("other")
    assert kernel_kind("x" * 1_000_000) == Kind("other")
    assert kernel_kind("kernel", "x" * 1_000_000 + "::layer_norm") == Kind("normalization")

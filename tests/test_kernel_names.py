"""Names of kernels, from recordings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceview.kernel_names import _parts, normalized, short

MASKED_FILL = (
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
    "(anonymous namespace)::masked_fill_kernel(at::TensorIterator&, c10::Scalar const&)::{lambda()"
    "#1}::operator()() const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16, bool)#1}>"
    "(at::TensorIteratorBase&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<int>)"
)
MUL = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float,"
    " float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int)"
)
SUM = (
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<"
    "float, at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda("
    "float, float)#1}>, unsigned int, float, 4, 4> >(at::native::ReduceOp<float>)"
)
FLASH_3 = (
    "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<flash::Mainloop<int> >"
    " > >(flash::Params)"
)
NORM = (
    "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type"
    " vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)"
)
TENSILE = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1_SN_LDSB1_AFC1"
NVJET = "nvjet_sm90_tst_128x160_64x5_4x1_v_bz_coopA_NTT"

NAMES = (
    # recorded, short, normalized
    (MASKED_FILL, "elementwise masked_fill_kernel", "elementwise masked_fill_kernel"),
    (MUL, "vectorized_elementwise MulFunctor<float>", "vectorized_elementwise MulFunctor"),
    (SUM, "reduce sum_functor", "reduce sum_functor"),
    ("void pytorch_flash::flash_fwd_kernel<Traits<64> >(pytorch_flash::Flash_fwd_params)",
     "pytorch_flash::flash_fwd_kernel", "pytorch_flash::flash_fwd_kernel"),
    (FLASH_3, "flash::FlashAttnFwdSm90", "flash::FlashAttnFwdSm90"),
    (NORM, "vllm::fused_add_rms_norm_kernel", "vllm::fused_add_rms_norm_kernel"),
    ("void (anonymous namespace)::softmax_warp_forward<float, 10>(float*, int)",
     "softmax_warp_forward", "softmax_warp_forward"),
    (NVJET, NVJET, "nvjet_sm90_tst_NTT"),
    (TENSILE, "Cijk_Alik_Bljk_BBS_BH MT256x32x64", "Cijk_Alik_Bljk_BBS_BH"),
    ("ampere_sgemm_128x32_sliced1x4_nn", "ampere_sgemm_128x32_sliced1x4_nn", "ampere_sgemm_nn"),
    ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align4>(Params)",
     "cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align4",
     "cutlass_80_tensorop_s1688gemm_nn"),
    ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_kernel0_0",
     "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_kernel0_0",
     "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16"),
    ("triton_poi_fused_add_mul_12", "triton_poi_fused_add_mul_12", "triton_poi_fused_add_mul"),
    ("triton__0d1d2de3d", "triton__0d1d2de3d", "triton"),
    ("kernel_unified_attention_2d", "kernel_unified_attention_2d", "kernel_unified_attention_2d"),
    ("compiled_kernel_0f3a9c81de", "compiled_kernel_0f3a9c81de", "compiled_kernel"),
    ("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27PipelineEEEE", "Rmsnorm2dFwd", "Rmsnorm2dFwd"),
    ("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256EEEvPT0_",
     "aiter::add_rmsnorm_quant_kernel", "aiter::add_rmsnorm_quant_kernel"),
    ("_Z9my_kernelPf", "my_kernel", "my_kernel"),
    ("Memcpy HtoD (Pagable -> Device)", "Memcpy HtoD (Pagable -> Device)",
     "Memcpy HtoD (Pageable -> Device)"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "read", "matched"), NAMES, ids=[name[:40] for name, *_ in NAMES])
def test_names(name: str, read: str, matched: str) -> None:
    assert (short(name), normalized(name)) == (read, matched)


def test_base_names_keep_their_namespace() -> None:
    assert _parts(SUM)[0] == "at::native::reduce_kernel"
    assert _parts("triton_red_fused_1") == ("triton_red_fused_1", "")


ANYTHING = st.text(st.sampled_from("_ZNab019<>(), :x") | st.characters(), min_size=1, max_size=40)


@given(ANYTHING)
def test_no_name_is_lost(name: str) -> None:
    assert short(name)
    assert normalized(name)


@pytest.mark.parametrize("name", [matched for *_, matched in NAMES])
def test_normalized_names_are_settled(name: str) -> None:
    assert normalized(name) == name

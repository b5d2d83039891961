"""What kind of work a kernel does: one classifier for all views.

The ops around the launch are asked first and the name of the kernel second, for one kernel serves
many ops and one op runs many kernels; where the op is unknown (graphs, compiled code, lost
launches) the name is all there is. Names of attention: format notes, 9.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from traceview.kernel_names import is_communication

ATTENTION = "attention"
GEMM = "gemm"
CONVOLUTION = "convolution"
NORMALIZATION = "normalization"
SOFTMAX = "softmax"
ELEMENTWISE = "elementwise"
REDUCTION = "reduction"
COPY = "copy"
COMMUNICATION = "communication"
OPTIMIZER = "optimizer"
TRITON = "triton"
OTHER = "other"
TENSOR_CORES, CUDA_CORES = "tensor cores", "CUDA cores"


class Kind(NamedTuple):
    """A kind and, where it is known, which of it: the attention's backend, the cores of a gemm."""

    kind: str
    detail: str | None = None


_ATTENTION_OPS = (
    ("flash", r"_flash_attention|flash_attn(?!_3)|FlashAttnFunc|aiter::(?:_flash|mha|fmha|mla)"),
    ("flash 3", r"flash_attn_3::"),
    ("efficient", r"efficient_attention|memory_efficient_attention|xformers.*attention"),
    ("cudnn", r"cudnn_attention|fused_attn_(?:fwd|bwd)|FusedAttnFunc"),
    ("math", r"scaled_dot_product_attention_math"),
    ("flex", r"flex_attention"),
    ("paged", r"vllm::unified_attention|paged_attention"),
)
_ATTENTION_KERNELS = (
    ("flash 3", r"FlashAttn(?:Fwd|Bwd)(?:Sm90|Combine)|flash::compute_attn_ws"),
    ("flash 4", r"FlashAttention(?:Forward|Backward|MLA)\w*"),
    ("flash", r"flash::\w*(?:fwd|bwd)\w*|^flash_(?:fwd|bwd)_"),
    ("efficient", r"fmha_cutlass[FB]_|PyTorchMemEffAttention"),
    ("cudnn", r"cudnn_generated_\w*sdpa|cudnn::fusion::(?:convert_dq|compute_dot_do_o)"),
    ("flex", r"flex_attention"),
    ("ck", r"FmhaFwd|FmhaBwd|FmhaBatchPrefill|aiter::fmha_"),
    ("paged", (r"Batch(?:Prefill|Decode)With\w*KVCache|kernel_unified_attention|paged_attention"
              r"|fmhaSm\d+\w*PagedKv")),
    ("tensorrt", r"^fmhaSm\d+"),
    ("sage", r"qk_int8_sv_f8"),
    ("triton", r"^attn_fwd|^bwd_(?:preprocess|kernel_(?:dk_dv|dq|fuse))|^_?attn_(?:fwd|bwd)"),
)  # fmt: skip
_CACHE_COPY = re.compile(r"reshape_and_cache|store_kvcache")
"""Copies into a key-value cache, whose names speak of attention."""

_OPS = (
    (OPTIMIZER, r"aten::_fused_(?:adam|adamw|sgd|adagrad)\w*"),
    (COMMUNICATION, r"c10d::|nccl:|record_param_comms|symm_mem::|_c10d_functional"),
    (CONVOLUTION, r"\w::\w*convolution|aten::conv\d?d?|aten::conv_\w+"),
    (GEMM, (r"aten::(?:mm|addmm|bmm|baddbmm|addbmm|mv|addmv|dot|linear|matmul|_scaled_mm"
           r"|_grouped_mm|_int_mm|_addmm_activation|einsum)\b|::\w*gemm")),
    (NORMALIZATION, r"\w::\w*(?:layer_norm|batch_norm|group_norm|rms_?norm|instance_norm)"),
    (SOFTMAX, r"aten::\w*softmax\w*"),
    (COPY, r"aten::(?:copy_|_to_copy|clone|contiguous|cat|_foreach_copy_|stack|_cat)$"),
    (REDUCTION, (r"aten::(?:sum|mean|max|min|amax|amin|argmax|argmin|any|all|prod|norm|var|std"
                r"|linalg_vector_norm|_foreach_norm|logsumexp|nansum|count_nonzero)$")),
)  # fmt: skip
_KERNELS = (
    (OPTIMIZER, r"(?:Adam|SGD|Lamb|LAMB|Adagrad|RMSprop|Lion)\w*Functor|FusedOptimizer"),
    (CONVOLUTION, (r"(?:f|d|w)prop|[dw]grad|winograd|implicit_convolve|implicit_gemm|convolution"
                  r"|_conv_|cudnn::(?:cnn|detail)|scudnn|igemm_(?:fwd|bwd|wrw)|im2col|[cC]onv\d?d")),
    (GEMM, r"gemm|nvjet|^Cijk_|cublas|splitKreduce|^bmm_|matmul|_gemv|gemv"),
    (SOFTMAX, r"[sS]oft_?[mM]ax"),
    (NORMALIZATION, (r"(?:layer|rms|batch|group)_?norm|LayerNorm|GammaBeta|Rmsnorm|Layernorm"
                    r"|cudnn::bn_|^bn_")),
    (COPY, (r"direct_copy_kernel|CatArrayBatchedCopy|copy_kernel_cuda|CopyFunctor|^MEMORY_COPY"
           r"|amd_rocclr_(?:copy|fill)Buffer|copy_device_to_device|batched_transpose|[nN]chwToNhwc"
           r"|[nN]hwcToNchw|^transpose_")),
    (ELEMENTWISE, r"elementwise|multi_tensor_apply"),
    (REDUCTION, r"reduce_kernel|DeviceReduce|reduce_segments"),
)  # fmt: skip
_TENSOR = re.compile(
    r"tensorop|_tensor\d|nvjet|wgmma|hmma|imma|wmma|mfma|xdl|_MI\d+x\d+|[hs]\d*16816|s1688|i16832"
    r"|(?:fp16|bf16|f16|h884|h1688|s161616)\w*gemm|tf32|bf16bf16|f16f16|_sm100"
)
_VECTOR = re.compile(r"sgemm|dgemm|simt|ffma|gemv|f32f32_f32f32|gemmk1|dot_kernel|scudnn")
_TRITON = re.compile(r"triton_(?P<what>poi|red|per|tem|mm|bmm)?")
_TRITON_WORDS = {"poi": "pointwise", "red": "reduction", "per": "reduction", "tem": "template"}


def kernel_kind(name: str, ops: str = "", annotations: str = "", category: str = "kernel") -> Kind:
    """The kind of a piece of device work.

    `ops` and `annotations` are the paths around its launch, joined by `/` from the outermost to the
    innermost, as the frame of owners has them; empty where nothing is known.
    """
    if category != "kernel" or _CACHE_COPY.search(name):
        return Kind(COPY)
    if is_communication(name):
        return Kind(COMMUNICATION)
    if backend := _first(_ATTENTION_BY_OP, ops) or _first(_ATTENTION_BY_KERNEL, name):
        return Kind(ATTENTION, backend)
    if "Optimizer.step" in annotations:
        return Kind(OPTIMIZER)
    if generated := _TRITON.match(name):
        return Kind(TRITON, _TRITON_WORDS.get(generated["what"] or ""))
    innermost = ops.rpartition("/")[-1]
    kind = _first(_KIND_BY_OP, innermost) or _first(_KIND_BY_KERNEL, name) or OTHER
    return Kind(kind, _cores(name) if kind in {GEMM, CONVOLUTION} else None)


def _cores(name: str) -> str | None:
    """The units that multiply, where the name gives them away."""
    if _TENSOR.search(name):
        return TENSOR_CORES
    return CUDA_CORES if _VECTOR.search(name) else None


def _compiled(table: tuple[tuple[str, str], ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((word, re.compile(pattern)) for word, pattern in table)


def _first(table: tuple[tuple[str, re.Pattern[str]], ...], text: str) -> str | None:
    """The first word whose pattern occurs in the text."""
    return next((word for word, pattern in table if pattern.search(text)), None)


_ATTENTION_BY_OP = _compiled(_ATTENTION_OPS)
_ATTENTION_BY_KERNEL = _compiled(_ATTENTION_KERNELS)
_KIND_BY_OP = _compiled(_OPS)
_KIND_BY_KERNEL = _compiled(_KERNELS)

"""What the name of a kernel tells. Knows nothing of traces.

`short` is for reading, `normalized` for finding the same kernel in another recording, of other
sizes or of another version; the full name is always the one that was recorded.
"""

from __future__ import annotations

import re
from functools import lru_cache

_COMMUNICATION = re.compile(
    r"nccl(?:Dev)?Kernel|ncclDev|rccl|^xccl|^hccl|oneccl|ccl_kernel"
    r"|cross_device_reduce|all_?reduce_(?:one|two)_?(?:stage|shot)|multimem_all_reduce"
    r"|deep_ep::|nvshmem",
    re.IGNORECASE,
)
_ANONYMOUS = "(anonymous namespace)"
_COPY = re.compile(r"Mem(?:cpy|set)\b")
_TEMPLATES_OF_OPS = re.compile(
    r"(?:at::native::|\(anonymous namespace\)::)+\w*(?:elementwise|reduce_kernel)\w*"
    r"|(?:.*::)?multi_tensor_apply_kernel"
)
"""at::native kernels that say nothing until one knows what they are instantiated with."""
_WRAPPERS = re.compile(r"[AB]?(?:Unary|Binary)Functor|gpu_\w*kernel\w*|operator|func_wrapper_t")
_INSTANTIATED_WITH = re.compile(
    r"(?P<functor>\w*[Ff]unctor\w*|\w+Ops)\b(?P<type><[^<>,()]*>)?"  # MulFunctor<float>, MeanOps
    # exp_kernel_cuda; looked at without being passed, for a wrapper may hold what is sought
    r"|(?P<function>\w+)(?=(?:<[^<>(){}]*(?:<[^<>(){}]*>[^<>(){}]*)*>)?\([^(){}]*\)::\{lambda)"
)
_LAUNCHER = re.compile(r"cutlass\w*::(?:Kernel\d*|device_kernel)|ck_tile::kentry")
_TENSILE = re.compile(
    r"(?P<problem>Cijk_.*?)(?=_Bias|_HA|_UserArgs|_MT|$)(?:.*_(?P<tile>MT\d+x\d+x\d+))?"
)
_NVJET = re.compile(r"(?P<family>nvjet_(?:sm\d+_)?[a-z]+)(?:_\w*?)??(?P<layout>_[NT]{3})?")
_TILE = re.compile(
    r"_(?:tilesize|warp(?:group)?size|tensor|MT|MI|bt|wt|ws|wr|ta|tb|cga|pack_|ediv_|sliced|e?t|m)?"
    r"\d+(?:x\d+)+(?:u\d+)?(?=_|$)"
    r"|_(?:knob_|stage|align[ac]?|kernel)\d+(?=_|$)"
)
_HASH = re.compile(r"_(?!(?:bf16)+(?:_|$))(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}(?=_|$)")
_NUMBERS_AT_END = re.compile(r"_+\d+$|_+(?:\d+(?:de|d|c)){2,}$|(?<=triton)_+\d+d?$|_+$")


def is_communication(name: str) -> bool:
    """Whether a kernel moves data between ranks: NCCL, RCCL, oneCCL, HCCL, custom all-reduces."""
    return _COMMUNICATION.search(name) is not None


@lru_cache(maxsize=4096)
def short(name: str) -> str:
    """A name to read: the function, and for templates that serve many ops what makes it this one.

    `vectorized_elementwise MulFunctor<float>`, `elementwise masked_fill_kernel`,
    `pytorch_flash::flash_fwd_kernel`.
    """
    base, functor = _told(name, with_type=True)
    if tuned := _TENSILE.match(base):
        return f"{tuned['problem']} {tuned['tile'] or ''}".strip()
    return f"{_stem(base)} {functor}" if functor else _without_torch(base)


@lru_cache(maxsize=4096)
def normalized(name: str) -> str:
    """What stays of a name across sizes, tunings and versions.

    Template arguments, tiles, hashes, and the numbers that Triton appends are gone.
    """
    base, functor = _told(name, with_type=False)
    if _COPY.match(base):
        return base.replace("Pagable", "Pageable")
    if functor:
        return f"{_stem(base)} {functor}"
    if tuned := _NVJET.fullmatch(base):
        return tuned["family"] + (tuned["layout"] or "")
    if tuned := _TENSILE.match(base):
        return tuned["problem"]
    bare = _HASH.sub("", _TILE.sub("", _without_torch(base)))
    while (fewer := _NUMBERS_AT_END.sub("", bare)) != bare:
        bare = fewer
    return bare if bare.strip("_") else base


def _parts(name: str) -> tuple[str, str]:
    """The bare name, and the text of its template arguments, empty for none.

    The bare name of `void at::native::reduce_kernel<512, 1, F>(F)` is `at::native::reduce_kernel`,
    without return type and parameters; what is no C++ signature is its own bare name.
    """
    name = name.removesuffix(" [clone .kd]").strip() or name
    if _COPY.match(name):
        return name, ""
    if mangled := _demangled(name):
        return mangled
    brackets: list[str] = []
    kept: list[str] = []
    arguments: list[str] = []
    for character in name.replace(_ANONYMOUS, "{anonymous}"):
        if character == "(" and not brackets:
            break
        if character in "<(":
            brackets.append(character)
        (arguments if brackets else kept).append(character)
        # `>` within parentheses compares, as in enable_if<((8)>(0)), void>.
        if brackets and (character, brackets[-1]) in {(">", "<"), (")", "(")}:
            brackets.pop()
    bare = "".join(kept).strip()
    bare = bare.split(" ")[-1] if bare.startswith(("void ", "std::enable_if")) else bare
    inner = "".join(arguments).replace("{anonymous}::", "")
    return bare.replace("{anonymous}", _ANONYMOUS) or name, inner


def _demangled(name: str) -> tuple[str, str] | None:
    """The nested name in `_ZN2ck6kernelINS_3FwdE...` and its first template argument; no more."""
    found = re.match(r"_Z(?P<nested>N?)(?=\d)", name)
    if found is None:
        return None
    path, end = _identifiers(name, found.end(), None if found["nested"] else 1)
    argument: list[str] = []
    if (nested := re.compile(r"I(?:L?[a-z]\w*?E)*N(?:S\w?_)?").match(name, end)) is not None:
        argument, _ = _identifiers(name, nested.end(), None)
    return "::".join(path), f"<{'::'.join(argument)}>" if argument else ""


def _identifiers(name: str, at: int, most: int | None) -> tuple[list[str], int]:
    """The run of identifiers that begins here, each after its length."""
    found: list[str] = []
    while (size := re.compile(r"\d+").match(name, at)) and (most is None or len(found) < most):
        at = size.end() + int(size[0])
        found.append(name[size.end() : at].replace("_GLOBAL__N_1", _ANONYMOUS))
    return found, at


def _told(name: str, *, with_type: bool) -> tuple[str, str]:
    """The bare name, and for a template that serves many ops what it is instantiated with.

    A launcher is as good as the kernel that it runs: it gives way to that.
    """
    base, arguments = _parts(name)
    if _LAUNCHER.fullmatch(base):
        return _innermost_kernel(arguments) or base, ""
    if not _TEMPLATES_OF_OPS.fullmatch(base):
        return base, ""
    for found in _INSTANTIATED_WITH.finditer(arguments):
        word = found["functor"] or found["function"]
        if not _WRAPPERS.fullmatch(word):
            of_type = (found["type"] or "").replace("c10::", "") if with_type else ""
            return base, word + of_type
    return base, ""


def _innermost_kernel(arguments: str) -> str:
    """The class that a launcher template runs: `enable_sm90<flash::FlashAttnFwdSm90<...>>`."""
    found = re.match(r"<(?:[\w:]*enable\w*<)?(?P<kernel>[\w:]+)", arguments)
    return found["kernel"] if found else ""


def _stem(base: str) -> str:
    return base.rsplit("::", 1)[-1].replace("_kernel", "") or base


def _without_torch(base: str) -> str:
    bare = base.replace(f"{_ANONYMOUS}::", "").removeprefix("at::native::")
    return bare or base

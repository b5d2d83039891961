"""What the name of a kernel tells. Knows nothing of traces."""

from __future__ import annotations

import re

_COMMUNICATION = re.compile(
    r"nccl(?:Dev)?Kernel|ncclDev|rccl|^xccl|^hccl|oneccl|ccl_kernel"
    r"|cross_device_reduce|all_?reduce_(?:one|two)_?(?:stage|shot)|multimem_all_reduce"
    r"|deep_ep::|nvshmem",
    re.IGNORECASE,
)


def is_communication(name: str) -> bool:
    """Whether a kernel moves data between ranks: NCCL, RCCL, oneCCL, HCCL, custom all-reduces."""
    return _COMMUNICATION.search(name) is not None


def base_name(name: str) -> str:
    """The bare function name: no return type, template arguments or parameters.

    `void at::native::reduce_kernel<512, 1, F>(F)` -> `at::native::reduce_kernel`. A name that is
    no C++ signature comes back as it is.
    """
    depth = 0
    kept: list[str] = []
    text = name.replace("(anonymous namespace)", "{anonymous}")
    for character in text:
        if character == "(" and depth == 0:
            break
        depth += character == "<"
        if depth == 0:
            kept.append(character)
        depth -= character == ">"
    bare = "".join(kept).strip()
    bare = bare.split(" ")[-1] if bare.startswith(("void ", "std::enable_if")) else bare
    return bare.replace("{anonymous}", "(anonymous namespace)") or name

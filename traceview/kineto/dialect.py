"""Names by age and vendor, mapped to the present ones (format notes, 2.3 and 5)."""

from __future__ import annotations

_CATEGORIES = {
    "operator": "cpu_op",
    "memcpy": "gpu_memcpy",
    "memset": "gpu_memset",
    "runtime": "cuda_runtime",
    "user": "gpu_user_annotation",
    "python": "python_function",
    "net": "trace",
}
"""Earlier category names, in lower case."""


def canonical(category: str) -> str:
    """The present name of a category, in lower case as recorders of all ages are read."""
    lowered = category.lower()
    return _CATEGORIES.get(lowered, lowered)

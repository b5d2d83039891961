"""The attention that is asked for: backends, shapes, masks. Nothing here needs torch."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from traceview.errors import UsageError
from traceview.workload import Fact


class Backend(StrEnum):
    """Ways to compute one and the same attention; `unmasked` computes another on purpose."""

    NAIVE = "naive"
    INPLACE = "inplace"
    MATH = "math"
    FLASH = "flash"
    EFFICIENT = "efficient"
    CUDNN = "cudnn"
    FLEX = "flex"
    COMPILED = "compiled"
    UNMASKED = "unmasked"


ALL = tuple(backend for backend in Backend if backend is not Backend.UNMASKED)
"""What `all` stands for."""
COMPILING = frozenset({Backend.FLEX, Backend.COMPILED})
"""Those that go through torch.compile, which keeps what it made for each shape."""


class Mask(StrEnum):
    """Which keys a query attends to."""

    NONE = "none"
    CAUSAL = "causal"
    """Query i sees keys 0..i: aligned at the upper left, as torch's `is_causal`."""
    LOWER_RIGHT = "causal_lower_right"
    """The last query sees all keys: aligned at the lower right, as in decoding."""
    PADDING = "padding"
    """Every other sequence of the batch ends after three quarters of the keys."""
    ROWS = "masked_rows"
    """Causal, and every eighth query sees no key at all."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One attention, forward or forward and backward. Layout [batch, heads, length, head_dim].

    `logits` scales the queries: 1 for logits of about one, more for a softmax that saturates.
    """

    batch: int
    heads: int
    length: int
    head_dim: int
    kv_heads: int
    kv_length: int
    dtype: str = "bfloat16"
    mask: Mask = Mask.CAUSAL
    training: bool = False
    seed: int = 0
    logits: float = 1.0

    def __post_init__(self) -> None:
        sizes = (self.batch, self.heads, self.kv_heads, self.length, self.kv_length, self.head_dim)
        if min(sizes) < 1:
            raise UsageError(f"{self.text}: every size has to be 1 or more")
        if self.heads % self.kv_heads:
            raise UsageError(
                f"{self.heads} heads cannot share {self.kv_heads} heads of keys and values:"
                " the first has to be a multiple of the second"
            )

    @property
    def grouped(self) -> bool:
        """Whether several heads share one head of keys and values."""
        return self.kv_heads != self.heads

    @property
    def passes(self) -> str:
        """What a step runs."""
        return "forward+backward" if self.training else "forward"

    @property
    def text(self) -> str:
        """The problem in a few words, as in `B4 H16 S2048 D64 bfloat16 causal, forward`."""
        keys = f"/{self.kv_length}" if self.kv_length != self.length else ""
        heads = f"/{self.kv_heads}" if self.grouped else ""
        mask = "no mask" if self.mask is Mask.NONE else self.mask.value
        return (
            f"B{self.batch} H{self.heads}{heads} S{self.length}{keys} D{self.head_dim} "
            f"{self.dtype} {mask}, {self.passes}"
        )

    def facts(self) -> dict[str, Fact]:
        """The problem as a recording tells it."""
        facts: dict[str, Fact] = asdict(self)
        del facts["training"]
        return facts | {"mask": self.mask.value, "pass": self.passes, "layout": "BHSD"}


def square(batch: int, heads: int, length: int, head_dim: int) -> Problem:
    """A problem with as many keys as queries, and a head of keys for each head."""
    return Problem(batch, heads, length, head_dim, kv_heads=heads, kv_length=length)


PRESETS = {
    "published": square(8, 16, 1024, 64),
    "training": replace(square(4, 16, 2048, 64), training=True),
    "small": replace(square(1, 4, 256, 32), dtype="float32"),
}
"""published: forward, the shape for which kernel counts and times on an A100 are public;
training: forward and backward; small: for a CPU."""


def edge_cases(problem: Problem) -> dict[str, Problem]:
    """Small problems of this precision and these passes, each with what some backend breaks."""
    plain = Problem(2, 4, 64, 32, 4, 64, problem.dtype, Mask.CAUSAL, problem.training, problem.seed)
    none = replace(plain, mask=Mask.NONE)
    return {
        "causal, fewer queries than keys": replace(plain, length=48, kv_length=80),
        "causal lower right, fewer queries than keys": replace(
            plain, length=48, kv_length=80, mask=Mask.LOWER_RIGHT
        ),
        "causal lower right, more queries than keys": replace(
            plain, length=80, kv_length=48, mask=Mask.LOWER_RIGHT
        ),
        "key padding": replace(plain, mask=Mask.PADDING),
        "rows without a key": replace(plain, mask=Mask.ROWS),
        "one query": replace(none, length=1, kv_length=96),
        "one query and one key": replace(plain, length=1, kv_length=1),
        "shared keys and values": replace(plain, heads=8, kv_heads=2),
        "head of 7": replace(plain, head_dim=7),
        "large logits": replace(plain, logits=30.0),
    }

"""A text read in blocks of any size is the same text."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from traceview.kineto import window as window_module
from traceview.kineto.window import Window

blocks = st.lists(st.binary(min_size=1, max_size=40), max_size=12)
steps = st.lists(st.integers(0, 30), max_size=40)


@given(blocks=blocks, steps=steps, seam=st.integers(1, 8))
def test_what_is_in_memory_is_always_the_text_from_the_offset_on(
    blocks: list[bytes], steps: list[int], seam: int
) -> None:
    text = b"".join(blocks)
    with patch.object(window_module, "_SEAM", seam):
        window = Window(iter(blocks))
        for step in steps:
            left = window.left
            assert text[window.offset :].startswith(window.data[window.position :])
            got = window.more()
            assert window.final or window.left >= 2 * left
            assert got == (window.left > left)
            window.position += min(step, window.left)
        while window.more():
            pass
        assert window.data[window.position :] == text[window.offset :]
        assert window.final


def test_a_block_is_copied_only_where_it_meets_the_one_before() -> None:
    first, second = bytes(1 << 20), bytes(1 << 20)
    window = Window(iter([first, second]))
    window.more()
    window.more()
    assert window.data is first
    window.position = len(first) - 10
    window.more()
    assert len(window.data) < 1 << 17
    window.position = 20
    window.more()
    assert window.data is second
    assert window.offset == len(first) + 10

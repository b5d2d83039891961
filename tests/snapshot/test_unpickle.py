"""Nothing that a pickle names is imported or called."""

import copyreg
import io
import os
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from traceview.errors import FileError
from traceview.snapshot import is_pickle, load


class Calls:
    """Makes a directory when it is unpickled by the rules of pickle."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.target),)


def extension() -> bytes:
    """A pickle that names a registered class by a code, as one read before may have cached it."""
    copyreg.add_extension("collections", "OrderedDict", 0xF0)
    try:
        content = pickle.dumps(OrderedDict, protocol=4)
        pickle.loads(content)  # noqa: S301 -- our own, so that it is cached
    finally:
        copyreg.remove_extension("collections", "OrderedDict", 0xF0)
    return content


@pytest.mark.parametrize("protocol", range(2, 6))
def test_a_pickle_that_calls_something_is_refused_without_running_it(
    tmp_path: Path, protocol: int
) -> None:
    target = tmp_path / "was_called"
    file = tmp_path / "evil.pickle"
    file.write_bytes(pickle.dumps({"segments": [Calls(target)]}, protocol=protocol))
    with pytest.raises(FileError, match=r"names [a-z]+\.mkdir, which could run code") as refused:
        load(str(file))
    assert not target.exists()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps(OrderedDict(), protocol=4),
        b"\x80\x02cos\nsystem\n.",
        b"\x80\x02(ios\nsystem\n.",
        b"\x80\x02(cos\nsystem\nS'id'\no.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
        b"\x80\x02Pmine\n.",
        extension(),
    ],
)
def test_every_way_to_name_something_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "evil.pickle"
    file.write_bytes(content)
    with pytest.raises(FileError):
        load(str(file))


@pytest.mark.parametrize(
    "content", [b"\x80\x04", b"\x80\x04]\x94(", b"\x80\x04R.", b"\x80\x04}b.", b"\x80\x04\xff."]
)
def test_a_damaged_pickle_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "damaged.pickle"
    file.write_bytes(content)
    with pytest.raises(FileError, match="damaged"):
        load(str(file))


@pytest.mark.parametrize("content", [7, [1], {"nodes": []}, {"segments": 3}, {}])
def test_a_pickle_of_something_else_says_what_it_holds(tmp_path: Path, content: Any) -> None:
    file = tmp_path / "other.pickle"
    file.write_bytes(pickle.dumps(content))
    with pytest.raises(FileError, match="no memory snapshot: it holds"):
        load(str(file))


def test_a_pickle_is_told_by_its_content(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.json"
    stream = io.BytesIO()
    pickle.dump({}, stream)
    file.write_bytes(stream.getvalue())
    assert is_pickle(str(file))
    file.write_text('{"traceEvents": []}')
    assert not is_pickle(str(file))
    assert not is_pickle(str(tmp_path / "absent"))

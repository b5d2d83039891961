"""JSON: the data, strictly."""

import json
import math
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from traceview.document import Document
from traceview.render import render


def written(**data: Any) -> str:
    """The JSON of a report with this data."""
    return render(Document("t", "t", (), (), data), "json")


def test_keys_keep_their_order() -> None:
    assert written(b=1, a=[None, True]) == ('{\n  "b": 1,\n  "a": [\n    null,\n    true\n  ]\n}\n')


def test_numbers_of_numpy_and_read_only_mappings_are_welcome() -> None:
    data = {"ns": np.int64(2**62), "ratio": np.float32(0.5), "inner": MappingProxyType({"a": 1})}
    assert json.loads(written(**data)) == {"ns": 2**62, "ratio": 0.5, "inner": {"a": 1}}


def test_a_nan_or_a_stranger_is_a_bug() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        written(ratio=math.nan)
    with pytest.raises(TypeError, match="set has no place"):
        written(kernels={"a"})


def test_any_name_survives() -> None:
    name = '\x1b\u202e"\\\ud800'
    assert json.loads(written(name=name)) == {"name": name}

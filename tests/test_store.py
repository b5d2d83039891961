"""A frame that comes back from a file is the frame that went in, to the dtype."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from builders import TraceBuilder
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from strategies import recordings

from traceview import schema as s
from traceview import store
from traceview.errors import ColumnError, FileError, UsageError
from traceview.frames import FRAMES, frame
from traceview.schema import Schema

TEXTS = st.none() | st.text(max_size=6) | st.sampled_from(
    ["", "=1+1", "'quoted", "''", "-x", "a,b", 'a"b', "\n", "\r\n", "NA", "null", "\uff1dx", " "]
)  # fmt: skip
MIXED = Schema(
    "launches", "borrows a name that is known", (s.NAME, s.OP, s.ADDRESS, s.STREAM, s.CORRUPT, s.NS)
)
ENDINGS = [".parquet", ".arrow", ".csv"]


def through(folder: Path, ending: str, made: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    file = folder / f"frame{ending}"
    store.write(made, schema, file)
    return store.read(file, schema)


@pytest.mark.parametrize("ending", ENDINGS)
@given(rows=st.lists(st.tuples(TEXTS, TEXTS, st.none() | st.integers(0, 2**64 - 1),
                               st.none() | st.integers(-(2**63), 2**63 - 1), st.booleans(),
                               st.integers(-(2**63), 2**63 - 1)), max_size=6))  # fmt: skip
def test_whatever_the_values(
    tmp_path_factory: pytest.TempPathFactory, ending: str, rows: list[tuple[object, ...]]
) -> None:
    made = MIXED.of_rows(rows)
    back = through(tmp_path_factory.mktemp("frames"), ending, made, MIXED)
    assert_frame_equal(made, back, check_categorical=False)
    assert back[s.NAME].tolist() == made[s.NAME].tolist() or made[s.NAME].isna().any()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", list(FRAMES))
def test_every_frame_of_a_recording(tmp_path: Path, name: str, ending: str) -> None:
    t = TraceBuilder()
    t.step(1, 0, 50)
    t.python("train.py(1): step", 0, 40)
    t.op("aten::mm", 1, 10)
    t.launch(2, "gemm", 10, 5)
    t.synchronize(12, 9)
    t.memory(3, 512, 512, address=2**63 + 1, reserved=1024)
    made, schema = frame(t.trace(), name)
    file = tmp_path / f"frame{ending}"
    store.write(made, schema, file)
    assert_frame_equal(made, store.read(file, schema), check_categorical=False)


@given(recordings())
def test_every_frame_is_of_its_schema(built: TraceBuilder) -> None:
    trace = built.trace()
    for name, (schema, make) in FRAMES.items():
        assert schema.name == name
        schema.check(make(trace))


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_names_its_schema(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"gaps{ending}"
    store.write(s.GAP_LIST.empty(), s.GAP_LIST, file)
    assert list(store.read(file).columns) == list(s.GAP_LIST.columns)


def test_a_csv_that_may_be_of_several_schemas_asks_which(tmp_path: Path) -> None:
    file = tmp_path / "held.csv"
    alike = Schema("owned", "has the columns of two", s.FOLDED.columns)
    store.write(s.FOLDED.empty(), s.FOLDED, file)
    assert store.read(file, alike).empty
    file.write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match="its columns are of no schema"):
        store.read(file)


def test_no_cell_of_a_csv_is_a_formula(tmp_path: Path) -> None:
    file = tmp_path / "folded.csv"
    store.write(s.FOLDED.frame({s.STACK: ["=cmd()"], s.NS: [1]}), s.FOLDED, file)
    assert "'=cmd()" in file.read_text()


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pd.DataFrame({"ns": np.array([1])}), "lacks stack; its columns are ns"),
        (s.FOLDED.empty().assign(more=1), "it has of its own more"),
        (s.FOLDED.empty().astype({"ns": "float64"}), "another type ns (float64, not int64)"),
    ],
)
def test_a_frame_of_another_kind_is_told_column_by_column(frame: pd.DataFrame, said: str) -> None:
    with pytest.raises(ColumnError) as refused:
        s.FOLDED.check(frame)
    assert str(refused.value).startswith("folded: ")
    assert said in str(refused.value)


def test_what_cannot_be_read_is_one_plain_sentence(tmp_path: Path) -> None:
    for ending in ENDINGS:
        file = tmp_path / f"broken{ending}"
        with pytest.raises(FileError, match="there is no such file"):
            store.read(file)
        file.write_bytes(b"\x00\xff" * 20)
        with pytest.raises(FileError):
            store.read(file)
    with pytest.raises(UsageError, match=r"use one of \.parquet, \.arrow, \.csv"):
        store.read(tmp_path / "frame.xlsx")


def test_a_value_that_is_missing_where_it_must_not_be_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "folded.csv"
    file.write_text('"stack","ns"\n"a",\n')
    with pytest.raises(FileError, match="the column ns holds what is no int64"):
        store.read(file)

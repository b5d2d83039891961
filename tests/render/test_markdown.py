"""Markdown: tables that GitHub reads, names that stand for themselves."""

from hypothesis import given
from hypothesis import strategies as st
from render.documents import QUANTITIES, REPORT, of_tables

from traceview.document import Document, Field, Section, Table
from traceview.render import render

GOLDEN = """\
# title

## section

| a step | before | after | delta | ratio | verdict |
| --- | ---: | ---: | ---: | ---: | --- |
| GPU busy | 4.87 ms | 0.63 ms | -4.24 ms | x0.13 | faster |
| launches | 21 | 6 | -15 | x0.29 | fewer |
| peak allocated | 2.16 GiB | 2.16 GiB | +512 bytes | x1.000 | more memory |
| sync stall | - | - | - | - | cannot tell |
"""


def test_a_table() -> None:
    assert render(of_tables(QUANTITIES), "markdown") == GOLDEN


def test_rows_that_are_left_out_are_counted_after_a_blank_line() -> None:
    assert render(REPORT, "markdown").endswith(" |\n\n... and 1 more\n")


def test_a_detail_is_folded() -> None:
    section = Section("a <detail>", ("said",), folded=True)
    text = render(Document("t", "t", (), (section,)), "markdown")
    folded = "<details>\n<summary>a &lt;detail&gt;</summary>\n\nsaid\n\n</details>\n"
    assert text == f"# t\n\n{folded}"


def cell(name: str) -> str:
    """`name` as the only cell of a table."""
    return render(of_tables(Table("t", (Field("x"),), ((name,),))), "markdown").split("\n")[-2]


def test_special_characters_are_escaped() -> None:
    assert cell("a|b`c`<i>\nnext") == r"| a\|b\`c\`&lt;i&gt;\\nnext |"
    assert cell("f<float*, int*>") == r"| f&lt;float\*, int\*&gt; |"
    assert cell("__nv_bfloat16 a_b") == r"| \_\_nv_bfloat16 a_b |"
    assert cell("[x](javascript:1)") == r"| \[x\](javascript:1) |"


@given(st.text(st.characters() | st.sampled_from("|\\`\n")))
def test_a_cell_cannot_end_early(name: str) -> None:
    row = cell(name)
    assert row.isprintable()
    inside = row[2:-2].replace("\\\\", "").replace("\\|", "")
    assert "|" not in inside

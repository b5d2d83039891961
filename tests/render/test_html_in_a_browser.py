"""The page in a browser: sorted, filtered, zoomed, hovered, with nothing said and nothing asked."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from render.browser import Page, browser
from render.test_html import HOSTILE, hostile

from traceview import show
from traceview.document import Document, Excerpt, Field, Section, Table, Timeline, Track
from traceview.render import render
from traceview.trace import Trace
from traceview.units import Unit

Load = Callable[[Path], Trace]
LARGEST = 2_000_000


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """One browser for all tests of this module."""
    with browser() as opened:
        yield opened


@pytest.fixture
def opened(page: Page, tmp_path: Path) -> Iterator[Callable[[str], Page]]:
    """Opens a page, and holds afterwards that it said nothing and asked for nothing."""
    page.said.clear()
    page.asked.clear()
    file = tmp_path / "page.html"

    def show(content: str) -> Page:
        file.write_text(content, encoding="utf-8")
        page.open(file)
        return page

    yield show
    assert page.said == []
    assert set(page.asked) == {file.as_uri()}


def column(page: Page, table: str, number: int) -> list[str]:
    """What a column of a table shows."""
    found = page.run(
        f"[...document.querySelectorAll('#{table} tbody tr')].filter(row => !row.hidden)"
        f".map(row => row.cells[{number}].textContent)"
    )
    return [str(text) for text in found]


def place(page: Page) -> tuple[float, float, float]:
    """Left, top and width of the timeline in the window."""
    page.run("document.querySelector('canvas').scrollIntoView()")
    box = page.run(
        "(b => [b.x, b.y, b.width])(document.querySelector('canvas').getBoundingClientRect())"
    )
    return box[0], box[1], box[2]


def view(page: Page) -> tuple[int, int]:
    """Begin and end of what the timeline shows, ns."""
    start, end = page.run("(d => [d.start, d.end])(document.querySelector('canvas').dataset)")
    return int(start), int(end)


def hovered(page: Page) -> str:
    return str(page.run("document.querySelector('.hover').textContent"))


ROWS = Table(
    "kernels",
    (Field("name", stretch=True), Field("busy", Unit.NS)),
    tuple((f"kernel_{number}", (number * 7 % 10) * 1000 + 50) for number in range(10)),
)
GAP = Track("GPU 0: idle", "idle", 1, ((400, 200, 0, 1, 2),))
WORK = Track("GPU 0: stream 7", "device", 1, ((0, 400, 0, 3, 0), (600, 400, 0, 3, 0)))
STEP = Timeline(
    "step",
    (Excerpt("one", 0, 1000, (GAP, WORK)), Excerpt("two", 0, 500, (WORK,))),
    ("", "idle: python", "the host was in Python", "kernel_3"),
)
SMALL = Document(
    "t", "t", (), (Section("Kernels", (), (ROWS,)), Section("Timeline", pictures=(lambda: STEP,)))
)


def test_a_table_sorts_and_filters(opened: Callable[[str], Page]) -> None:
    page = opened(render(SMALL, "html"))
    press = "document.querySelectorAll('#kernels th button')[{}].click()"
    page.run(press.format(1))
    busy = [float(text) for text in column(page, "kernels", 1)]
    assert busy == sorted(busy, reverse=True)
    page.run(press.format(1))
    assert [float(text) for text in column(page, "kernels", 1)] == sorted(busy)
    page.run(press.format(0))
    assert column(page, "kernels", 0)[0] == "kernel_0"
    page.run("(i => { i.value = 'KERNEL_2'; i.dispatchEvent(new Event('input')); })"
             "(document.querySelector('.filter'))")  # fmt: skip
    assert column(page, "kernels", 0) == ["kernel_2"]


def test_the_timeline_tells_of_a_gap(opened: Callable[[str], Page]) -> None:
    page = opened(render(SMALL, "html"))
    left, top, width = place(page)
    lane = top + 22 + 22 + 18 + 8
    page.mouse("mouseMoved", left + width / 2, lane)
    assert hovered(page) == "idle: python\n200 ns, at 400 ns of one\nthe host was in Python"
    page.mouse("mouseMoved", left + width / 10, lane)
    assert hovered(page) == ""


def test_the_timeline_zooms_by_wheel_and_by_keys(opened: Callable[[str], Page]) -> None:
    page = opened(render(SMALL, "html"))
    left, top, width = place(page)
    assert view(page) == (0, 1000)
    page.mouse("mouseWheel", left + width / 2, top + 60, deltaX=0, deltaY=-120)
    start, end = view(page)
    assert 0 < start < 500 < end < 1000
    page.run("document.querySelector('canvas').focus()")
    for key, narrower in (("w", True), ("s", False)):
        was = view(page)
        page.call("Input.dispatchKeyEvent", type="keyDown", key=key)
        page.settle()
        assert (view(page)[1] - view(page)[0] < was[1] - was[0]) is narrower
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Home")
    assert view(page) == (0, 1000)


def test_a_click_goes_to_the_row_of_the_kernel(opened: Callable[[str], Page]) -> None:
    page = opened(render(SMALL, "html"))
    left, top, width = place(page)
    work = (left + width / 10, top + 22 + 22 + 18 + 16 + 18 + 8)
    for kind in ("mousePressed", "mouseReleased"):
        page.mouse(kind, *work, button="left", clickCount=1)
    assert page.run("document.querySelector(':target').cells[0].textContent") == "kernel_3"


def test_a_link_opens_what_is_folded(page: Page, tmp_path: Path) -> None:
    document = Document("t", "t", (), (Section("s", (), (ROWS,), folded=True),))
    file = tmp_path / "page.html"
    file.write_text(render(document, "html"), encoding="utf-8")
    page.open(file)
    assert page.run("document.querySelector('details').open") is False
    page.run("location.hash = '#kernels-kernel-3-' + document.querySelectorAll('#kernels tbody tr')"
             "[3].id.split('-').pop()")  # fmt: skip
    page.settle()
    assert page.run("document.querySelector('details').open") is True


def test_many_events_stay_smooth(opened: Callable[[str], Page]) -> None:
    tracks = tuple(
        Track(f"stream {stream}", "device", 4, tuple(
            (at * 1000 + lane * 10, 900 - lane * 50, lane, 1, 1)
            for at in range(1500) for lane in range(4)
        ))
        for stream in range(4)
    )  # fmt: skip
    timeline = Timeline("many", (Excerpt("many", 0, 1_500_000, tracks),), ("", "kernel"))
    page = opened(
        render(Document("t", "t", (), (Section("s", pictures=(lambda: timeline,)),)), "html")
    )
    place(page)
    page.run("document.querySelector('canvas').focus()")
    began = time.perf_counter()
    frames = page.run("""(async () => {
        const canvas = document.querySelector('canvas');
        for (let i = 0; i < 30; i++) {
            canvas.dispatchEvent(new KeyboardEvent('keydown', { key: i < 15 ? '+' : '-' }));
            await new Promise(requestAnimationFrame);
        }
        return 30;
    })()""")
    assert (time.perf_counter() - began) / frames < 0.1, "24,000 events, software rendering"


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_runs(name: str, opened: Callable[[str], Page]) -> None:
    page = opened(render(hostile(name), "html"))
    left, top, width = place(page)
    page.mouse("mouseMoved", left + width / 2, top + 22 + 18 + 8)
    assert hovered(page).startswith(name[:5].replace("\x1b", r"\x1b"[:5])[:1])
    assert page.run("document.querySelectorAll('img, script[src], iframe').length") == 0


def report(name: str, shared: Path, load: Load) -> str:
    """One of the pages that the recordings are known by."""
    folder = shared / "h200"
    if name == "diff":
        before, after = ("attn_naive.pt.trace.json.gz", "attn_flash.pt.trace.json.gz")
        return show.diff(load(folder / before), load(folder / after), "html")
    return show.gaps(load(folder / f"{name}.pt.trace.json.gz"), "html")


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("diff", "structure"),
        ("train_sdpa", "gaps"),
        pytest.param("big_stack", "gaps", marks=pytest.mark.slow),
    ],
)
def test_pages_of_recordings(
    name: str, table: str, shared: Path, load: Load, opened: Callable[[str], Page]
) -> None:
    content = report(name, shared, load)
    assert len(content.encode()) < LARGEST
    page = opened(content)
    before = column(page, table, 0)
    page.run(f"document.querySelectorAll('#{table} th button')[0].click()")
    assert sorted(column(page, table, 0)) == sorted(before)
    assert column(page, table, 0) != before
    page.run(
        "(i => { i.value = 'zzz'; i.dispatchEvent(new Event('input')); })"
        f"(document.querySelector('#{table}').parentElement.previousElementSibling)"
    )
    assert column(page, table, 0) == []
    left, top, width = place(page)
    page.mouse("mouseWheel", left + width / 2, top + 40, deltaX=0, deltaY=-200)
    assert view(page)[0] > 0
    assert "idle: " in a_gap(page, left, top, width)


def a_gap(page: Page, left: float, top: float, width: float) -> str:
    """What is said of the widest gap in sight, found by going along the lane of idle time."""
    lane = page.run("""(() => {
        const data = JSON.parse(document.querySelector('.timeline script').textContent);
        let top = 22 + (data.excerpts.length > 1 ? 22 : 0);
        for (const track of data.excerpts[0].tracks) {
            if (track.kind === 'idle') return top + 18 + 8;
            top += 18 + 16 * track.lanes;
        }
    })()""")
    for _ in range(12):
        page.mouse("mouseWheel", left + width / 2, top + lane, deltaX=0, deltaY=-200)
        for share in range(1, 40):
            page.mouse("mouseMoved", left + width * share / 40, top + lane)
            if "idle: " in hovered(page):
                return hovered(page)
    return ""

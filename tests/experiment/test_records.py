"""Records: a verdict by the numbers, files that survive hands, faults named with their line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sides
from builders import H200, TraceBuilder
from hypothesis import given
from hypothesis import strategies as st

from traceview import kineto
from traceview.errors import UsageError
from traceview.experiment import Entry, Record, Verdict, create, entries, find, merge, observe, save
from traceview.experiment import text as files
from traceview.experiment.record import Plan, plan
from traceview.trace import Trace

CHANGE = "mask_op: masked_fill -> masked_fill_"


def planned(
    *predict: str, change: str = CHANGE, falsified_if: tuple[str, ...] = (), name: str = "mask"
) -> Plan:
    claims = predict or ('ratio("gpu_busy") < 0.8',)
    return plan(name, question="What does it cost?", hypothesis="Less than half.",
                predict=claims, falsified_if=falsified_if, change=change)  # fmt: skip


def body(record: Record) -> str:
    return f"# {record.plan.id}: {record.verdict.value}"


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Trace, Trace]:
    """550 us of GPU time before and 300 us after, with one copy fewer."""
    return load(tmp_path, "a"), load(tmp_path, "b", gemm=300, copies=0)


def load(folder: Path, name: str, **how: object) -> Trace:
    return kineto.load(sides.write(folder, name, **how))


def judged(own: Plan, both: tuple[Trace, Trace]) -> Record:
    return observe(own, *both, late=True)


@pytest.mark.parametrize(
    ("predict", "falsified_if", "verdict"),
    [
        (('ratio("gpu_busy") < 0.8',), (), Verdict.CONFIRMED),
        (('ratio("gpu_busy") < 0.8',), ('ratio("gpu_busy") > 0.9',), Verdict.CONFIRMED),
        (('ratio("gpu_busy") < 0.8',), ('ratio("gpu_busy") > 0.5',), Verdict.REFUTED),
        (('ratio("gpu_busy") < 0.5',), (), Verdict.REFUTED),
        (('ratio("gpu_busy") < 0.8', "delta(launches) == 0"), (), Verdict.REFUTED),
        (('ratio("host_step") < 0.9',), (), Verdict.CANNOT_TELL),
        (('ratio("gpu_busy") < 0.8',), ("ratio(host_step) > 1.1",), Verdict.CANNOT_TELL),
        (('ratio("gpu_busy") < 0.5', "ratio(host_step) < 1"), (), Verdict.REFUTED),
    ],
)
def test_the_verdict_follows_from_the_claims(
    recorded: tuple[Trace, Trace], predict: tuple[str, ...], falsified_if: tuple[str, ...],
    verdict: Verdict,
) -> None:  # fmt: skip
    record = judged(planned(*predict, falsified_if=falsified_if), recorded)
    assert record.verdict is verdict
    assert record.reason


def test_a_record_knows_its_recordings_by_content(recorded: tuple[Trace, Trace]) -> None:
    seen = judged(planned(), recorded).observed
    assert seen is not None
    (file,) = seen.recordings.before
    assert (file.name, len(file.sha256)) == ("a.json", 64)
    assert file.recorded_at == "2023-11-14T22:13:20+00:00"
    assert seen.recordings.after[0].sha256 != file.sha256


def test_what_got_worse_is_the_trade_off(recorded: tuple[Trace, Trace]) -> None:
    seen = judged(planned(), recorded[::-1]).observed
    assert seen is not None
    assert "gpu_busy" in seen.worse
    assert "host_step" in seen.undecided


def test_recordings_older_than_the_prediction_are_refused_or_marked(
    recorded: tuple[Trace, Trace], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="older than the prediction"):
        observe(planned(), *recorded)
    late = observe(planned(), *recorded, late=True).observed
    future = 4_000_000_000 * 10**9
    young = load(tmp_path, "c", epoch_ns=future), load(tmp_path, "d", epoch_ns=future, gemm=300)
    early = observe(planned(), *young).observed
    silent = load(tmp_path, "e", epoch_ns=None), load(tmp_path, "f", epoch_ns=None, gemm=300)
    unknown = observe(planned(), *silent).observed
    assert late is not None and early is not None and unknown is not None  # noqa: PT018
    orders = (late.prediction, early.prediction, unknown.prediction)
    assert orders == ("written after", "written before", "order unknown")


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        ({"name": "../up"}, "is no id"),
        ({"question": " "}, "the question is empty"),
        ({"predict": ()}, "cannot fail"),
        ({"predict": ("gpu_busy < 5 ms",)}, "of two sides, which is meant"),
        ({"predict": ("ratio(gpu_bsy) < 1",)}, "did you mean gpu_busy"),
        ({"change": "two things"}, "is no change"),
    ],
)
def test_a_plan_that_cannot_work_is_refused(wrong: dict[str, object], part: str) -> None:
    texts = {"name": "x", "question": "q", "hypothesis": "h", "predict": ("ratio(gpu_busy) < 1",),
             "falsified_if": (), "change": CHANGE} | wrong  # fmt: skip
    with pytest.raises(UsageError, match=part):
        plan(**texts)  # type: ignore[arg-type]


# --- files


@pytest.fixture
def entry(tmp_path: Path, recorded: tuple[Trace, Trace]) -> Entry:
    """An experiment that is recorded."""
    folder = tmp_path / "experiments"
    own = planned('ratio("gpu_busy") < 0.8')
    create(folder, own, body)
    save(find([folder], "mask"), judged(own, recorded), body)
    return find([folder], "mask")


def test_what_is_written_is_read_again(entry: Entry) -> None:
    assert entry.record is not None
    assert (entry.record.verdict, entry.problems) == (Verdict.CONFIRMED, ())
    again = files.write(entry.record, body(entry.record), entry.path.read_text())
    assert again == entry.path.read_text()


def test_an_experiment_is_never_written_over(entry: Entry) -> None:
    before = entry.path.read_bytes()
    with pytest.raises(UsageError, match="there is such an experiment already"):
        create(entry.path.parent, planned(), body)
    assert entry.path.read_bytes() == before


def test_what_a_person_adds_is_kept(tmp_path: Path, recorded: tuple[Trace, Trace]) -> None:
    own = planned()
    path = create(tmp_path / "x", own, body)
    added = path.read_text().replace("question:", "# asked by Ada\nowner: Ada\nquestion:")
    path.write_text(added.replace("# mask: open", "mine is lost") + "\nSeen twice.\n")
    found = find([path.parent], "mask")
    assert found.problems == ()
    save(found, judged(own, recorded), body)
    text = path.read_text()
    kept = ("# asked by Ada\nowner: Ada\nquestion:", "\nSeen twice.\n", "# mask: confirmed")
    assert [part for part in kept if part not in text] == []
    assert "mine is lost" not in text
    assert find([path.parent], "mask").problems == ()


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("verdict: confirmed", "verdict: refuted", "by the recorded numbers it is confirmed"),
        ('ratio("gpu_busy") < 0.8\n', 'ratio("gpu_busy") < 0.9\n', "the prediction was changed"),
        ("before: 550000", "before: 650000", "the numbers were changed"),
        ("verdict: confirmed\n", "", "by the recorded numbers it is confirmed"),
    ],
)
def test_a_hand_on_what_was_recorded_is_found(entry: Entry, old: str, new: str, text: str) -> None:
    content = entry.path.read_text()
    assert old in content
    entry.path.write_text(content.replace(old, new, 1))
    found = find([entry.path.parent], "mask")
    assert found.record is not None
    assert text in " ".join(found.faults)
    assert found.record.verdict is Verdict.CONFIRMED


@pytest.mark.parametrize(
    ("old", "new", "line", "text"),
    [
        ("question: What", "question: [What", 4, "is no YAML"),
        ("hypothesis:", "hypotesis:", 5, "no key `hypotesis`; did you mean hypothesis?"),
        ("hypothesis: Less than half.\n", "", 1, "there is no `hypothesis`"),
        ("id: mask", "id: mask\nid: mask", 4, "`id` occurs twice"),
        ("id: mask", "id: [mask]", 3, "id: expected `str`, got `array`"),
        ("id: mask", "id: &a mask\nx: *a", 4, "no aliases"),
        ("schema: traceview.experiment/1", "schema: other/2", 2, "the schema is other/2"),
        ("predict:\n- ratio", "predict:\n- ratoi", 7, "did you mean ratio?"),
        ("    before: 550000", "    before: many", 0, "expected `int | null`, got `str`"),
        ("id: mask", "<<<<<<< mine\nid: mask", 3, "a merge conflict"),
        ("\n---\n", "\n--\n", 1, "has no end"),
    ],
)
def test_damage_is_named_with_its_line(
    entry: Entry, old: str, new: str, line: int, text: str
) -> None:
    content = entry.path.read_text()
    assert old in content
    damaged = content.replace(old, new, 1)
    entry.path.write_text(damaged)
    (found,) = entries([entry.path.parent])
    (problem,) = found.problems
    assert found.record is None
    assert text in problem.text
    assert problem.line == line or (not line and new in damaged.splitlines()[problem.line - 1])


def test_an_underlined_heading_is_no_merge_conflict(entry: Entry) -> None:
    entry.path.write_text(f"{entry.path.read_text()}\nResults\n=======\nIt is less.\n")
    (found,) = entries([entry.path.parent])
    assert found.record == entry.record
    assert found.problems == ()


@given(st.text())
def test_any_front_matter_is_a_record_or_a_fault_with_a_line(text: str) -> None:
    record, problems = files.read(f"---\n{text}\n---\n")
    assert record is None
    assert [problem.line >= 1 for problem in problems] == [True]


@pytest.mark.parametrize("text", ["[" * 5000, "a: " + "{b: " * 3000, "? [a]\n: 1", "- 1", "\x00"])
def test_hostile_front_matter_is_a_fault(text: str) -> None:
    record, problems = files.read(f"---\n{text}\n---\n")
    assert record is None
    assert len(problems) == 1


# --- folders


def test_merging_folders_loses_nothing(tmp_path: Path) -> None:
    mine, yours = tmp_path / "mine", tmp_path / "yours"
    create(mine, planned(), body)
    create(yours, replace(planned(), hypothesis="Another."), body)
    create(yours, planned(name="other"), body)
    before = {path.read_bytes() for folder in (mine, yours) for path in folder.iterdir()}
    assert [path.name for path in merge([yours], mine)] == ["mask-2.md", "other.md"]
    assert merge([yours, mine], mine) == []
    assert {path.read_bytes() for path in mine.iterdir()} == before
    assert len(entries([mine])) == 3
    assert find([mine], "mask-2").record is not None


def test_two_of_one_id_are_told_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        create(tmp_path / name, planned(), body)
    with pytest.raises(UsageError, match="several experiments are called mask"):
        find([tmp_path / "a", tmp_path / "b"], "mask")
    with pytest.raises(UsageError, match="did you mean mask"):
        find([tmp_path / "a"], "mash")


def test_other_markdown_is_no_record(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Experiments\n")
    create(tmp_path, planned(), body)
    assert len(entries([tmp_path])) == 1


# --- a second factor


def differing(own: Plan, both: tuple[Trace, Trace]) -> tuple[Verdict, str]:
    record = judged(own, both)
    return record.verdict, record.reason


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"dtype": "c10::Half"}, "dtype: bfloat16 -> float16"),
        ({"rows": 32}, "input shapes"),
        ({"cuda_runtime_version": 12080}, "cuda_runtime_version: 13000 -> 12080"),
        ({"deviceProperties": [{"id": 0, "name": "B200"}]}, "device: NVIDIA H200 -> B200"),
        ({"profile_memory": 1}, "profile_memory: off -> on"),
    ],
)
def test_a_second_factor_is_found_and_named(
    tmp_path: Path, other: dict[str, object], named: str
) -> None:
    first = load(tmp_path, "a", cuda_runtime_version=13000)
    second = load(tmp_path, "b", **({"gemm": 300, "cuda_runtime_version": 13000} | other))
    verdict, reason = differing(planned(), (first, second))
    assert verdict is Verdict.CANNOT_TELL
    assert named in reason
    assert "only mask_op was declared to change" in reason


def test_dtype_is_named_where_only_kernels_tell_it(tmp_path: Path) -> None:
    traces = []
    for name, kernel in (("a", "gemm_bf16"), ("b", "gemm<c10::Half>")):
        t = TraceBuilder(deviceProperties=[H200], baseTimeNanoseconds=sides.EPOCH_NS)
        for number in range(3):
            t.step(number, 1000 * number, 900)
            t.launch(1000 * number + 10, kernel, 1000 * number + 20, 500)
        traces.append(kineto.load(t.write(tmp_path / f"{name}.json")))
    _, reason = differing(planned(), (traces[0], traces[1]))
    assert "dtype: bfloat16 -> float16" in reason


@pytest.mark.parametrize(
    ("change", "after", "verdict", "named"),
    [
        ("mask_op: a -> b", {"backend": "flash"}, Verdict.CONFIRMED, "holds"),
        ("backend: naive -> flash", {"backend": "flash"}, Verdict.CONFIRMED, "holds"),
        ("backend: naive -> flash", {"backend": "flash", "dtype": "float16"},
         Verdict.CANNOT_TELL, "dtype: bfloat16 -> float16"),
        ("backend: naive -> flash", {"backend": "math"},
         Verdict.CANNOT_TELL, "the recordings show backend: naive -> math"),
        ("backend: naive -> flash", {"backend": "naive"},
         Verdict.CANNOT_TELL, "the recordings show backend: naive -> naive"),
        ("dtype: bfloat16 -> float16", {"dtype": "float16"}, Verdict.CONFIRMED, "holds"),
        ("Batch: 1 -> 2", {"batch": 2}, Verdict.CONFIRMED, "holds"),
        ("none", {"backend": "flash"}, Verdict.CANNOT_TELL, "nothing was declared to change"),
    ],
)  # fmt: skip
def test_declared_work_tells_the_factors(
    tmp_path: Path, change: str, after: dict[str, object], verdict: Verdict, named: str
) -> None:
    first = load(tmp_path, "a", stamp=sides.stamp())
    second = load(tmp_path, "b", stamp=sides.stamp(**after), gemm=300, copies=0)  # type: ignore[arg-type]
    assert differing(planned(change=change), (first, second))[0] is verdict
    assert named in differing(planned(change=change), (first, second))[1]


def test_nothing_changed_and_nothing_differs(tmp_path: Path) -> None:
    both = load(tmp_path, "a"), load(tmp_path, "b", gemm=501)
    record = judged(planned("verdict(gpu_busy) == same", change="none"), both)
    assert record.verdict is Verdict.CONFIRMED
    assert record.observed is not None
    assert record.observed.differences == ()


def test_a_wrong_result_confirms_nothing(tmp_path: Path) -> None:
    wrong = sides.stamp("flash") | {"numerics": {"verdict": "wrong", "text": "flash is wrong"}}
    both = load(tmp_path, "a", stamp=sides.stamp()), load(tmp_path, "b", stamp=wrong, gemm=300)
    verdict, reason = differing(planned(), both)
    assert verdict is Verdict.CANNOT_TELL
    assert "flash is wrong" in reason

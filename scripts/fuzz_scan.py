"""Runs the native scan under AddressSanitizer and UndefinedBehaviorSanitizer on mutated traces.

    python scripts/fuzz_scan.py --seconds 60 sample_traces/*.json.gz

Every input is a piece of a recording, or of a handful of entries written for this, with a few bytes
changed, and is scanned in windows of random size. The run fails on the first read or write outside
a buffer, on undefined behaviour, and where columns do not fit together.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from traceview.errors import FileError
from traceview.kineto import container, native
from traceview.kineto.columns import INTEGER_ARGUMENTS, TEXT_ARGUMENTS

ROOT = Path(__file__).parents[1]
SCANNER = ROOT / "traceview" / "kineto" / "_scan.cpp"
DRIVER = ROOT / "scripts" / "fuzz_scan.cpp"
SANITIZERS = [
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
]
WRITTEN = (
    (
        b'{"ph":"X","cat":"kernel","name":"k\\u00e9\xc3\xa9","pid":0,"tid":"7","ts":1.5,"dur":"2.0005",'
        b'"args":{"stream":"7","correlation":-1,"Addr":18446744073709551615,"grid":[1,[2,{}],3]}},'
    ),
    b'{"id":null,"id2":{"local":"0x1"},"ph":"b","ts":-0.001,"args":null},{},{"args":[1,2]}]',
    b'[{"ph":"X","args":{"size":1,"bytes":2,"Input Dims":[[],[]],"name":"\\ud83d\\ude00"}}]',
)


def main() -> int:
    """Build, collect, run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("traces", nargs="*", help="recordings to take pieces of")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program, keys, corpus = (Path(folder, name) for name in ("fuzz", "keys", "corpus"))
        build(program)
        keys.write_text(written_keys())
        chance = random.Random(options.seed)  # noqa: S311 - no secret
        pieces = [*WRITTEN, *pieces_of(options.traces, chance)]
        corpus.write_bytes(b"".join(struct.pack("<I", len(p)) + p for p in pieces))
        print(f"{len(pieces)} pieces, {options.seconds} s, seed {options.seed}")
        arguments = [str(value) for value in (keys, corpus, options.seconds, options.seed)]
        return subprocess.run([program, *arguments], check=False).returncode  # noqa: S603 - built above


def build(program: Path) -> None:
    """The scanner and its driver, with all checks."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        sys.exit("a C++ compiler is needed (CXX names another than c++)")
    sources = [str(DRIVER), str(SCANNER)]
    flags = ["-std=c++17", "-g", "-O1", "-Wall", "-Wextra", "-Werror", *SANITIZERS]
    subprocess.run([compiler, *flags, *sources, "-o", program], check=True)  # noqa: S603 - as above


def written_keys() -> str:
    """The keys of the arguments and their columns, as the driver reads them."""
    lines = [f"{column} {key}" for key, column in native.COLUMN_OF_KEY.items()]
    return "\n".join([f"{len(INTEGER_ARGUMENTS)} {len(TEXT_ARGUMENTS)}", *lines, ""])


def pieces_of(traces: list[str], chance: random.Random) -> Iterator[bytes]:
    """Slices of real recordings, from the start of an entry."""
    for trace in traces:
        try:
            with container.opened(trace) as source:
                text = next(source.blocks)
        except FileError as error:
            print(error, file=sys.stderr)
            continue
        for _ in range(64):
            start = text.find(b"{", chance.randrange(len(text)))
            yield text[max(start, 0) :][: chance.randrange(64, 2048)]


if __name__ == "__main__":
    sys.exit(main())

"""What GPUs can do, by the names that recordings have."""

import pytest

from traceview.errors import UsageError
from traceview.peaks import peak_of

NAMES = {
    "NVIDIA H200": 989.4, "NVIDIA H100 80GB HBM3": 989.4, "NVIDIA H100 PCIe": 756,
    "NVIDIA A100-SXM4-80GB": 312, "NVIDIA A100-SXM4-40GB": 312, "NVIDIA B200": 2250,
    "NVIDIA L4": 121, "NVIDIA L40S": 362, "NVIDIA A10": None, "AMD Instinct MI300X VF": 1307.4,
    "Tesla V100-SXM2-16GB": None, "NVIDIA GB200": 2500, "AMD Instinct MI250X/MI250": 191.5,
    "AMD Instinct MI250": 181,
}  # fmt: skip
BANDWIDTHS = {"NVIDIA A100-SXM4-80GB": 2.039, "NVIDIA A100-SXM4-40GB": 1.555, "NVIDIA H200": 4.8}


@pytest.mark.parametrize(("name", "rate"), NAMES.items())
def test_known_gpus(name: str, rate: float | None) -> None:
    peak = peak_of((name,))
    assert peak is not None
    if rate is not None:
        assert peak.flops("bf16") == rate * 1e12


@pytest.mark.parametrize(("name", "rate"), BANDWIDTHS.items())
def test_bandwidths(name: str, rate: float) -> None:
    peak = peak_of((name,))
    assert peak is not None
    assert peak.bytes == rate * 1e12


def test_unknown_and_mixed_gpus_have_no_peak() -> None:
    assert peak_of(()) is None
    assert peak_of(("Mystery 9000",)) is None
    assert peak_of(("NVIDIA H200", "NVIDIA L4")) is None
    volta = peak_of(("Tesla V100-SXM2-16GB",))
    assert volta is not None
    assert volta.flops("bf16") is None


def test_what_is_given_counts() -> None:
    peak = peak_of(("NVIDIA H200",), {"bf16": 800})
    assert peak is not None
    assert (peak.flops("bf16"), peak.flops("fp16")) == (800e12, 989.4e12)
    own = peak_of((), {"memory": 1.0})
    assert own is not None
    assert (own.bytes, own.flops("bf16")) == (1e12, None)
    with pytest.raises(UsageError, match="no peak 'bf17'"):
        peak_of((), {"bf17": 1.0})

"""Forty short kernels a step, launched one by one, or with `--graph` by one replay of a graph."""

from __future__ import annotations

import argparse

import torch

from traceview.capture import step

KERNELS, SIZE = 40, 1 << 20


def kernels(x: torch.Tensor) -> torch.Tensor:
    """Run them."""
    for _ in range(KERNELS):
        x = torch.sin(x)
    return x


def main() -> None:
    """Run steps until nobody records any more."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--graph", action="store_true", help="replay a CUDA graph")
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()

    x = torch.randn(SIZE, device="cuda")
    kernels(x)  # what is loaded on first use may not be captured
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernels(x)
    for _ in range(arguments.steps):
        if arguments.graph:
            graph.replay()
        else:
            kernels(x)
        step()


if __name__ == "__main__":
    main()

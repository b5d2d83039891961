"""A small training step, and with `--waiting` the same one with two classic mistakes.

The mistakes: the batch is copied from pageable memory, and the loss is read (`.item()`) in every
step. Both make the host wait for the GPU, which then has nothing to do while the host catches up.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn

from traceview.capture import step

WIDTH, LAYERS, BATCH = 1024, 4, 16384


class Block(nn.Module):
    """A residual block: norm, widen, GELU, narrow."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.wide = nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Add what the block makes of `x` to it."""
        widened: Tensor = nn.functional.gelu(self.wide(self.norm(x)))
        return x + torch.as_tensor(self.narrow(widened))


def main() -> None:
    """Train on random numbers until nobody records any more."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--waiting", action="store_true", help="make both mistakes")
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    model = nn.Sequential(*(Block() for _ in range(LAYERS))).to(device, torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), fused=device == "cuda")
    batch = torch.randn(BATCH, WIDTH, dtype=torch.bfloat16)
    if device == "cuda" and not arguments.waiting:
        batch = batch.pin_memory()

    for _ in range(arguments.steps):
        inputs = batch.to(device, non_blocking=not arguments.waiting)
        loss = (model(inputs) - inputs).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if arguments.waiting:
            loss.item()
        step()


if __name__ == "__main__":
    main()

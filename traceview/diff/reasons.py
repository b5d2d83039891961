"""Reason: something that differs between two sides besides what is looked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """A code and a sentence.

    `forbids`: no ratio between the sides means anything. `informs`: it is only good to know. Else
    the comparison holds with reservations. `factor` names what differs, where that has a name.
    """

    code: str
    text: str
    forbids: bool = False
    informs: bool = False
    factor: str = ""

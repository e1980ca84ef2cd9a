from __future__ import annotations

import pytest

from berthing.explain.amounts import rounded_down, shown

GI, MI = 2**30, 2**20


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 1500, "1500m"),
        ("cpu", 2000, "2"),
        ("cpu", 0, "0"),
        ("memory", 3 * GI, "3Gi"),
        ("memory", 1500 * MI, "1500Mi"),
        ("memory", 15 * GI + MI // 2, "15.0Gi"),
        ("memory", -GI, "-1Gi"),
        ("memory", 0, "0"),
        ("memory", 999, "999"),
        ("hugepages-2Mi", 64 * MI, "64Mi"),
        ("example.com/gpu", 1024, "1024"),
    ],
)
def test_shown(resource: str, amount: int, text: str) -> None:
    assert shown(resource, amount) == text


@pytest.mark.parametrize(
    ("resource", "amount", "rounded"),
    [
        ("cpu", 1501, 1501),
        ("memory", 1500 * MI + 5, 1500 * MI),
        ("memory", 50 * MI + 5, 50 * MI),
        ("memory", 50, 50),
        ("example.com/gpu", 1025, 1025),
    ],
)
def test_rounded_down(resource: str, amount: int, rounded: int) -> None:
    assert rounded_down(resource, amount) == rounded

"""How far apart colours look: CIEDE2000, for usual eyes, for the colour-blind, and in grey."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
EYES: dict[str, Array] = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
    "grey": np.tile([0.2126, 0.7152, 0.0722], (3, 1)),
}
_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def linear(colours: list[str]) -> Array:
    """Linear RGB (count, 3) of hex colours."""
    rgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colours]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(colours: list[str], eye: str = "usual") -> Array:
    """CIELAB (count, 3) of hex colours as an eye sees them."""
    seen = np.clip(linear(colours) @ EYES[eye].T, 0, 1)
    xyz = seen @ _XYZ.T / _XYZ.sum(axis=1)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz * (29 / 6) ** 2 / 3 + 4 / 29)
    x, y, z = f.T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def apart(one: Array, two: Array) -> Array:
    """CIEDE2000 between rows of CIELAB (Sharma, Wu and Dalal, 2005)."""
    (l1, a1, b1), (l2, a2, b2) = np.moveaxis(one, -1, 0), np.moveaxis(two, -1, 0)
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = 0.5 * (1 - np.sqrt(mean**7 / (mean**7 + 25.0**7)))
    c1, c2 = np.hypot((1 + g) * a1, b1), np.hypot((1 + g) * a2, b2)
    h1 = np.degrees(np.arctan2(b1, (1 + g) * a1)) % 360
    h2 = np.degrees(np.arctan2(b2, (1 + g) * a2)) % 360
    turn = (h2 - h1 + 180) % 360 - 180
    coloured = c1 * c2 > 0
    turn = np.where(coloured, turn, 0.0)
    dl, dc = l2 - l1, c2 - c1
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    lm, cm = (l1 + l2) / 2, (c1 + c2) / 2
    hm = np.where(coloured, (h1 + turn / 2) % 360, h1 + h2)
    t = (
        1
        - 0.17 * np.cos(np.radians(hm - 30))
        + 0.24 * np.cos(np.radians(2 * hm))
        + 0.32 * np.cos(np.radians(3 * hm + 6))
        - 0.20 * np.cos(np.radians(4 * hm - 63))
    )
    sl = 1 + 0.015 * (lm - 50) ** 2 / np.sqrt(20 + (lm - 50) ** 2)
    sc, sh = 1 + 0.045 * cm, 1 + 0.015 * cm * t
    rt = -np.sin(np.radians(60 * np.exp(-(((hm - 275) / 25) ** 2))))
    rt = rt * 2 * np.sqrt(cm**7 / (cm**7 + 25.0**7))
    found = (dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rt * (dc / sc) * (dh / sh)
    return np.sqrt(found)


def nearest(colours: list[str], eye: str = "usual") -> tuple[float, str, str]:
    """The two of several colours that an eye tells apart worst: their distance, and which."""
    seen = lab(colours, eye)
    i, j = np.triu_indices(len(colours), 1)
    gaps = apart(seen[i], seen[j])
    worst = int(gaps.argmin())
    return float(gaps[worst]), colours[i[worst]], colours[j[worst]]


def contrast(one: str, two: str) -> float:
    """WCAG's contrast of two hex colours."""
    low, high = sorted(linear([one, two]) @ EYES["grey"][0])
    return float((high + 0.05) / (low + 0.05))

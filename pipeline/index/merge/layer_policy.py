"""Decides which layers of the dictionary a merge writes again: a pure function of their sizes.

The size of a layer is the number of terms of its live segments. The new layer has all segments that no layer
covers yet. Then layers join it, the smallest first: each layer that is small, or at most `ratio` times as
large as everything that has joined before. So when a term is written again, its new layer is at least (1 +
1/ratio) times as large as its old layer. A look-up asks every layer, so there must be few layers. With a
ratio of r, n merges of equal size leave about log n / log r layers. To get about MAX_LAYERS layers, the ratio
is the root of n of the degree MAX_LAYERS, where n is the size of the dictionary divided by the size of all
new segments. A term is then written 6 times in 100 merges of equal size, and 11 times in 1,000.

A layer is always written again if most of its terms belong to segments that were merged away.

The rule resembles the rule for segments (merge_policy.py), but is another function: because of MAX_LAYERS or
SMALL_LAYER a layer may be written again that is too large for the ratio, and the ratio grows with the
dictionary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.index.segment.dictionary_layers import asked_segments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlctl.pipeline.index.segment.dictionary_layers import LayerFiles

MAX_LAYERS = 4
SMALL_LAYER = 1 << 16  # terms; rewriting this number of terms takes less than a tenth of a second

_LEAST_RATIO = 2.0
_MOST_DEAD = 0.5  # the share of the terms of a layer


def plan_layer(segments: Mapping[str, int], layers: Sequence[LayerFiles]) -> list[str]:
    """Return the names of the segments of the new layer, in order.

    `segments` are all live segments with their numbers of terms; `layers` are the layers before the merge,
    the newest first.
    """
    asked = asked_segments(layers, segments)
    covered = {name for own in asked.values() for name in own}
    chosen = {name: terms for name, terms in segments.items() if name not in covered}
    stale = {layer.number for layer in layers if _is_stale(layer, asked[layer.number])}
    for number in stale:
        chosen |= asked[number]
    left = sorted((own for number, own in asked.items() if number not in stale), key=_size)
    ratio = max(_LEAST_RATIO, (_size(segments) / max(SMALL_LAYER, _size(chosen))) ** (1 / MAX_LAYERS))
    for place, own in enumerate(left):
        too_many = len(left) - place >= MAX_LAYERS
        if not too_many and _size(own) > max(SMALL_LAYER, ratio * _size(chosen)):
            break
        chosen |= own
    return sorted(chosen)


def _is_stale(layer: LayerFiles, live: Mapping[str, int]) -> bool:
    return _size(live) <= (1 - _MOST_DEAD) * _size(layer.segments)


def _size(segments: Mapping[str, int]) -> int:
    return sum(segments.values())

"""The names of numpy's array types, each named after what its items are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Octets = NDArray[np.uint8]
Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]
UInt32Array = NDArray[np.uint32]
UInt64Array = NDArray[np.uint64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
# Keys of 16 bytes. complex128 is the one type of that size that numpy gathers fast; nothing calculates with
# it.
KeyArray = NDArray[np.complex128]

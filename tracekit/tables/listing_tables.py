"""What the passes need of a listing, by row: made once for all streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tracekit.isa.classify import Expect
from tracekit.isa.listing import Listing
from tracekit.sqtt.stitch import StitchTable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ListingTables:
    """What the passes need of a listing, made once for all streams."""

    listing: Listing
    stitch: StitchTable
    barrier: NDArray[np.bool_]  # with one False appended, as are the next two
    scaled: NDArray[np.bool_]
    code_object: NDArray[np.int32]
    vaddr: NDArray[np.int64]
    line: NDArray[np.int32]
    text_code: NDArray[np.integer[Any]]  # as narrow as pandas keeps categories
    texts: pd.Index[str]  # the distinct texts: categories of the instruction column

    @classmethod
    def of(cls, listing: Listing) -> ListingTables:
        import pandas as pd

        codes: dict[str, int] = {}
        text_code = [codes.setdefault(text, len(codes)) for text in listing.text]
        return cls(
            listing=listing,
            stitch=StitchTable.of(listing),
            barrier=np.append(listing.expect == Expect.BARRIER, False),
            scaled=np.append(listing.expect == Expect.MFMA_SCALE, False),
            code_object=np.append(listing.code_object, np.int32(0)),
            vaddr=np.append(listing.vaddr, np.int64(-1)),
            line=np.append(listing.line, np.int32(-1)),
            text_code=np.array([*text_code, -1], "int16" if len(codes) < 1 << 15 else "int32"),
            texts=pd.Index(list(codes)),
        )

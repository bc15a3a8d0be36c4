"""The words for positive rows: what a user calls them, or that they are positive."""

from __future__ import annotations

from dataclasses import dataclass

from tallymark._numbers import amount, noun
from tallymark.errors import InputError

#: Characters of a name at most.
_LONGEST = 60


@dataclass(frozen=True)
class Positives:
    """Words for the rows of the positive class; `called` is their name in the plural, such as platforms.

    >>> Positives("platforms").counted(117), Positives().counted(117), Positives().counted(1)
    ('117 platforms', '117 positives', '1 positive')
    >>> f"51 are {Positives().kind}", f"51 are {Positives('platforms').kind}"
    ('51 are positive', '51 are platforms')
    """

    called: str | None = None

    def counted(self, n: float) -> str:
        """So many of them."""
        return f"{amount(n)} {self.called or noun(n, 'positive')}"

    @property
    def plural(self) -> str:
        """What they are called together."""
        return self.called or "positives"

    @property
    def kind(self) -> str:
        """What each of them is: behind a number or *are*, and above a column of their numbers."""
        return self.called or "positive"


def checked_name(called: object) -> str | None:
    """What positive rows are called, cleaned of spaces around it; None where nothing was said."""
    if called is None:
        return None
    if not isinstance(called, str) or not called.strip() or len(called) > _LONGEST or "\n" in called:
        raise InputError(
            f"called is {str(called)[:80]!r}, expected a short name of the positive rows like 'platforms'."
        )
    return called.strip()

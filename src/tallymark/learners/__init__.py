"""Learners for quantification: class-weighted nearest neighbours, a structured SVM, and outlier detectors.

They need scikit-learn, which takes a second to import, so each is loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tallymark.errors import InputError

if TYPE_CHECKING:
    from tallymark.learners.detection import Detectors as Detectors
    from tallymark.learners.detection import detectors as detectors
    from tallymark.learners.mean_shift import MOD as MOD
    from tallymark.learners.proportion_weighted import PWKClassifier as PWKClassifier
    from tallymark.learners.structured_svm import StructuredSVM as StructuredSVM

_HOMES = {
    "Detectors": "detection",
    "MOD": "mean_shift",
    "PWKClassifier": "proportion_weighted",
    "StructuredSVM": "structured_svm",
    "detectors": "detection",
}

__all__ = [*_HOMES]  # noqa: PLE0604


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        try:
            return getattr(importlib.import_module(f"tallymark.learners.{_HOMES[name]}"), name)
        except ModuleNotFoundError as error:
            if error.name not in {"sklearn", "joblib"}:
                raise
            raise InputError(f"{name} needs scikit-learn; install it with: pip install 'tallymark[sklearn]'.") from None
    raise AttributeError(f"module 'tallymark.learners' has no attribute {name!r}")

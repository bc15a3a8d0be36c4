"""Calibration: maps from scores to probabilities, fitted on labelled scores."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tallymark.calibration.maps import CalibrationMap as CalibrationMap
from tallymark.calibration.maps import beta as beta
from tallymark.calibration.maps import calibrate as calibrate
from tallymark.calibration.maps import isotonic as isotonic
from tallymark.calibration.maps import platt as platt
from tallymark.calibration.maps import temperature as temperature

if TYPE_CHECKING:
    from tallymark.calibration.transformers import Calibrator as Calibrator

__all__ = ["CalibrationMap", "Calibrator", "beta", "calibrate", "isotonic", "platt", "temperature"]


def __getattr__(name: str) -> Any:
    # Loaded on first use, because scikit-learn takes a second to import.
    if name == "Calibrator":
        return importlib.import_module("tallymark.calibration.transformers").Calibrator
    raise AttributeError(f"module 'tallymark.calibration' has no attribute {name!r}")

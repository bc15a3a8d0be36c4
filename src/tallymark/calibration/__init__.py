"""Calibration: scores turned into probabilities, at the validation sample's prevalence or at the target's own."""

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
    # scikit-learn takes a second to load, so what needs it waits until it is asked for.
    if name == "Calibrator":
        return importlib.import_module("tallymark.calibration.transformers").Calibrator
    raise AttributeError(f"module 'tallymark.calibration' has no attribute {name!r}")

"""Counting classes in unlabelled data: how many there really are.

``tm.quantify.estimate`` works on scores alone, ``from_counts`` on a confusion table, ``estimate_many`` on many samples
of one pool; ``AC``, ``EM``, … wrap any scikit-learn classifier.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tallymark.quantify import losses as losses
from tallymark.quantify.counts import from_counts as from_counts
from tallymark.quantify.estimating import estimate as estimate
from tallymark.quantify.estimating import estimate_many as estimate_many
from tallymark.quantify.prevalence import Prevalence as Prevalence
from tallymark.quantify.prevalence import Prevalences as Prevalences
from tallymark.registry import QUANTIFIERS

_LATER = {"expected": "shift", "mixture_fit": "shift", "GridSearch": "selection"}

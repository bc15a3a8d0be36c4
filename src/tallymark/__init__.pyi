# Names of tallymark. Made by tests/stubs.py, held true by tests/test_public.py.

from tallymark import audits as audits
from tallymark import calibration as calibration
from tallymark import charts as charts
from tallymark import decisions as decisions
from tallymark import extend as extend
from tallymark import intervals as intervals
from tallymark import learners as learners
from tallymark import metrics as metrics
from tallymark import monitor as monitor
from tallymark import prices as prices
from tallymark import quantify as quantify
from tallymark import rare as rare
from tallymark import results as results
from tallymark import scorers as scorers
from tallymark import study as study
from tallymark._version import __version__ as __version__
from tallymark.comparison.compare import compare as compare
from tallymark.comparison.results import Comparison as Comparison
from tallymark.curves import brier_curve as brier_curve
from tallymark.curves import calibration_curve as calibration_curve
from tallymark.curves import cost_curve as cost_curve
from tallymark.curves import decision_curve as decision_curve
from tallymark.curves import det as det
from tallymark.curves import gain as gain
from tallymark.curves import over_prevalence as over_prevalence
from tallymark.curves import over_thresholds as over_thresholds
from tallymark.curves import positive_tradeoff as positive_tradeoff
from tallymark.curves import pr as pr
from tallymark.curves import predictive_roc as predictive_roc
from tallymark.curves import roc as roc
from tallymark.curves import score_histogram as score_histogram
from tallymark.errors import GuardError as GuardError
from tallymark.errors import InputError as InputError
from tallymark.errors import TallymarkError as TallymarkError
from tallymark.errors import Undefined as Undefined
from tallymark.errors import UndefinedWarning as UndefinedWarning
from tallymark.evaluation.evaluate import evaluate as evaluate
from tallymark.inference.by_sample_size import by_sample_size as by_sample_size
from tallymark.inference.hypothesis_tests.mann_whitney import mann_whitney as mann_whitney
from tallymark.inference.sample_size import sample_size as sample_size
from tallymark.measures import Evaluation as Evaluation
from tallymark.measures import Evaluations as Evaluations
from tallymark.measures import Measure as Measure
from tallymark.metrics.bounds import bound as bound
from tallymark.metrics.probability import brier_parts as brier_parts
from tallymark.metrics.recalibration import score_parts as score_parts
from tallymark.notes import GuardWarning as GuardWarning
from tallymark.notes import Note as Note
from tallymark.prices.advice import advise as advise
from tallymark.reporting.pages import report as report
from tallymark.simple import without_simple as without_simple
from tallymark.sources.constructors import class_panel as class_panel
from tallymark.sources.constructors import class_scores as class_scores
from tallymark.sources.constructors import confusion as confusion
from tallymark.sources.constructors import load as load
from tallymark.sources.constructors import moments as moments
from tallymark.sources.constructors import panel as panel
from tallymark.sources.constructors import tally as tally
from tallymark.sources.filepanel import scan_panel as scan_panel
from tallymark.sources.scan import scan as scan
from tallymark.summaries.class_panel import ClassPanel as ClassPanel
from tallymark.summaries.class_scores import ClassScores as ClassScores
from tallymark.summaries.confusion import Confusion as Confusion
from tallymark.summaries.moments import Moments as Moments
from tallymark.summaries.panel import Panel as Panel
from tallymark.summaries.tallies import Tallies as Tallies
from tallymark.summaries.tally import Tally as Tally
from tallymark.thresholds import compare_thresholds as compare_thresholds

__all__ = [
    "ClassPanel",
    "ClassScores",
    "Comparison",
    "Confusion",
    "Evaluation",
    "Evaluations",
    "GuardError",
    "GuardWarning",
    "InputError",
    "Measure",
    "Moments",
    "Note",
    "Panel",
    "Tallies",
    "Tally",
    "TallymarkError",
    "Undefined",
    "UndefinedWarning",
    "advise",
    "audits",
    "bound",
    "brier_curve",
    "brier_parts",
    "by_sample_size",
    "calibration",
    "calibration_curve",
    "charts",
    "class_panel",
    "class_scores",
    "compare",
    "compare_thresholds",
    "confusion",
    "cost_curve",
    "decision_curve",
    "decisions",
    "det",
    "evaluate",
    "extend",
    "gain",
    "intervals",
    "learners",
    "load",
    "mann_whitney",
    "metrics",
    "moments",
    "monitor",
    "over_prevalence",
    "over_thresholds",
    "panel",
    "positive_tradeoff",
    "pr",
    "predictive_roc",
    "prices",
    "quantify",
    "rare",
    "report",
    "results",
    "roc",
    "sample_size",
    "scan",
    "scan_panel",
    "score_histogram",
    "score_parts",
    "scorers",
    "study",
    "tally",
    "without_simple",
]

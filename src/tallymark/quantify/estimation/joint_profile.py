"""Profile likelihood limits of Bayesian Calibration's prevalence, over labelled rows and target together."""

from __future__ import annotations

from tallymark.quantify.estimation.intervals import Limits, profile
from tallymark.quantify.estimation.problem import Problem
from tallymark.quantify.kernels.densities import adaptive_edges
from tallymark.quantify.kernels.joint import fit_jointly, profile_limits
from tallymark.quantify.kernels.likelihood import joint_cells
from tallymark.quantify.kernels.mixture import contrast, most_likely
from tallymark.quantify.kernels.samples import Samples
from tallymark.summaries.tally import Tally


def joint_profile(problem: Problem, target: Tally, level: float) -> Limits | None:
    """Profile limits over binned densities that labelled rows and target fit together; None for kernel densities.

    A rare class can vanish into shares fitted to a large target: the joint likelihood is then falsely sure of a low
    prevalence. The limits with the shares as the labelled rows have them are joined to it.
    """
    if problem.options["density"] != "bins":
        return None
    clean = problem.clean(target)
    cells = joint_cells(clean, Samples.of_run(target.runs[0]), adaptive_edges(clean, problem.options["bins"]))
    low, high = profile_limits(*cells, fit_jointly(*cells), level)
    labelled, observed = cells
    down, up = (labelled / labelled.sum(axis=2, keepdims=True))[0]
    share = float(most_likely(*contrast(up[None], down[None]), observed)[0])
    ends = profile(share, up, down, observed[0], level)
    return min(float(low[1]), ends[0]), max(float(high[1]), ends[1])

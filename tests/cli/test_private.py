"""Private evaluation on the command line."""

import json

import numpy as np
import pandas as pd
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app


def test_evaluate_puts_scores_into_bins(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    y = rng.random(200) < 0.4
    pd.DataFrame({"y": y.astype(int), "p": rng.random(200)}).to_csv("d.csv", index=False)
    base = ["evaluate", "d.csv", "--label", "y", "--score", "p", "--threshold", "f1", "--json"]
    plain, hidden = (json.loads(CliRunner().invoke(app, [*base, *more]).stdout) for more in ([], ["--private", "20"]))
    assert plain != hidden
    refused = CliRunner().invoke(app, ["evaluate", "d.csv", "--label", "y", "--predicted", "y", "--private", "5"])
    assert isinstance(refused.exception, tm.InputError)

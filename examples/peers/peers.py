"""The error of a private regression that is not ours: the mean RMSE over the folds of several cross-validations.

Targets are clipped to their public bounds for training and for scoring; predictions are clipped too, which costs no privacy.
"""
import json
import sys
import warnings
from dataclasses import dataclass

import numpy as np

import boards
import packages
import papers

METHODS = {
    "private mean": papers.private_mean,
    "AdaSSP, linear": lambda trial: papers.adaptive_ridge(trial, 1),
    "AdaSSP, polynomials": lambda trial: papers.adaptive_ridge(trial, trial.board.degree),
    "functional mechanism": packages.functional_mechanism,
    "DP-EBM": packages.explainable_boosting,
    "Theil-Sen": packages.theil_sen,
    "noisy products, linear": lambda trial: papers.noisy_products(trial, 1),
    "noisy products, polynomials": lambda trial: papers.noisy_products(trial, trial.board.degree),
    "RR-on-Bins, uniform prior": lambda trial: papers.randomised_response(trial, "uniform"),
    "RR-on-Bins, private prior": lambda trial: papers.randomised_response(trial, "private"),
}


@dataclass(frozen=True)
class Trial:
    """Training rows, the inputs to predict at, and the budget."""

    board: boards.Board
    inputs: np.ndarray
    targets: np.ndarray
    at: np.ndarray
    epsilon: float
    delta: float
    random: np.random.Generator

    def seed(self):
        return int(self.random.integers(2**31 - 1))


def cross_validation(board, method, guarantee, random):
    """The mean RMSE over the folds of one shuffle."""
    count = len(board.targets)
    rows = random.permutation(count) if board.drawn is None else random.choice(count, board.drawn, replace=False)
    errors = []
    for held_out in np.array_split(rows, board.folds):
        train = np.setdiff1d(rows, held_out)
        targets = board.clipped(board.targets[train])
        at = board.inputs[held_out]
        trial = Trial(board, board.inputs[train], targets, at, guarantee["epsilon"], guarantee["delta"], random)
        error = board.clipped(board.targets[held_out]) - board.clipped(method(trial))
        errors.append(np.sqrt(np.mean(error**2)))
    return np.mean(errors)


# Packages warn that seeds are unsafe for releases, and that very noisy fits did not converge.
warnings.simplefilter("ignore")
question = json.load(sys.stdin)
cell, random = question["cell"], np.random.default_rng(question["seed"])
board = getattr(boards, cell["board"])(question["data"]["files"])
method = METHODS[cell["method"]]
print(json.dumps({"rmse": float(np.mean([cross_validation(board, method, question["guarantee"], random) for _ in range(cell["shuffles"])]))}))

"""Private regressions of Python packages. Each predicts the targets of inputs from training rows."""
import numpy as np


def functional_mechanism(trial):
    """diffprivlib: noise on the coefficients of the squared error (Zhang et al. 2012)."""
    import diffprivlib.models

    board = trial.board
    model = diffprivlib.models.LinearRegression(
        epsilon=trial.epsilon,
        bounds_X=tuple(board.input_bounds.T.astype(float)),
        bounds_y=(board.low, board.high),
        random_state=trial.seed(),
    )
    return model.fit(trial.inputs, trial.targets).predict(board.clipped_inputs(trial.at))


def explainable_boosting(trial):
    """interpret: boosting of one input at a time (Nori et al. 2021), default settings."""
    from interpret.privacy import DPExplainableBoostingRegressor

    board = trial.board
    model = DPExplainableBoostingRegressor(
        epsilon=trial.epsilon,
        delta=trial.delta,
        composition="gdp",
        feature_types=["continuous"] * len(board.input_bounds),
        privacy_bounds=board.input_bounds.astype(float),
        privacy_target_min=-board.range / 2,
        privacy_target_max=board.range / 2,
        n_jobs=1,
        random_state=trial.seed(),
    )
    # Boosting starts at 0, and its noise assumes residuals within the range, so the middle is subtracted first.
    return model.fit(trial.inputs, trial.targets - board.middle).predict(trial.at) + board.middle


def theil_sen(trial):
    """OpenDP: a line through private medians of predictions from pairs of records at two inputs."""
    import opendp.prelude as opendp

    opendp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    board = trial.board

    def line(scale):
        bounds = [tuple(map(float, pair)) for pair in board.input_bounds]
        return opendp.sklearn.linear_model.LinearRegression(
            opendp.max_divergence(), x_bounds=bounds, y_bounds=(float(board.low), float(board.high)), scale=scale
        )

    # One record replaced is a symmetric distance of 2. Epsilon is inversely proportional to the scale, up to rounding.
    scale = line(1.0).measurement.map(2) / trial.epsilon * (1 + 1e-9)
    assert line(scale).measurement.map(2) <= trial.epsilon
    # The package pairs records by this generator; its noise cannot be seeded.
    np.random.seed(trial.seed())
    return line(scale).fit(board.clipped_inputs(trial.inputs), trial.targets).predict(trial.at)

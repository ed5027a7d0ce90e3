"""Private regressions of papers, written here. Each predicts the targets of inputs from training rows."""
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr


def unit_noise(trial):
    """The standard deviation of Gaussian noise for sensitivity 1, calibrated exactly (Balle and Wang 2018)."""

    def excess(log_noise):
        noise = np.exp(log_noise)
        a, b = 1 / (2 * noise), trial.epsilon * noise
        return ndtr(a - b) - np.exp(trial.epsilon + log_ndtr(-a - b)) - trial.delta

    return np.exp(brentq(excess, -5, 10, xtol=1e-12))


def private_mean(trial):
    noise = trial.board.range / len(trial.targets) * unit_noise(trial)
    return np.full(len(trial.at), trial.targets.mean() + noise * trial.random.standard_normal())


def polynomials(board, inputs, degree):
    """Products of Chebyshev polynomials up to a total degree. Each is in [-1, 1]."""
    signed = 2 * board.unit_inputs(inputs) - 1
    powers = [np.polynomial.chebyshev.chebvander(column, degree) for column in signed.T]
    degrees = [each for each in product(range(degree + 1), repeat=len(powers)) if sum(each) <= degree]
    columns = [np.prod([power[:, d] for power, d in zip(powers, each)], axis=0) for each in degrees]
    return np.column_stack(columns)


def symmetric_noise(size, random):
    upper = np.triu(random.standard_normal((size, size)))
    return upper + np.triu(upper, 1).T


def adaptive_ridge(trial, degree):
    """AdaSSP (Wang 2018, algorithm 2). Three releases share one Gaussian mechanism: each is divided by its sensitivity, so
    that together they have sensitivity sqrt(3). One record is replaced, not added: squares of features change by sqrt(2) |x|^2
    at most, products with targets by 2 |x| max |y|, the least eigenvalue by |x|^2."""
    board, random = trial.board, trial.random
    features, targets = polynomials(board, trial.inputs, degree), trial.targets - board.middle
    size = features.shape[1]
    norm, noise = np.sqrt(size), np.sqrt(3) * unit_noise(trial)
    gram = features.T @ features
    least = np.linalg.eigvalsh(gram)[0] + noise * norm**2 * (random.standard_normal() - np.sqrt(np.log(6 / trial.delta)))
    square_noise = np.sqrt(2) * norm**2 * noise
    squares = gram + square_noise * symmetric_noise(size, random)
    products = features.T @ targets + board.range * norm * noise * random.standard_normal(size)
    failure = 0.05
    ridge = max(0, square_noise * np.sqrt(size * np.log(2 * size**2 / failure)) - max(0, least))
    weights = np.linalg.solve(squares + ridge * np.eye(size), products)
    return polynomials(board, trial.at, degree) @ weights + board.middle


def noisy_products(trial, degree):
    """Inputs public: noise on X'y alone, then the posterior mean of weights with prior deviation a quarter of the range (a public
    number), which is a ridge for (X'X)^2."""
    board = trial.board
    features = polynomials(board, trial.inputs, degree)
    gram = features.T @ features
    noise = np.linalg.norm(features, axis=1).max() * board.range * unit_noise(trial)
    noisy = features.T @ (trial.targets - board.middle) + noise * trial.random.standard_normal(len(gram))
    ridge = (noise / (board.range / 4)) ** 2
    weights = np.linalg.solve(gram @ gram + ridge * np.eye(len(gram)), gram @ noisy)
    return polynomials(board, trial.at, degree) @ weights + board.middle


def bins_of(values, prior, epsilon):
    """RR-on-Bins (Ghazi et al. 2022): for each value its bin, and the label of each bin, with the least expected squared error of
    randomised response under the prior. A value in the bin counts e^epsilon times one outside it."""
    count, boost = len(values), np.expm1(epsilon)
    moments = np.array([prior, prior * values, prior * values**2])
    sums = np.concatenate([np.zeros((3, 1)), np.cumsum(moments, axis=1)], axis=1)
    # At [:, i, j], of the values i <= v < j.
    weight, first, second = moments.sum(1)[:, None, None] + boost * (sums[:, None, :] - sums[:, :, None])
    possible = np.triu(np.ones((count + 1, count + 1), bool), 1)
    label = np.divide(first, weight, out=np.zeros_like(first), where=possible)
    cost = np.where(possible, second - first * label, np.inf)
    least, starts = [np.where(np.arange(count + 1) == 0, 0, np.inf)], []
    for _ in range(count):
        totals = least[-1][:, None] + cost
        starts.append(totals.argmin(axis=0))
        least.append(totals.min(axis=0))
    bins = 1 + int(np.argmin([least[k][count] / (boost + k) for k in range(1, count + 1)]))
    edges = [count]
    for start in reversed(starts[:bins]):
        edges.insert(0, int(start[edges[0]]))
    return np.repeat(np.arange(bins), np.diff(edges)), label[edges[:-1], edges[1:]]


def gaussian_process(board, inputs, targets, at):
    """A Gaussian process on 100 Nyström features, its variances and its lengthscale by evidence. Nothing here is private: the
    labels are."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import BayesianRidge

    best = None
    for lengthscale in np.array([0.1, 0.2, 0.4, 0.8]) * np.sqrt(len(board.input_bounds)):
        kernel = Nystroem(gamma=0.5 / lengthscale**2, n_components=min(100, len(targets)), random_state=0)
        model = BayesianRidge(compute_score=True).fit(kernel.fit_transform(board.unit_inputs(inputs)), targets)
        if best is None or model.scores_[-1] > best[1].scores_[-1]:
            best = kernel, model
    kernel, model = best
    return model.predict(kernel.transform(board.unit_inputs(at)))


def randomised_response(trial, prior):
    """Each bin is kept, or any of the others takes its place, with odds e^epsilon to 1. A private prior is a Laplace histogram of the
    targets, for half of epsilon."""
    board, random, epsilon = trial.board, trial.random, trial.epsilon
    nearest = np.rint((trial.targets - board.low) / board.range * (board.levels - 1)).astype(int)
    weights = np.ones(board.levels)
    if prior == "private":
        epsilon /= 2
        # One target replaced changes two counts by one. A small value everywhere avoids division by zero.
        noisy = np.bincount(nearest, minlength=board.levels) + random.laplace(scale=2 / epsilon, size=board.levels)
        weights = np.maximum(noisy, 1e-6)
    bin_of_level, labels = bins_of(np.linspace(0, 1, board.levels), weights / weights.sum(), epsilon)
    truth, count = bin_of_level[nearest], len(labels)
    kept = random.random(len(truth)) < 1 / (1 + (count - 1) * np.exp(-epsilon))
    others = (truth + random.integers(1, max(count, 2), len(truth))) % count
    noisy = np.where(kept, truth, others)
    return board.low + board.range * gaussian_process(board, trial.inputs, labels[noisy], trial.at)

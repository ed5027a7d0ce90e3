"""What speed.toml times in other packages, on the inputs of main.rs. `works.py WORK PEER` runs it twice, so that nothing
is started for the first time, and prints the seconds of the second run and a number that shows that the work was done."""
import json
import os
import sys
import time
import warnings

import numpy as np
import scipy.linalg

warnings.filterwarnings("ignore")


def points(count):
    i = np.arange(1, count + 1)[:, None]
    return 10.0 * np.mod(0.5 + i * np.array([0.7548776662466928, 0.5698402909980533]), 1.0)


def grid(wide, high):
    x, y = np.meshgrid(np.linspace(0, 10, wide), np.linspace(0, 10, high), indexing="ij")
    return np.column_stack([x.ravel(), y.ravel()])


def kernel(a, b):
    return np.exp(-0.5 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(-1))


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def leverages(w, v):
    factor = np.linalg.cholesky((w * v) @ w.T)
    z = scipy.linalg.solve_triangular(factor, w, lower=True, check_finite=False)
    return np.einsum("ij,ij->j", z, z), z


def longest(values, step):
    negative = step < 0
    return min(1.0, (-values[negative] / step[negative]).min(initial=np.inf))


def design(c):
    """The smallest log det, by a primal-dual interior point method with a predictor and a corrector, to 1e-11 nats."""
    u, s, w = np.linalg.svd(c, full_matrices=False)
    rank = int((s > 1e-8 * s[0]).sum())
    u, s, w = u[:, :rank], s[:rank], w[:rank]
    v = np.ones(w.shape[1])
    for _ in range(12):
        v = np.maximum(v * leverages(w, v)[0], 1e-4 * v.mean())
    g, z = leverages(w, v)
    slack = np.maximum(1 - g, 0.02)
    for _ in range(100):
        if rank * np.log(v.sum() * g.max() / rank) <= 1e-11:
            break
        system = z.T @ z
        system *= system
        system[np.diag_indices_from(system)] += slack / v
        factor = scipy.linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)

        def step(products, mu):
            dv = scipy.linalg.cho_solve(factor, g - 1 + slack + (mu - products) / v, check_finite=False)
            return dv, (mu - products - slack * dv) / v

        product = v * slack
        dv, ds = step(product, 0.0)
        after = ((v + longest(v, dv) * dv) * (slack + longest(slack, ds) * ds)).mean()
        dv, ds = step(product + dv * ds, product.mean() * (after / product.mean()) ** 3)
        v, slack = v + 0.99 * longest(v, dv) * dv, slack + 0.99 * longest(slack, ds) * ds
        g, z = leverages(w, v)
    root = np.linalg.qr(((w * np.sqrt(v)) * s[:, None]).T, mode="r") * np.sqrt(g.max())
    return 2 * np.log(np.abs(np.diag(root))).mean()


def cloak(n, wide, high):
    x, test = points(n), grid(wide, high)
    factor = scipy.linalg.cho_factor(kernel(x, x) + 0.25 * np.eye(n), lower=True)
    c = scipy.linalg.cho_solve(factor, kernel(x, test)).T
    return timed(lambda: design(c))


def sums(n, rows=16_384):
    """The sums over all rows, in pieces that fit into the caches."""
    x, z = points(n), grid(16, 16)
    y = np.sin(x[:, 0])

    def work():
        a, b = np.zeros(256), np.zeros((256, 256))
        for start in range(0, n, rows):
            here = slice(start, start + rows)
            k = np.zeros((len(x[here]), 256))
            for column, inducing in zip(x[here].T, z.T):
                distance = column[:, None] - inducing
                distance *= distance
                k -= distance
            k *= 0.5
            np.exp(k, out=k)
            a += k.T @ y[here]
            b += k.T @ k
        return a, b

    seconds, (a, b) = timed(work)
    return seconds, (a.sum() + np.trace(b)) / n


def regression():
    x = points(2000)
    return x, np.sin(x[:, 0]) + np.cos(0.5 * x[:, 1]), grid(20, 25)


def scikit_learn(lengthscale):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    x, y, test = regression()
    model = GaussianProcessRegressor(RBF(lengthscale), alpha=0.25, optimizer=None)
    seconds, (mean, _) = timed(lambda: model.fit(x, y).predict(test, return_std=True))
    return seconds, mean.sum()


def gpy(lengthscale):
    import GPy

    x, y, test = regression()

    def work():
        model = GPy.models.GPRegression(x, y[:, None], GPy.kern.RBF(2, lengthscale=lengthscale), noise_var=0.25)
        return model.predict_noiseless(test)

    seconds, (mean, _) = timed(work)
    return seconds, mean.sum()


def gpflow(lengthscale):
    import gpflow

    x, y, test = regression()

    def work():
        kernel = gpflow.kernels.SquaredExponential(1.0, lengthscale)
        mean, variance = gpflow.models.GPR((x, y[:, None]), kernel, noise_variance=0.25).predict_f(test)
        return mean.numpy(), variance.numpy()

    seconds, (mean, _) = timed(work)
    return seconds, mean.sum()


def gpytorch(lengthscale):
    """With Cholesky factors: conjugate gradients would be less accurate."""
    import gpytorch
    import torch
    from gpytorch import kernels, likelihoods, settings

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    x, y, test = map(torch.from_numpy, regression())

    class Model(gpytorch.models.ExactGP):
        def __init__(self, likelihood):
            super().__init__(x, y, likelihood)
            self.mean, self.kernel = gpytorch.means.ZeroMean(), kernels.RBFKernel()

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))

    def work():
        model = Model(likelihoods.GaussianLikelihood()).double().eval()
        model.kernel.lengthscale, model.likelihood.noise = lengthscale, 0.25
        with torch.no_grad(), settings.max_cholesky_size(len(x)), settings.fast_computations(False, False, False):
            prediction = model(test)
            return prediction.mean, prediction.variance

    seconds, (mean, _) = timed(work)
    return seconds, mean.sum().item()


SETTINGS = {"1000": (1.0, 0.01, 1000, 1e-5), "10000": (0.6, 0.001, 10_000, 1e-7)}


def accountant(make, setting):
    import dp_accounting

    noise, rate, steps, delta = SETTINGS[setting]
    event = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
    return timed(lambda: make().compose(event, steps).get_epsilon(delta))


def loss_distribution(setting):
    from dp_accounting.pld import PLDAccountant

    return accountant(PLDAccountant, setting)


def renyi(setting):
    from dp_accounting.rdp import RdpAccountant

    return accountant(RdpAccountant, setting)


def opendp(count):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    noise = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float), scale=1000.0)
    seconds, drawn = timed(lambda: noise([0] * count))
    return seconds, np.std(drawn) / 1000.0


def prv(setting):
    from prv_accountant import Accountant

    noise, rate, steps, delta = SETTINGS[setting]
    return timed(lambda: Accountant(noise, rate, delta, steps, eps_error=1e-3).compute_epsilon(steps)[2])


def product(other):
    """NumPy computes only half of a product of a matrix with its own transpose. The number is the mean of the diagonal."""
    a = np.fromfunction(lambda i, j: (i + 3 * j) % 7, (2000, 2000))
    b = other(a)
    seconds, result = timed(lambda: a.T @ b)
    return seconds, np.trace(result) / 2000


WORKS = {
    ("cloak-300-10-10", "NumPy"): lambda: cloak(300, 10, 10),
    ("cloak-1000-15-15", "NumPy"): lambda: cloak(1000, 15, 15),
    ("cloak-5000-20-25", "NumPy"): lambda: cloak(5000, 20, 25),
    ("sums-1000000", "NumPy"): lambda: sums(1_000_000),
    ("gp-2000", "scikit-learn"): lambda: scikit_learn(1.0),
    ("gp-2000", "GPy"): lambda: gpy(1.0),
    ("gp-2000", "GPflow"): lambda: gpflow(1.0),
    ("gp-2000", "GPyTorch"): lambda: gpytorch(1.0),
    ("rough-2000", "scikit-learn"): lambda: scikit_learn(0.1),
    ("rough-2000", "GPy"): lambda: gpy(0.1),
    ("rough-2000", "GPflow"): lambda: gpflow(0.1),
    ("rough-2000", "GPyTorch"): lambda: gpytorch(0.1),
    ("pld-1000", "dp-accounting"): lambda: loss_distribution("1000"),
    ("pld-10000", "dp-accounting"): lambda: loss_distribution("10000"),
    ("pld-1000", "prv-accountant"): lambda: prv("1000"),
    ("renyi-1000", "dp-accounting"): lambda: renyi("1000"),
    ("renyi-10000", "dp-accounting"): lambda: renyi("10000"),
    ("noise-100000", "OpenDP"): lambda: opendp(100_000),
    ("product-2000", "NumPy"): lambda: product(np.copy),
    ("gram-2000", "NumPy"): lambda: product(lambda a: a),
}

if __name__ == "__main__":
    work = WORKS[sys.argv[1], sys.argv[2]]
    work()
    print(json.dumps(dict(zip(["seconds", "value"], map(float, work())))))

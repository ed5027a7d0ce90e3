"""Least squares on Longley's data, by three ways that are equal in exact arithmetic.

Longley, An appraisal of least squares programs for the electronic computer from the point of view of the user, 1967.
"""
import json
import sys

import numpy as np
import statsmodels.api as sm

question = json.load(sys.stdin)
data = sm.datasets.longley.load_pandas()
x, y = sm.add_constant(data.exog).to_numpy(), data.endog.to_numpy()

if question["cell"]["method"] == "qr":
    b = sm.OLS(y, x).fit(method="qr").params
elif question["cell"]["method"] == "svd":
    b = sm.OLS(y, x).fit(method="pinv").params
else:
    b = np.linalg.solve(x.T @ x, x.T @ y)

names = ["constant", "deflator", "gnp", "unemployed", "armed_forces", "population", "year"]
print(json.dumps(dict(zip(names, map(float, b)))))

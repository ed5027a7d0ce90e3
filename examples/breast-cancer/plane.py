"""Accuracy of one separating plane through the space of three features, by ten-fold cross-validation.

Street, Wolberg and Mangasarian, Nuclear feature extraction for breast tumor diagnosis, 1993. The plane is that of
Bennett and Mangasarian, Robust linear programming discrimination of two linearly inseparable sets, 1992: it minimises
the mean distance beyond the margin, of each class by itself.
"""
import json
import sys

import numpy as np
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold


def plane(malignant, benign):
    """Weights w and threshold t that minimise mean (t + 1 - xw)+ of the malignant and mean (xw - t + 1)+ of the benign."""
    m, k, features = len(malignant), len(benign), malignant.shape[1]
    cost = np.r_[np.zeros(features + 1), np.full(m, 1 / m), np.full(k, 1 / k)]
    rows = np.c_[np.r_[-malignant, benign], np.r_[np.ones(m), -np.ones(k)], -np.eye(m + k)]
    bounds = [(None, None)] * (features + 1) + [(0, None)] * (m + k)
    found = linprog(cost, A_ub=rows, b_ub=-np.ones(m + k), bounds=bounds).x
    return found[:features], found[features]


question = json.load(sys.stdin)
data = load_breast_cancer()
places = [list(data.feature_names).index(name) for name in question["cell"]["features"].split(", ")]
x, is_malignant = data.data[:, places], data.target == 0
x = (x - x.mean(axis=0)) / x.std(axis=0)

folds = StratifiedKFold(10, shuffle=True, random_state=question["seed"] % 2**32)
accuracy = []
for training, test in folds.split(x, is_malignant):
    w, threshold = plane(x[training][is_malignant[training]], x[training][~is_malignant[training]])
    accuracy.append(100 * np.mean((x[test] @ w > threshold) == is_malignant[test]))

# The average of the folds is one estimate; repeated cross-validations are replicates.
print(json.dumps({"accuracy": float(np.mean(accuracy))}))

"""Test errors of a stump, a large tree and stumps boosted in two ways, on made-up data.

Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 2nd edition, section 10.1.
"""
import json
import sys

from sklearn.datasets import make_hastie_10_2
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

TRAINING, TEST = 2000, 10000

question = json.load(sys.stdin)
seed = question["seed"] % 2**32
x, y = make_hastie_10_2(TRAINING + TEST, random_state=seed)

stump = DecisionTreeClassifier(max_depth=1)
classifier = {
    "stump": stump,
    "tree": DecisionTreeClassifier(max_leaf_nodes=244, random_state=seed),
    "AdaBoost.M1": AdaBoostClassifier(stump, n_estimators=400, random_state=seed),
    "gradient boosting": GradientBoostingClassifier(
        loss="exponential", learning_rate=1.0, n_estimators=400, max_depth=1, random_state=seed
    ),
}[question["cell"]["classifier"]]
classifier.fit(x[:TRAINING], y[:TRAINING])

error = 1 - classifier.score(x[TRAINING:], y[TRAINING:])
print(json.dumps({"error": 100 * error}))

"""The rows of experiments/beyond/leaderboard, and what is public about them."""
import csv
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Board:
    """Inputs and targets of all rows, and public facts. No bound or setting is computed from the rows."""

    inputs: np.ndarray
    targets: np.ndarray
    input_bounds: np.ndarray  # a row (low, high) for each input
    low: float  # bounds of the target
    high: float
    folds: int
    levels: int  # of equally spaced targets, for randomised response
    degree: int  # of the richer polynomials
    drawn: int | None = None  # how many rows each repeat draws

    @property
    def range(self):
        return self.high - self.low

    @property
    def middle(self):
        return (self.low + self.high) / 2

    def clipped(self, targets):
        return np.clip(np.nan_to_num(targets, nan=self.middle), self.low, self.high)

    def clipped_inputs(self, inputs):
        return np.clip(inputs, *self.input_bounds.T)

    def unit_inputs(self, inputs):
        """Inputs scaled to [0, 1]."""
        low, high = self.input_bounds.T
        return (self.clipped_inputs(inputs) - low) / (high - low)


def columns(rows, inputs, target):
    rows = list(rows)
    return np.array([[float(row[name]) for name in inputs] for row in rows]), np.array([float(row[target]) for row in rows])


def kung(files):
    """287 !Kung women, age to height (cm)."""
    women = (row for row in csv.DictReader(open(files[0]), delimiter=";") if row["male"] == "0")
    return Board(*columns(women, ["age"], "height"), np.array([[0, 90]]), 70, 170, folds=10, levels=21, degree=4)


def abalone(files):
    """4177 abalone, length and shell weight to rings."""
    names = "sex length diameter height whole_weight shucked_weight viscera_weight shell_weight rings".split()
    animals = csv.DictReader(open(files[0]), names)
    bounds = np.array([[0, 1], [0, 1.1]])
    return Board(*columns(animals, ["length", "shell_weight"], "rings"), bounds, 0, 30, folds=5, levels=31, degree=2)


def houses(files):
    """1193 sales around London since 2014, easting and northing to price (pounds)."""
    bounds = np.array([[480_000, 580_000], [130_000, 230_000]])
    inputs = ["easting", "northing"]

    def is_near(row):
        inside = [low <= float(row[name]) <= high for name, (low, high) in zip(inputs, bounds)]
        return float(row["years"]) > 2013 and all(inside)

    sales = filter(is_near, csv.DictReader(open(files[0])))
    return Board(*columns(sales, inputs, "price"), bounds, 0, 1_000_000, folds=5, levels=21, degree=2)


def citibike(files):
    """1000 trips of subscribers on 2017-07-17, drawn anew for each repeat, four coordinates to duration (s)."""
    file = {path.rsplit("/", 1)[-1]: path for path in files}
    places = {row["station_id"]: row for row in csv.DictReader(open(file["stations.csv"]))}

    def placed(trip):
        start, end = places.get(trip["start_station"]), places.get(trip["end_station"])
        if trip["subscriber"] != "1" or start is None or end is None:
            return None
        names = {"start": start, "end": end}
        return trip | {f"{end}_{axis}": of[axis] for end, of in names.items() for axis in ("latitude", "longitude")}

    trips = filter(None, map(placed, csv.DictReader(open(file["trips-2017-07-17.csv"]))))
    inputs = ["start_latitude", "end_latitude", "start_longitude", "end_longitude"]
    bounds = np.array([[40.64, 40.82]] * 2 + [[-74.08, -73.9]] * 2)
    return Board(*columns(trips, inputs, "duration"), bounds, 0, 2000, folds=5, levels=21, degree=2, drawn=1000)

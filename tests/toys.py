"""Small estimators to be saved and loaded, and what looks into their files."""

import json
import struct

import safetensors.numpy
from sklearn.base import BaseEstimator

from coterie._files import load, save_model


class Toy(BaseEstimator):
    """An estimator with parameters of every kind."""

    def __init__(self, size=3, init="best", random_state=None, callback=None):
        self.size = size
        self.init = init
        self.random_state = random_state
        self.callback = callback

    @property
    def total_(self):
        return 0


class Strict(Toy):
    """An estimator that checks what it is given."""

    def _check_loaded(self):
        if self.centers_.ndim != 2:
            raise AttributeError("centers_ must be 2-d")


class Hidden(Toy):
    """An estimator, but not public."""


class Estimated:
    """Public, but not an estimator."""


def fitted_toy(**attributes):
    toy = Toy()
    vars(toy).update(attributes)
    return toy


def round_trip(model, path):
    save_model(path, model)
    return load(path)


def header_of(path):
    data = path.read_bytes()
    outer = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
    return json.loads(outer["__metadata__"]["coterie"])


def rewrite(path, change):
    """Apply `change` to the header and write the file anew, well-formed."""
    header = header_of(path)
    changed = change(header)
    text = json.dumps(header if changed is None else changed)
    tensors = safetensors.numpy.load(path.read_bytes())
    path.write_bytes(safetensors.numpy.save(tensors, metadata={"coterie": text}))

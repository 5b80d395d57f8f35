"""What linear models minimise, by the definition."""

import numpy as np


def losses(loss, y, scores, epsilon=0.1):
    """The loss of each row, by its definition; y is -1 or 1, or a target."""
    if loss.endswith("epsilon_insensitive"):
        found = np.maximum(np.abs(y - scores) - epsilon, 0)
    elif loss == "log_loss":
        found = np.logaddexp(0, -y * scores)
    else:
        found = np.maximum(0, 1 - y * scores)
    return found**2 if loss.startswith("squared") else found


def objective(loss, C, Z, y, coef, intercept, scaling=1.0, weights=1.0):
    """What a model minimises."""
    square = coef @ coef + (intercept / scaling) ** 2
    return square / 2 + C * (weights * losses(loss, y, Z @ coef + intercept)).sum()

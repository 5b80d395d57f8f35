"""LIBLINEAR's solvers in plain Python, with the random orders and blocks of the compiled
solvers."""

import numpy as np

MASK = 2**64 - 1


def mix(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def shuffled(n, key, number, turn=1):
    """Return the order of all rows in a pass of a turn: Fisher-Yates with words of a counter."""
    order = list(range(n))
    start = mix(key ^ mix(turn << 32 | number))
    for i in range(n):
        word = mix((start + (i + 1) * 0x9E3779B97F4A7C15) & MASK)
        j = i + ((word >> 32) * (n - i) >> 32)
        order[i], order[j] = order[j], order[i]
    return order


def visit_in_blocks(order, out, visit):
    """Visit all rows that are not in `out`, in blocks of 8 rows in order. A block is visited up to
    8 times; each visit covers only the rows that the previous one changed. It ends when fewer than
    two rows are left, or when the largest change is at most a fifth of the largest first one.
    `visit(row, first)` returns the change of a row."""
    for start in range(0, len(order), 8):
        block = [row for row in order[start : start + 8] if row not in out]
        of_first_visits = 0.0
        for number in range(8):
            changes = {row: abs(visit(row, number == 0)) for row in block}
            block = [row for row, change in changes.items() if change]
            largest = max(changes.values(), default=0.0)
            of_first_visits = of_first_visits or largest
            if len(block) < 2 or largest <= 0.2 * of_first_visits:
                break


class Jumps:
    """Jumps between passes. A jump goes to the best point of the plane spanned by the change during
    the last passes and by the previous step. `goals(x)` are the linear coefficients of the dual
    problem, `stop(x, led)` limits the variables, and `sign` is the sign of each variable in w."""

    def __init__(self, Z, sign, goals, stop, diagonal):
        self.Z, self.sign, self.goals, self.stop = Z, sign, goals, stop
        self.diagonal, self.n = diagonal, 0

    def after(self, n_passes, x, w):
        """Return the variables and w after a number of passes, and whether removed rows come
        back."""
        if n_passes < 10 or n_passes % 5:
            return x, w, False
        here = np.append(w, np.sqrt(self.diagonal) * x)
        if self.n:
            x, w = self.jumped(x, w, here)
        point = x.copy(), np.append(w, np.sqrt(self.diagonal) * x)
        if self.n:
            self.step = [now - before for now, before in zip(point, self.before, strict=True)]
        self.before = point
        self.n += 1
        return x, w, self.n % 4 == 0

    def jumped(self, x, w, here):
        change = x - self.before[0], here - self.before[1]
        directions = [change, self.step] if self.n > 1 else [change]
        goals = self.goals(x)
        slopes = np.array([goals @ one - here @ other for one, other in directions])
        products = np.array([[one @ other for _, other in directions] for _, one in directions])
        if len(slopes) == 2 and np.linalg.det(products) <= 1e-12 * products.diagonal().prod():
            directions, slopes, products = directions[:1], slopes[:1], products[:1, :1]
        along = np.linalg.solve(products, slopes)
        value = goals @ x - here @ here / 2
        gain = along @ slopes / 2
        if not (gain > 1e-12 * abs(value) and along[0] > -0.5 and np.abs(along).max() < 100):
            return x, w
        for way in (1, 0.5, 0.25):
            led = x + way * sum(a * one for a, (one, _) in zip(along, directions, strict=True))
            to = self.stop(x, led)
            w_there = (self.sign * to) @ self.Z
            if goals @ to - w_there @ w_there / 2 - self.diagonal * (to @ to) / 2 > value:
                return to, w_there
        return x, w


def hinge_by_definition(Z, y, C, tol, key, squared):
    """Hsieh et al., Algorithm 3, with LIBLINEAR's shrinking. Return w, alpha, and the number of
    passes."""
    alpha, w = np.zeros(len(y)), np.zeros(Z.shape[1])
    most, diagonal = (np.inf, 0.5 / C) if squared else (C, 0.0)
    out = set()
    above, below = np.inf, -np.inf
    highest = lowest = 0.0

    def visit(row, first):
        nonlocal alpha, w, highest, lowest
        gradient = y[row] * (Z[row] @ w) - 1 + alpha[row] * diagonal
        projected = gradient
        leaves = False
        if alpha[row] == 0:
            leaves, projected = gradient > above, min(gradient, 0)
        elif alpha[row] >= most:
            leaves, projected = gradient < below, max(gradient, 0)
        if leaves:
            out.add(row)
            return 0.0
        if first:
            highest, lowest = max(highest, projected), min(lowest, projected)
        if abs(projected) <= 1e-12:
            return 0.0
        old = alpha[row]
        step = gradient / (Z[row] @ Z[row] + diagonal)
        alpha[row] = min(max(old - step, 0), most)
        w += (alpha[row] - old) * y[row] * Z[row]
        return alpha[row] - old

    jumps = Jumps(Z, y, np.ones_like, lambda _, led: np.clip(led, 0, most), diagonal)
    for number in range(10**4):
        highest, lowest = 0.0, 0.0
        visit_in_blocks(shuffled(len(y), key, number), out, visit)
        above, below = highest if highest > 0 else np.inf, lowest if lowest < 0 else -np.inf
        if highest - lowest <= tol:
            if not out:
                return w, alpha, number + 1
            out, above, below = set(), np.inf, -np.inf
        alpha, w, is_renewed = jumps.after(number + 1, alpha, w)
        if is_renewed:
            out, above, below = set(), np.inf, -np.inf
    raise AssertionError


def regression_by_definition(Z, y, C, epsilon, tol, key, squared):
    """Ho & Lin, Algorithm 4. Return w, beta, and the number of passes."""
    beta, w = np.zeros(len(y)), np.zeros(Z.shape[1])
    most, diagonal = (np.inf, 0.5 / C) if squared else (C, 0.0)
    out, bound, of_first_pass = set(), np.inf, None
    largest = total = 0.0

    def visit(row, first):
        nonlocal beta, w, largest, total
        gradient = Z[row] @ w - y[row] + diagonal * beta[row]
        curvature = Z[row] @ Z[row] + diagonal
        up, down = gradient + epsilon, gradient - epsilon
        leaves = False
        if beta[row] == 0:
            violation = max(-up, down, 0)
            leaves = violation == 0 and up > bound and down < -bound
        elif abs(beta[row]) >= most:
            inward = up if beta[row] > 0 else -down
            violation, leaves = max(inward, 0), inward < -bound
        else:
            violation = abs(up if beta[row] > 0 else down)
        if leaves:
            out.add(row)
            return 0.0
        if first:
            largest, total = max(largest, violation), total + violation
        if up < curvature * beta[row]:
            step = -up / curvature
        elif down > curvature * beta[row]:
            step = -down / curvature
        else:
            step = -beta[row]
        if abs(step) < 1e-12:
            return 0.0
        old = beta[row]
        beta[row] = min(max(old + step, -most), most)
        w += (beta[row] - old) * Z[row]
        return beta[row] - old

    def stop(x, led):
        return np.clip(led, np.where(x < 0, -most, 0), np.where(x > 0, most, 0))

    def goals(x):
        return np.where(x < 0, y + epsilon, y - epsilon)

    jumps = Jumps(Z, 1, goals, stop, diagonal)
    for number in range(10**4):
        largest, total = 0.0, 0.0
        visit_in_blocks(shuffled(len(y), key, number), out, visit)
        of_first_pass = total if of_first_pass is None else of_first_pass
        bound = largest
        if total <= tol * of_first_pass:
            if not out:
                return w, beta, number + 1
            out, bound = set(), np.inf
        beta, w, is_renewed = jumps.after(number + 1, beta, w)
        if is_renewed:
            out, bound = set(), np.inf
    raise AssertionError


def log_loss_by_definition(Z, y, C, tol, key):
    """Yu, Huang & Lin, Algorithm 5. Return w, alpha, and the number of passes."""
    alpha = np.full(len(y), min(1e-3 * C, 1e-8))
    w = (alpha * y) @ Z
    inner = 1e-2
    largest, n_steps = 0.0, 0

    def visit(row, first):
        nonlocal w, largest, n_steps
        square, slope = Z[row] @ Z[row], y[row] * (Z[row] @ w)
        at_top = 0.5 * square * (C - 2 * alpha[row]) + slope < 0
        sign, old = (-1, C - alpha[row]) if at_top else (1, alpha[row])
        z = 0.1 * old if C - old < 0.5 * C else old
        gradient = square * (z - old) + sign * slope + np.log(z / (C - z))
        if first:
            largest = max(largest, abs(gradient))
        steps = 0
        while abs(gradient) >= inner and steps <= 100:
            other = z - gradient / (square + C / (C - z) / z)
            z = 0.1 * z if other <= 0 else other
            gradient = square * (z - old) + sign * slope + np.log(z / (C - z))
            steps += 1
        n_steps += steps
        if not steps:
            return 0.0
        alpha[row] = C - z if at_top else z
        w += sign * (z - old) * y[row] * Z[row]
        return sign * (z - old)

    for number in range(10**4):
        largest, n_steps = 0.0, 0
        visit_in_blocks(shuffled(len(y), key, number), set(), visit)
        if n_steps <= len(y) // 10:
            inner = max(0.1 * inner, min(1e-8, tol))
        if largest < tol:
            return w, alpha, number + 1
    raise AssertionError

"""The table of a comparison."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sparsemaps._tools._parameters import setting
from sparsemaps._tools._plurals import counted
from sparsemaps.comparison import _programs


@dataclass(frozen=True)
class Measured:
    """A model that was measured on held-out rows.

    Attributes
    ----------
    name : str
        The name of the model: "binning (variance 1, gamma 0.06)".
    family : str
        "linear model", "boosted trees", "exact ... kernel", or the name of a map in the command.
    size : int or None
        Samples or components of the map.
    score : float
        Accuracy, or R2 for regression. If other models were measured on more folds, the score is
        adjusted: its distance behind theirs is the same as on the common folds.
    standard_error : float
        Standard error of `score`, over the held-out rows.
    behind, behind_error : float
        How far the score is below the best model's, and the standard error of this difference, on
        the rows that both were measured on.
    n_folds : int
        Number of measured folds, at most five.
    test_score, test_error : float or None
        Score and standard error on the test, by a model trained on all rows.
    train_seconds : float
        Seconds of ``fit``, including preparation and map.
    row_seconds : float
        Seconds of ``predict`` per row.
    row_bytes : float
        Bytes of a training row: codes, features, or entries.
    takes_dense : bool
        Whether the estimator takes dense rows.
    estimator : estimator
        The unfitted model.
    n_train : int or None
        Number of training rows if there was no time for all rows; otherwise None.
    """

    name: str
    family: str
    size: int | None
    score: float
    standard_error: float
    behind: float
    behind_error: float
    n_folds: int
    test_score: float | None
    test_error: float | None
    train_seconds: float
    row_seconds: float
    row_bytes: float
    takes_dense: bool
    estimator: Any
    n_train: int | None = None

    @property
    def program(self) -> str:
        """Python text that makes the estimator and assigns it to ``model``."""
        imports: set[str] = set()
        made = _programs.expression(self.estimator, imports)
        return "\n".join([*sorted(imports), f"model = {made}"])

    @property
    def label(self) -> str:
        """The name with the size."""
        return self.name if self.size is None else f"{self.name}, {self.size:,}"


@dataclass(frozen=True)
class Comparison(Sequence[Measured]):
    """The result of `compare`: a sequence of `Measured`, best first.

    Attributes
    ----------
    rows : tuple of Measured
        All measured models.
    metric : str
        "accuracy" or "R2".
    n_rows, n_used : int
        Numbers of given rows and of used rows.
    seconds : float
        Duration of the comparison.
    untried : tuple of str
        Families, and sizes of families near the best, for which there was no time.
    failed : tuple of str
        Families with a candidate that cannot take all rows, with the reason.
    neighbours_alike : bool
        Whether a row is more similar to the next one than to others of the same class. The rows may
        then be ordered by time.
    """

    rows: tuple[Measured, ...]
    metric: str
    n_rows: int
    n_used: int
    seconds: float
    untried: tuple[str, ...]
    failed: tuple[str, ...]
    neighbours_alike: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __iter__(self) -> Iterator[Measured]:
        return iter(self.rows)

    @property
    def best(self) -> Measured:
        """The model with the highest score."""
        return self.rows[0]

    @property
    def choice(self) -> Measured:
        """The model with the fewest bytes per row whose score is within one standard error of the
        best. This is the standard error of the difference, on the rows that the best was measured
        on. It is estimated if there was not enough time for some of its folds."""
        near = (row for row in self.rows if row is self.best or self._is_near(row))
        return min(near, key=lambda row: (row.row_bytes, row.row_seconds))

    def _is_near(self, row: Measured) -> bool:
        """Return whether a score is within one standard error of the best. Few folds do not widen
        this limit."""
        share = min(row.n_folds / self.best.n_folds, 1.0)
        return row.behind <= row.behind_error * share**0.5

    def plot(self, ax: Any = None) -> Any:
        """Plot scores against bytes per row.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        if ax is None:
            try:
                from matplotlib.figure import Figure
            except ImportError as error:
                raise ImportError(
                    "the plot needs matplotlib: pip install sparsemaps[plot]"
                ) from error
            ax = Figure(figsize=(8, 4.2), layout="constrained").subplots()
        families: dict[str, list[Measured]] = {}
        for row in self.rows:
            families.setdefault(row.family, []).append(row)
        factor = 1 if self.metric == "R2" else 100
        for number, (family, rows) in enumerate(families.items()):
            rows = sorted(rows, key=lambda row: row.row_bytes)
            ax.errorbar(
                [row.row_bytes for row in rows],
                [factor * row.score for row in rows],
                [factor * row.standard_error for row in rows],
                marker="os^Dv"[number % 5], color=f"C{number % 10}", capsize=2, label=family,
                linewidth=1, markerfacecolor="none" if _is_plain(family) else None,
            )  # fmt: skip
        label = self.metric if factor == 1 else f"{self.metric}, %"
        ax.set(xscale="log", xlabel="bytes per row", ylabel=label)
        ax.grid(alpha=0.25)
        ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        return ax

    def __str__(self) -> str:
        return "\n".join([*self._table(), "", *self._said()])

    def _table(self) -> Iterator[str]:
        width = max(len(row.label) for row in self.rows)
        has_test = any(row.test_score is not None for row in self.rows)
        test = f" {'test':>14}" if has_test else ""
        yield (
            f"{'':{width + 2}} {self.metric:>14}{test} {'train, s':>9} {'us/row':>7} "
            f"{'bytes/row':>9}"
        )
        for row in self.rows:
            mark = "*" if row is self.choice else " "
            test = f" {self._shown(row.test_score, row.test_error):>14}" if has_test else ""
            score = self._shown(row.score, row.standard_error)
            yield (
                f"{mark} {row.label:{width}} {score:>14}{test} "
                f"{row.train_seconds:9.2f} {1e6 * row.row_seconds:7.1f} {row.row_bytes:9,.0f}"
            )

    def _shown(self, score: float | None, error: float | None) -> str:
        if score is None or error is None:
            return ""
        if self.metric == "R2":
            return f"{score:.3f} +- {error:.3f}"
        return f"{100 * score:.1f} +- {100 * error:.1f}"

    def _said(self) -> Iterator[str]:
        """Yield sentences about the table."""
        best, choice = self.best, self.choice
        if self.n_used < self.n_rows:
            of_rows = counted(self.n_rows, "rows", ",")
            yield f"Measured on {self.n_used:,} of {of_rows}, chosen at random."
        yield f"Best: {best.label}, {self._shown(best.score, best.standard_error)}."
        yield f"* Choice, the smallest within one standard error: {choice.label}."
        of_maps = next((row for row in self.rows if not _is_plain(row.family)), None)
        if _is_plain(best.family) and of_maps is not None:
            score = self._shown(of_maps.score, of_maps.standard_error)
            yield f"The best map is {of_maps.label}, with {score}."
        if _is_plain(choice.family):
            yield f"No map is needed: use {_PLAIN[choice.family.partition(' ')[0]]}."
        for row in self.rows:
            if row.n_train is not None:
                rows = counted(row.n_train, "rows", ",")
                yield f"There was time to train {row.label} on {rows} only."
        if self.untried:
            yield f"No time for {', '.join(self.untried)}: compare for more seconds."
        if self.neighbours_alike:
            yield (
                "Neighbouring rows are alike. If new rows come after these, compare with "
                f"{setting('ordered', True)}."
            )
        for failed in self.failed:
            yield f"Some rows do not suit {failed}"


_PLAIN = {"linear": "the linear model", "boosted": "boosted trees", "exact": "the exact kernel"}


def _is_plain(family: str) -> bool:
    """Return whether a family is not a map."""
    return family.partition(" ")[0] in _PLAIN

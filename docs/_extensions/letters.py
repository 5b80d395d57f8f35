"""The letters of the gallery's plots: large enough to be read on a phone."""

import matplotlib.pyplot as plt


def larger(gallery, name):
    """Set the sizes of letters and pictures, before each example."""
    plt.rcParams.update({"font.size": 12, "savefig.dpi": 160})

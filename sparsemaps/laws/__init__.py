"""Laws: facts about the estimates of a map.

A law is an immutable value that a map makes from its parameters: the exact kernel, the moments of
the estimates, their bias by cause, and bounds. The law of a product of maps is made from their
laws.

- ``_law`` has the base class of laws, which defines their interface.
- ``_moments`` has the input and the results of the formulas: pairs of rows, moments, bias.
- ``_inner_products``: count sketches and random projections.
- ``_series``: tensor sketches and random Maclaurin features of power series.
- ``_shift_invariant``: Fourier features, Fastfood and random grids.
- ``_sampled``: samples and signs that agree at the rate of the kernel.
- ``_agreement``: how the kernel follows from the number of agreeing codes.
- ``_product_law``: the law of a product of two maps.
- ``_block_covariance``: the covariance of two components in a block of Fastfood or of signs.
- ``_spectrum``: the table of the parameter `spectrum` of `RandomFourier`, and its kernel.
- ``_pitches``: the pitches of the parameter `pitch_density` of `RandomBinning`, and its kernel.

``maps`` makes laws and ``approximation`` uses them. Packed codes store the law of their codes,
which ``neighbors`` uses.
"""

"""Laws: facts about the estimates of a map.

A law is an immutable value that a map makes of its parameters: the exact kernel, the moments of the
estimates, their bias by named causes, and bounds. A product of maps has the product of their laws.

- ``_law`` has the base class of laws, which is their contract.
- ``_moments`` has the input and the results of formulas: pairs of rows, moments, bias.
- ``_inner_products``: count sketches, and random projections.
- ``_series``: tensor sketches and random Maclaurin features, of power series.
- ``_shift_invariant``: Fourier features, Fastfood and random grids.
- ``_sampled``: samples and signs, which agree at the rate of the kernel.
- ``_agreement``: how the kernel follows from the number of codes that agree.
- ``_product_law``: the law of a product of two maps.
- ``_block_covariance``: the covariance of two components of a block, of Fastfood and of signs.
- ``_spectrum``: the table of the parameter `spectrum` of `RandomFourier`, and its kernel.
- ``_pitches``: the pitches of the parameter `pitch_density` of `RandomBinning`, and its kernel.

``maps`` make laws, ``approximation`` asks them. Packed codes keep the law of their codes, which
``neighbors`` asks.
"""

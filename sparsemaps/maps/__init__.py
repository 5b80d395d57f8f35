"""The maps: one module for each, and what they share.

Every map is three things: an estimator with its parameters, a subclass of `SparseMap`; a law, the
facts about its estimates (``laws``); and, when it is fitted, a draw, an immutable value that maps
rows. Mapping is a pure function of each row, so that blocks of rows are mapped in any order, by any
number of threads, on any machine.

- ``_sparse_map`` has the base class: scikit-learn's estimator API.
- ``_draw`` has the base classes of draws, with and without codes, and the work they are given.
- ``_sampled_map`` has the base class of maps that draw codes, and ``encode`` of rows and texts.
- ``_texts`` encodes texts without a matrix of them.
- ``_angles`` writes features of angles, and finds rows whose angles are too large.
- ``_csr_output`` makes CSR output whose size is not known beforehand.
- ``_polynomial_sketch`` and ``_taylor_sketch`` sketch powers and power series. ``_sketch_costs``
  computes what sketches cost.
- ``_orthogonal`` has blocks of orthogonal random vectors, for dense rows.
- ``_bandwidth`` computes `gamma` from the data.
- ``_config`` makes a map from the dictionary that ``to_config`` returned.
- The other modules have one map each; ``kernel_product`` makes one of two others.

``sparsemaps/__init__.pyi`` lists each map once. ``approximation``, ``neighbors``, ``linear``,
``files``, ``dask`` and ``cli`` use the maps. ``docs/add_a_map.md`` says how to add one.
"""

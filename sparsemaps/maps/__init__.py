"""The maps, one per module, and what they share.

Every map consists of an estimator with its parameters (a subclass of `SparseMap`), a law (the facts
about its estimates, in ``laws``) and, once it is fitted, a draw: an immutable value that maps rows.
The output of a row depends only on the draw and the row, so blocks of rows can be mapped in any
order, by any number of threads, on any machine.

- ``_sparse_map`` has the base class: scikit-learn's estimator API.
- ``_draw`` has the base classes of draws, with and without codes, and the work passed to them.
- ``_sampled_map`` has the base class of maps that draw codes, and ``encode`` for rows and texts.
- ``_texts`` encodes texts without building the matrix of their rows.
- ``_angles`` writes trigonometric features, and finds rows whose angles are too large.
- ``_csr_output`` builds CSR output of unknown size.
- ``_polynomial_sketch`` and ``_taylor_sketch`` sketch powers and power series. ``_sketch_costs``
  computes the cost of sketches.
- ``_orthogonal`` has blocks of orthogonal random vectors, for dense rows.
- ``_bandwidth`` computes `gamma` from the data.
- ``_config`` rebuilds a map from the dictionary that ``to_config`` returned.
- Every other module has one map; ``kernel_product`` combines two maps into one.

``sparsemaps/__init__.pyi`` lists each map once. ``approximation``, ``neighbors``, ``linear``,
``files``, ``dask`` and ``cli`` use the maps. ``docs/add_a_map.md`` says how to add one.
"""

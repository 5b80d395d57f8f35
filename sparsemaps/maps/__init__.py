"""The maps: one module for each, and what they share.

Every map is a subclass of `SparseMap`. ``fit`` draws a seed and freezes a copy of the parameters;
``transform`` is a pure function of each row, so that blocks of rows are mapped in any order, by any
number of threads, on any machine.

- ``_sparse_map``: scikit-learn's estimator API, checks of input, blocks and threads.
- ``_sampled_map``: what maps have that draw codes: packed codes and one-hot features.
- ``_texts``: codes of raw texts, some at a time.
- ``_csr_output``: output as CSR whose size is not known beforehand.
- ``_moments``: what the formulas for the error of a map need, and what they give.
- ``_taylor_sketch``, ``_sketch_costs``: sketches of power series, and what sketches cost.
- ``_orthogonal``: blocks of orthogonal random vectors, for dense rows.
- ``_spectrum``: the table of a `spectrum` that is given to `RandomFourier`.
- ``_column_products``: exact kernels that are products of one function of each column's difference.
- ``_bandwidth``: `gamma` from the data, for the maps that have it.
- ``_block_covariance``: the covariance of the features of one block of `Fastfood`.
- ``_config``: a map from the dictionary that ``to_config`` gave.
- ``count_sketch``, ``random_projection``, ``tensor_sketch``, ``random_maclaurin``: inner products
  and series of them.
- ``random_fourier``, ``fastfood``, ``random_binning``: kernels of the difference of two rows.
- ``weighted_sampling``, ``minhash``, ``sign_projection``: samples that agree at the kernel's rate.
- ``kernel_product``: the product of a sampled map's kernel and another map's.

The names of the maps are loaded by ``sparsemaps/__init__.pyi``, which lists each of them once.
``approximation``, ``neighbors``, ``files`` and ``dask`` use the maps. ``docs/add_a_map.md`` says
how to add one.
"""

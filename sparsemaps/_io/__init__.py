"""Inputs and outputs: blocks of text, compression, folders, and atomic output files.

- ``_sources`` lists the inputs of a call: files, directories, patterns, standard input.
- ``_text_input`` reads files, pipes and compressed files in blocks of whole lines.
- ``_zstd`` reads and writes Zstandard files.
- ``_output_files`` writes files that appear only when they are complete, and refuses equal names.
- ``_regular_files`` opens files that must not be pipes, devices or folders.
- ``_locks`` allows one process at a time to write to a folder. ``_folders`` are folders of results,
  on this machine or at a URL, where the files of an output appear together. ``_paths`` has
  functions of paths that work for both, and ``_urls`` reads and writes files at URLs.
- ``_array_files`` reads NumPy files, and checks their types, shapes and numbers.
  ``_described_files`` defines the format of files of an array with a description.
- ``_progress`` has the progress bar. ``_steps`` is the interface by which a search runs its steps.
"""

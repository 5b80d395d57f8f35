"""Inputs and outputs: blocks of text, compression, folders, files that appear when complete.

- ``_sources`` lists the inputs of a call: files, directories, patterns, standard input.
- ``_text_input`` reads files, pipes and compressed files in blocks of whole lines.
- ``_zstd`` reads and writes Zstandard files.
- ``_output_files`` writes files that appear when they are complete, and refuses equal names.
- ``_regular_files`` opens files that must be no pipe, device or folder.
- ``_locks`` lets one process at a time write to a folder. ``_folders`` are folders of results,
  on this machine or at a URL, where files of an output appear together; ``_paths`` asks of a path
  what does not depend on where it is, and ``_urls`` reads and writes files at URLs.
- ``_array_files`` reads NumPy's files, whose types, shapes and numbers it checks.
  ``_described_files`` has the form of files of an array with a description.
- ``_progress`` has the progress bar. ``_steps`` is what a search tells of its steps.
"""

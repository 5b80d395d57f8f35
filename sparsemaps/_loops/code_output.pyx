# The layouts of codes, for Python: PACKED, NUMBERS and ONE_HOT_COLUMNS (code_output.pxd).

"""What tests run: the command, processes of their own, and programs that are also run by hand.

By hand they are started from the folder of tests: ``python -m _scripts.digests``.
"""

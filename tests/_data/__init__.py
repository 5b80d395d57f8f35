"""What tests read: rows, codes, texts, files, and the list of maps."""

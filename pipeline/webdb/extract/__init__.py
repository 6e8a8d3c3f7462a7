"""How does a round find the rows it needs without reading a part from end to end?

extract_file.py   the extract of a layer: the columns that a round searches, sorted
part_extract.py   the extracts of all layers of a part as one: look-ups of keys, signatures, names and hosts
due_rows.py       the due rows of a part, the most important first
due_totals.py     how many rows fall due between two times, and when the first and the last of them does
review_rows.py    the rows that the outcomes of a round may concern
"""

"""How does a round write only what it changes?

layer.py         which files the layers of a part are, and which of them are merged
overlay.py       reads several layers as one table
changes.py       rows that differ from the part before, as a merge or a revision finds them
delta.py         writes them as the newest layer, and merges older layers
changed_rows.py  gives them to the index merge
"""

"""How are entries of the WebDB changed without fetching?

A revision passes over parts of the WebDB after a command of the user: a change of the scope, `crawlctl
forget` or `crawlctl refresh`. Each task revises one partition, and nothing is shuffled:

    revise_partition  task.py            reads the part; if an entry changes, it writes the next part
    EntryRevision     entry_revision.py  decides about one entry, by the order
"""

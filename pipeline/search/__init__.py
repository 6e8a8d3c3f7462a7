"""Which pages answer a query?

The folders, in the order of a query. A folder imports only folders before it (see
tests/pipeline/search/test_rooms.py).

    query        What was asked?                          text → tree of operators
    rules        What does the operator say about it?     rules file → synonyms, pins, blocks, boosts
    plan         Which posting lists answer it?           tree → plan of steps
    evaluate     Which documents match, and how well?     plan → ranked documents
    open         Where is the index, and is it current?   store → Searcher, which holds all that a query reads
    suggestions  What did the user mean to type?          words → better spellings, completions
    answer       What is the user shown?                  ranked documents → pages with titles and snippets

There are two evaluators, and each is faster in its case. A process that answers one query uses plain Python:
importing numpy takes longer than answering. A process that answers many queries, and a query with very long
posting lists, use numpy. Both give the same answers (tests/pipeline/search/evaluate/test_evaluators.py).

How to add an operator for a value that the index already holds (which numbers it holds per document:
index/segment/columns.py; which texts: stored_documents.py)
    1. query/tree.py: a class for its node, with `infix`. A filter, of the form `name:value`, is a class in
       query/filters.py with `read`, a row in FILTERS and its name in AnyFilter; lexer.py changes only for
       another spelling of its name (`_ALIASES`), grammar.py not at all.
       An operator with a spelling of its own needs a token in query/lexer.py and a rule in query/grammar.py.
    2. plan/planner.py: how the node becomes a step, one row in `_STEPS`; or, if it stands for words or terms,
       one row in `_WORDS`. For a filter: one row in `FILTER_STEPS` of plan/filter_plans.py.
    3. plan/steps.py: a class for its step, only if no class there fits. DocumentRanges fits every operator
       that selects documents by their doc ids, ColumnRange for numbers of a column, Keywords for values that
       are indexed whole. DocumentRanges needs a method beside `host_ranges` in
       evaluate/index_reader.py that finds them, and a line in open/searcher.py. A new class of step needs one
       method and one row in `_OPERATORS` of each evaluator: evaluate/plain_evaluator.py and
       evaluate/vector_evaluator.py.
    Only if its words are to be marked in titles and snippets: one row in `_FORMS` of answer/needles.py.
    Help: a row in query/operators.py, from which the command, the prompt and docs/searching.md take it;
    an example in `EXAMPLES` of serve/web_pages.py.
    Tests: add it to tests/pipeline/search/strategies.py and brute_force.py; both evaluators are then checked
    against brute force.
"""

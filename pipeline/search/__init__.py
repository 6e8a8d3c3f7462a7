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

How to add an operator, for something that the index holds already (what it holds of a document:
index/segment/columns.py for numbers, stored_documents.py for texts)
    1. query/tree.py: a class for its node, with `infix`, and its name in `FieldLeaf` (it asks for words, and
       may have a field before it), `Leaf` (another node with none inside it) or `Node` (it has nodes inside).
       `_BARE_WORD` must not match a word that is spelt like it: such a word is printed in quotes.
       A filter, of the form `name:value`, is a class in query/filters.py with `read`, a row in FILTERS and
       its name in AnyFilter; lexer.py changes only for another spelling of its name (`_ALIASES`), grammar.py
       not at all.
       An operator with a spelling of its own needs a kind of token in query/lexer.py and a rule in
       query/grammar.py (`_leaf` for a leaf). In the lexer, `_kind_of` finds a kind that is spelt as one word,
       `_GROUPS` one that has quotes, blanks or parentheses; `LEAVES` has all kinds that ask for something,
       and query/meant.py takes them from there.
    2. plan/planner.py: how the node becomes a step, one row in `_STEPS`; or, if it stands for words or terms,
       one row in `_WORDS`. Of a filter: one row in `FILTER_STEPS` of plan/filter_plans.py. `Site` alone has a
       row in `_STEPS` and one in `_WORDS`, because its path is words.
       A leaf of words also needs a row in `_WORDS_OF` of plan/synonyms.py, by which the rules of the operator
       know a query, and in `_WORDS_OF` of serve/searching/nothing_found.py, for the advice where nothing is
       found; the row may say that it has no words.
    3. plan/steps.py: a class for its step, only if none there will do. DocumentRanges does for every operator
       that selects documents by their doc ids, ColumnRange for numbers of a column, Keywords for values that
       are indexed whole. DocumentRanges needs a method beside `host_ranges` in
       evaluate/index_reader.py that finds them, and a line in open/searcher.py. A new class of step needs one
       method and one row in `_OPERATORS` of each evaluator: evaluate/plain_evaluator.py and
       evaluate/vector_evaluator.py.
    4. answer/needles.py: one row in `_FORMS` for a leaf of words, so that they are marked in titles and
       snippets. A filter has none.
    5. Help: a row in query/operators.py, from which the command, the prompt, docs/searching.md, the help
       page, the description of the API and agents take it; if values of a filter are offered as links,
       `_filters` in serve/searching/filter_links.py.
    6. Tests: an example in tests/pipeline/search/test_node_classes.py, which fails where one of these steps
       was forgotten; strategies.py and brute_force.py beside it: both evaluators are then checked against
       brute force.
"""

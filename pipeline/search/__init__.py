"""Which pages answer a query?

The folders, in the order of a query. A folder imports only folders before it (see
tests/pipeline/search/test_rooms.py).

    query        What was asked?                          text → tree of operators
    rules        Which answers are changed on purpose?    settings `search` → synonyms, pins, blocks, boosts
    plan         Which posting lists answer it?           tree → plan of steps
    evaluate     Which documents match, and how well?     plan → ranked documents
    open         Where is the index, and is it current?   store → Searcher, which holds all that a query reads
    suggestions  What did the user mean to type?          words → better spellings, completions
    answer       What is the user shown?                  ranked documents → pages with titles and snippets

There are two evaluators, and each is faster in its case. A process that answers one query uses plain Python:
importing numpy takes longer than answering. A process that answers many queries, and a query with very long
posting lists, use numpy. Both give the same answers (tests/pipeline/search/evaluate/test_evaluators.py).

How to add an operator, for something that the index holds already (what it holds of a document:
index/segment/columns.py for numbers, stored_documents.py for texts).

A filter `name:value` that selects pages by a number or by a value that is indexed whole, such as `lang:de`
    1. query/filters.py: a class with `read` and `infix`, a row in FILTERS, and its name in AnyFilter;
       query/grammar.py: its name in the line `filter = …` of the docstring.
    2. plan/filter_plans.py: a function that returns its step, and a row in FILTER_STEPS. The step is
       ColumnRange for numbers of a column, Keywords for values that are indexed whole.
    3. query/operators.py: a row, from which the command, the prompt, docs/searching.md, the help page, the
       description of the API and agents take their help; then `python docs/generate.py`.
    4. tests/pipeline/search: an example in WRITTEN of test_node_classes.py, which fails where one of these
       steps was forgotten; strategies.py and brute_force.py, so that both evaluators are checked against
       brute force.
    Only if wanted: other spellings of the name (`_ALIASES` in query/lexer.py); links to its values on the
    search page (`_filters` in serve/searching/filter_links.py).

Another leaf, such as `1990..2000`: a node with no nodes inside it
    1. query/tree.py: a class for its node, with `infix`, and its name in `FieldLeaf` (it asks for words, and
       a field may stand before it) or in `Leaf`. `_BARE_WORD` must not match a word that is spelt like it:
       such a word is printed in quotes.
    2. query/lexer.py: a kind of token, also in `LEAVES`; `_SPELLINGS` for a fixed spelling, else `_kind_of`
       for one word and `_GROUPS` for a text with quotes, blanks or parentheses. query/grammar.py: `_leaf`,
       and the docstring.
    3. plan/planner.py: how the node becomes a step, one row in `_STEPS`; or, if it stands for words or terms,
       one row in `_WORDS`. `Site` alone has a row in both, because its path is words.
    4. For a leaf of words, a row in three tables: `_WORDS_OF` of plan/synonyms.py, by which synonyms and pins
       know a query; `_FORMS` of answer/needles.py, by which its words are marked in titles and snippets;
       `_WORDS_OF` of serve/searching/nothing_found.py, for the advice where nothing is found. A row may say
       that the leaf has no words.
    5. plan/steps.py: a class for its step, only if none there will do. If the operator selects documents by
       their doc ids, use DocumentRanges: write a method that finds them beside `host_ranges` in
       evaluate/index_reader.py, and a line in open/searcher.py. A new class of step needs one method and one
       row in `_METHODS` of each evaluator: evaluate/plain_evaluator.py and evaluate/vector_evaluator.py.
    6. The help: query/operators.py, as in step 3 of a filter. The tests: WRITTEN of test_node_classes.py,
       strategies.py and brute_force.py, as in step 4 of a filter.

An operator between two others, such as `a NEAR b`
    1. query/tree.py: a class for its node, with `parts`, `with_parts` and `infix`, and its name in `Node`;
       its spelling in `KEYWORDS`, from which the lexer, query/meant.py and `_BARE_WORD` take it, and beside
       AND, OR and NOT at the head of query/lexer.py.
    2. query/grammar.py: a rule in the docstring, and a method for it. If NEAR binds tighter than AND, `_both`
       calls the new method, and the new method calls `_signed`. A side may be denied (`a NEAR NOT b`): NOT
       makes a `_Match` with `denied`, and the new method raises an error for it. `_operand` and `query` name
       the operator in their messages.
    3. plan/planner.py: a row in `_STEPS`; a step in plan/steps.py if none will do, as above. If words inside
       the node shall have synonyms: `_runs` in plan/synonyms.py. Other code enters a node by its `parts`.
    4. The help: query/operators.py, and the sentences that list AND, OR and NOT: in `meant` of query/meant.py
       and in serve/templates/help.html.
    5. The tests, in tests/pipeline/search: test_node_classes.py has two lists of queries with inner nodes, in
       `test_a_node_is_made_again_with_its_own_parts` and `test_every_node_with_parts_is_tried`. WRITTEN there
       has leaves only. strategies.py and brute_force.py, as in step 4 of a filter.
"""

"""How does a round change what we know?

The WebDB merge passes over every partition once. The functions, in the order in which they run:

    spread           shuffle.py   a mapper reads files of discovered URLs and sends each URL to its partition
    merge_partition  task.py      a reducer does the rest for one partition:
    gather           shuffle.py     it puts together the messages that the partition was sent;
    advance_part     update.py      it writes the next part, in four steps:
    review           review.py        compare the outcomes with the old part: leaders, and verdicts on pages
    settle           review.py        turn the outcome of a page with a leader into the outcome of a duplicate
    part_changes     join.py            join old part, new URLs, outcomes and verdicts into changed rows;
    write_changes    delta.py           write these as a new layer;
    merge_hosts      host_table.py  it writes the next host table;
    merge_captures   capture_tiers.py  it merges the captures of the round;
    merge_blocks     block_table.py  it writes the next table of blocks.

`inject` uses `advance_part` too, with seeds as discovered URLs and without outcomes.
"""

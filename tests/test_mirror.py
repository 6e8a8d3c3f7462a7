"""Tests mirror the source: tests/<folder>/test_<module>.py. The table says where other modules are tested.

A module has no test of its own where it is one step of a larger act, and a test of the act says more than a
test of the step: bytes are tested by writing and reading them, evaluators against brute force, tasks through
their job, commands and their helpers through the command line.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
COVERED_BY = {
    "pipeline/arrays/array_types": "pipeline/arrays/test_byte_strings",
    "pipeline/arrays/ragged": "pipeline/index/segment/postings/test_number_arrays",
    "pipeline/commands/completion": "test_cli",
    "pipeline/commands/dump": "pipeline/commands/shared/test_readable_records",
    "pipeline/commands/emr": "pipeline/runners/emr/test_plan",
    "pipeline/commands/gc": "pipeline/commands/test_crawl_life",
    "pipeline/commands/init": "pipeline/commands/test_crawl_life",
    "pipeline/commands/inject": "pipeline/commands/test_crawl_life",
    "pipeline/commands/shared/answer_lines": "pipeline/commands/test_query",
    "pipeline/commands/shared/common": "pipeline/commands/test_check",
    "pipeline/commands/shared/exit_codes": "test_cli",
    "pipeline/commands/shared/group": "pipeline/commands/test_hostile_text",
    "pipeline/commands/shared/output": "pipeline/commands/shared/test_prompt",
    "pipeline/commands/shared/query_run": "pipeline/commands/test_query",
    "pipeline/commands/shared/session": "pipeline/commands/shared/test_query_options",
    "pipeline/commands/status": "pipeline/commands/test_crawl_life",
    "pipeline/commands/version": "test_cli",
    "pipeline/copies/repartition/moved_graph": "jobs/test_repartition",
    "pipeline/copies/repartition/moved_ranks": "jobs/test_repartition",
    "pipeline/copies/repartition/moved_runs": "jobs/test_repartition",
    "pipeline/copies/repartition/order": "pipeline/crawl/test_copying",
    "pipeline/copies/repartition/side_files": "jobs/test_repartition",
    "pipeline/copies/repartition/task": "pipeline/crawl/test_copying",
    "pipeline/copies/repartition/unchanged_files": "pipeline/crawl/test_copying",
    "pipeline/copies/repartition/webdb_tables": "jobs/test_repartition",
    "pipeline/copies/soundness": "pipeline/commands/test_check",
    "pipeline/crawl/collecting": "pipeline/commands/test_crawl_life",
    "pipeline/crawl/cron/cron_command": "pipeline/commands/test_schedule",
    "pipeline/crawl/importing": "jobs/test_import_warc",
    "pipeline/crawl/reports/crawl_status": "pipeline/commands/test_crawl_life",
    "pipeline/crawl/reports/neighbours": "pipeline/commands/test_explain",
    "pipeline/crawl/reports/record_files": "pipeline/commands/shared/test_readable_records",
    "pipeline/crawl/reports/url_explanation": "pipeline/commands/test_explain",
    "pipeline/crawl/seeding": "pipeline/crawl/test_leased_crawl",
    "pipeline/crawl/work": "pipeline/crawl/test_copying",
    "pipeline/demo/web_process": "pipeline/demo/test_web",
    "pipeline/duplicates/order": "jobs/test_group_duplicates",
    "pipeline/duplicates/sketch_rows": "pipeline/duplicates/test_pairs",
    "pipeline/errors": "pipeline/test_orders",
    "pipeline/fetch/loop/answer_handler": "pipeline/fetch/test_task",
    "pipeline/fetch/loop/fetch_loop": "pipeline/fetch/loop/test_round_tail",
    "pipeline/fetch/loop/task_tools": "pipeline/fetch/test_task",
    "pipeline/fetch/save/adoption": "pipeline/fetch/save/test_unparsed",
    "pipeline/fetch/save/run_buffer": "pipeline/crawl/reports/test_left_over",
    "pipeline/fetch/save/run_saver": "pipeline/fetch/test_task",
    "pipeline/fetch/select/known_hosts": "pipeline/fetch/select/test_survey",
    "pipeline/fetch/select/site_budgets": "pipeline/fetch/select/test_survey",
    "pipeline/fetch/stop_signal": "pipeline/fetch/test_supervisor",
    "pipeline/formats/sequencefile/block_body": "pipeline/formats/sequencefile/test_mapfile",
    "pipeline/formats/sequencefile/packed_records": "pipeline/formats/sequencefile/test_sequencefile",
    "pipeline/formats/sequencefile/record_body": "pipeline/formats/sequencefile/test_sequencefile",
    "pipeline/formats/warc/arc_header": "pipeline/formats/warc/test_warc_reader",
    "pipeline/formats/warc/archive_streams": "pipeline/formats/warc/test_warc_reader",
    "pipeline/http/curl_errors": "pipeline/http/test_engine",
    "pipeline/http/dialler": "pipeline/http/test_engine",
    "pipeline/http/tls_renegotiation": "pipeline/http/test_watchdog",
    "pipeline/http/transfer": "pipeline/http/test_engine",
    "pipeline/imports/order": "jobs/test_import_warc",
    "pipeline/imports/task": "jobs/test_import_warc",
    "pipeline/index/fields": "pipeline/index/building/test_builder",
    "pipeline/index/lookup": "pipeline/index/test_inlinks",
    "pipeline/index/merge/frontier": "pipeline/index/merge/test_partition",
    "pipeline/index/merge/liveness": "pipeline/index/merge/test_dictionary_shards",
    "pipeline/index/merge/order": "jobs/test_merge_index",
    "pipeline/index/merge/task": "jobs/test_merge_index",
    "pipeline/index/runs/run_writer": "pipeline/index/building/test_builder",
    "pipeline/index/segment/postings/array_lists": "pipeline/index/segment/postings/test_bulk_lists",
    "pipeline/index/segment/postings/list_writer": "pipeline/index/segment/postings/test_bulk_lists",
    "pipeline/index/segment/postings/posting_arrays": "pipeline/index/segment/postings/test_bulk_lists",
    "pipeline/index/segment/postings/short_numbers": "pipeline/index/segment/postings/test_bulk_lists",
    "pipeline/index/segment/segment_files": "pipeline/index/segment/test_segment_writer",
    "pipeline/index/statistics": "pipeline/index/test_inlinks",
    "pipeline/politeness/crawl_delay": "pipeline/politeness/test_polite_queue",
    "pipeline/politeness/handout": "pipeline/politeness/test_polite_queue",
    "pipeline/politeness/host_queue": "pipeline/politeness/test_politeness_rules",
    "pipeline/politeness/host_scheme": "pipeline/politeness/test_polite_queue",
    "pipeline/politeness/host_state": "pipeline/politeness/test_polite_queue",
    "pipeline/processes/children": "pipeline/fetch/test_supervisor",
    "pipeline/progress/bar": "pipeline/commands/test_copy",
    "pipeline/progress/choice": "pipeline/progress/test_display",
    "pipeline/rank/graph/build": "jobs/test_rank_graph",
    "pipeline/rank/graph/nodes": "jobs/test_rank_graph",
    "pipeline/rank/graph/sparse_blocks": "pipeline/rank/solve/test_block_jacobi",
    "pipeline/rank/graph/stored_graph": "jobs/test_rank_graph",
    "pipeline/rank/order": "jobs/test_rank_iterate",
    "pipeline/rank/publish/host_ranks": "jobs/test_rank_publish",
    "pipeline/rank/publish/publish": "jobs/test_rank_publish",
    "pipeline/rank/publish/rank_explanation": "pipeline/crawl/test_ranking",
    "pipeline/rank/publish/rank_tables": "pipeline/crawl/test_ranking",
    "pipeline/rank/solve/aggregation": "pipeline/rank/solve/test_block_jacobi",
    "pipeline/rank/solve/iteration": "jobs/test_rank_iterate",
    "pipeline/rank/solve/messages": "jobs/test_rank_iterate",
    "pipeline/rank/solve/task_matrix": "pipeline/rank/solve/test_block_jacobi",
    "pipeline/robots/lastmod": "pipeline/robots/test_sitemap_reader",
    "pipeline/robots/packed_rules": "pipeline/robots/test_robots",
    "pipeline/robots/patterns": "pipeline/robots/test_robots",
    "pipeline/robots/robots_lines": "pipeline/robots/test_robots",
    "pipeline/robots/rule_index": "pipeline/robots/test_robots",
    "pipeline/robots/sitemap_encoding": "pipeline/robots/test_sitemap_reader",
    "pipeline/robots/sitemap_formats": "pipeline/robots/test_sitemap_reader",
    "pipeline/runners/emr/errors": "pipeline/runners/emr/test_runner",
    "pipeline/runners/emr/options": "pipeline/runners/emr/test_stack",
    "pipeline/runners/emr/plan/cluster": "pipeline/runners/emr/test_plan",
    "pipeline/runners/emr/plan/cost": "pipeline/runners/emr/test_plan",
    "pipeline/runners/emr/plan/prices": "pipeline/runners/emr/test_plan",
    "pipeline/runners/emr/plan/request": "pipeline/runners/emr/test_plan",
    "pipeline/runners/emr/plan/warnings": "pipeline/runners/emr/test_plan",
    "pipeline/runners/here/programs": "pipeline/runners/here/test_simulated",
    "pipeline/runners/shipping/ship": "pipeline/commands/test_package",
    "pipeline/scope/scope_rules": "pipeline/scope/test_scope",
    "pipeline/search/answer/folding": "pipeline/search/answer/test_find",
    "pipeline/search/answer/needles": "pipeline/search/answer/test_snippets",
    "pipeline/search/answer/results": "pipeline/search/answer/test_find",
    "pipeline/search/answer/score_explanation": "pipeline/search/answer/test_find",
    "pipeline/search/answer/text_hits": "pipeline/search/answer/test_snippets",
    "pipeline/search/evaluate/index_reader": "pipeline/search/evaluate/test_vector_positions",
    "pipeline/search/evaluate/list_reads": "pipeline/search/evaluate/test_vector_positions",
    "pipeline/search/evaluate/matches": "pipeline/search/answer/test_find",
    "pipeline/search/evaluate/plain_evaluator": "pipeline/search/evaluate/test_evaluators",
    "pipeline/search/evaluate/plain_phrases": "pipeline/search/answer/test_find",
    "pipeline/search/evaluate/vector_evaluator": "pipeline/search/evaluate/test_evaluators",
    "pipeline/search/evaluate/vector_lists": "pipeline/search/answer/test_answer",
    "pipeline/search/evaluate/vector_phrases": "pipeline/search/answer/test_find",
    "pipeline/search/open/disk_cache": "pipeline/search/open/test_newest_snapshot",
    "pipeline/search/open/follower": "pipeline/commands/test_query",
    "pipeline/search/open/open_index": "pipeline/search/open/test_newest_snapshot",
    "pipeline/search/open/searcher": "pipeline/search/open/test_newest_snapshot",
    "pipeline/search/plan/expansions": "pipeline/search/answer/test_find",
    "pipeline/search/plan/steps": "pipeline/search/plan/test_planner",
    "pipeline/search/query/lexer": "pipeline/search/query/test_grammar",
    "pipeline/search/query/parentheses": "pipeline/search/query/test_grammar",
    "pipeline/search/query/query_errors": "pipeline/search/query/test_grammar",
    "pipeline/search/query/tree": "pipeline/search/query/test_grammar",
    "pipeline/state/kinds": "pipeline/webdb/test_row_files",
    "pipeline/state/lease_records": "pipeline/state/test_damaged_records",
    "pipeline/store/hdfs/connections": "pipeline/store/hdfs/test_client",
    "pipeline/store/hdfs/namespace": "pipeline/store/hdfs/test_store",
    "pipeline/store/hdfs/stream": "pipeline/store/hdfs/test_store",
    "pipeline/store/hdfs/upload": "pipeline/store/hdfs/test_hdfs_faults",
    "pipeline/text/documents/page": "pipeline/text/documents/test_document",
    "pipeline/text/guarded/helper": "pipeline/text/guarded/test_guard",
    "pipeline/text/html/elements": "pipeline/text/html/test_html",
    "pipeline/text/html/walk": "pipeline/text/html/test_html",
    "pipeline/webdb/merge/order": "jobs/test_merge_webdb",
    "pipeline/webdb/merge/task": "jobs/test_merge_webdb",
}


def own_test(module: Path) -> Path:
    return ROOT / "tests" / module.parent / f"test_{module.name}"


def modules() -> list[Path]:
    found = [*ROOT.glob("pipeline/**/*.py"), *ROOT.glob("jobs/*.py"), ROOT / "cli.py"]
    return sorted(path.relative_to(ROOT) for path in found if path.name != "__init__.py")


def test_every_module_has_a_test_of_its_own_or_is_in_the_table() -> None:
    without = [str(module.with_suffix("")) for module in modules() if not own_test(module).exists()]
    assert sorted(set(without) - set(COVERED_BY)) == []


def test_the_table_names_modules_without_a_test_of_their_own_and_tests_that_exist() -> None:
    known = {str(module.with_suffix("")): module for module in modules()}
    for name, test in COVERED_BY.items():
        assert name in known, f"{name} is gone: take it out of the table"
        assert not own_test(known[name]).exists(), f"{name} has a test of its own: take it out of the table"
        assert (ROOT / "tests" / f"{test}.py").exists(), f"{test} is gone: say where {name} is tested"


def test_every_test_of_the_pipeline_stands_beside_what_it_tests() -> None:
    folders = {str(module.parent) for module in modules()}
    for path in ROOT.glob("tests/pipeline/**/test_*.py"):
        folder = str(path.parent.relative_to(ROOT / "tests"))
        assert any(known == folder or known.startswith(folder + "/") for known in folders), (
            f"{path} mirrors nothing"
        )

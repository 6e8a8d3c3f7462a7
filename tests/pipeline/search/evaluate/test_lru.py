from __future__ import annotations

from crawlctl.pipeline.search.evaluate.lru import LruCache


def test_what_was_not_used_for_longest_goes_first() -> None:
    cache: LruCache[str, int] = LruCache(100)
    cache.put("a", 1, 40)
    cache.put("b", 2, 40)
    assert cache.get("a") == 1
    cache.put("c", 3, 40)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)
    assert cache.bytes == 80


def test_a_value_put_again_counts_once() -> None:
    cache: LruCache[str, int] = LruCache(100)
    cache.put("a", 1, 40)
    cache.put("a", 2, 50)
    assert (cache.get("a"), cache.bytes) == (2, 50)


def test_what_is_larger_than_the_cache_is_not_held() -> None:
    cache: LruCache[str, int] = LruCache(100)
    cache.put("a", 1, 10)
    cache.put("b", 2, 101)
    assert (cache.get("a"), cache.get("b")) == (1, None)

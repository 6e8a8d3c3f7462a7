import pytest

from crawlctl.pipeline.fetch.failure_words import in_words, kind_in_words


@pytest.mark.parametrize(
    ("recorded", "said"),
    [
        ("too_slow: less than 256 bytes", "too few bytes per second: less than 256 bytes"),
        ("refused: no connection", "refused: no connection"),
        ("too_slow", "too few bytes per second"),
        ("status 503", "status 503"),
        ("robots: robots.txt answered with status 503", "robots.txt answered with status 503"),
        (
            "the round ended before its turn came; the last request had failed (tls: no certificate)",
            "the round ended before its turn came; the last request had failed (TLS: no certificate)",
        ),
        (
            "the round ended before its turn came; the last request had failed (robots: robots.txt answered)",
            "the round ended before its turn came; the last request had failed (robots.txt answered)",
        ),
        ("robots.txt: Disallow: /private", "robots.txt: Disallow: /private"),
    ],
)
def test_a_recorded_reason_is_said_in_words(recorded: str, said: str) -> None:
    assert in_words(recorded) == said


def test_a_kind_without_words_of_its_own_is_a_word() -> None:
    assert kind_in_words("some_kind") == "some kind"

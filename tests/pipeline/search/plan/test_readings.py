from __future__ import annotations

import pytest

from crawlctl.pipeline.search.plan.readings import readings_of


@pytest.mark.parametrize(
    ("typed", "readings"),
    [
        ("tree", ["tree"]),
        ("curve_fit", ["curve_fit", "curve fit"]),
        ("scipy.optimize.curve_fit", ["scipy optimize curve_fit", "scipy optimize curve fit"]),
        ("QNetworkAccessManager", ["qnetworkaccessmanager", "q network access manager"]),
        ("utf-8", ["utf 8", "utf8"]),
        ("utf8", ["utf8", "utf 8"]),
        ("e-mail", ["e mail", "email"]),
        ("Email", ["email", "e mail"]),
        ("2.1.6", ["2 1 6", "v2 1 6"]),
        ("v2.1.6", ["v2 1 6", "2 1 6"]),
        ("2.1.6-rc1", ["2 1 6 rc1"]),
        ("v2", ["v2"]),
        ("C++", ["c++", "cpp"]),
        ("cpp", ["cpp", "c++"]),
        (".NET", [".net", "dotnet"]),
        ("boundary-layer", ["boundary layer"]),
        ("l'arbre", ["l arbre"]),
        ("x-y-z-w", ["x y z w"]),
    ],
)
def test_a_word_is_read_as_it_is_and_as_documents_may_have_it(typed: str, readings: list[str]) -> None:
    assert readings_of(typed) == tuple(tuple(reading.split()) for reading in readings)

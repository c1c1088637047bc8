"""Before a release, SITE_URL is an address that readers can open."""

import pytest

from proof.checks.address import fault
from proof.checks.rules import check


@pytest.mark.parametrize("address", ["https://example.org", "https://a.example.org/course/"])
def test_C065_a_public_address_may_be_released(address):
    assert fault(address) == ""


@pytest.mark.parametrize(
    "address",
    [
        "",
        "http://127.0.0.1:8000/",
        "https://127.0.0.1/",
        "https://10.0.0.7/",
        "https://[::1]/",
        "https://localhost/",
        "https://course.local/",
        "https://course/",
        "http://example.org/",
        "example.org",
        "https://",
        "https://example.org/?a=b",
        "https://[",
    ],
)
def test_C065_no_other_address_may_be_released(address):
    assert fault(address)


def test_C065_a_release_without_SITE_URL_is_red_and_a_check_is_not(tiny, monkeypatch):
    monkeypatch.delenv("SITE_URL", raising=False)
    said = "SITE_URL is not set, so pages would name a local address as theirs"
    assert said in [problem.what for problem in check(tiny.book(), release=True)]
    assert said not in [problem.what for problem in check(tiny.book())]
    monkeypatch.setenv("SITE_URL", "https://example.org/")
    assert all("SITE_URL" not in problem.what for problem in check(tiny.book(), release=True))

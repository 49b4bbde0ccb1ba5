#!/usr/bin/env python3
"""Check the wheel assay-testing: installed beside assay, it mints evidence of every kind.

  testing_wheel.py TESTING_FOLDER ASSAY_FOLDER [--suite NAME]

A small pytest project uses both. pytest comes from the Python package index; without it the project
is skipped.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile
import zipfile

from project import ROOT
from python_tools import Environment, clean
from report import Suite

LARGEST = 7_000_000
# A user's test project, which sees nothing of this repository.
PROJECT = '''
import datetime
import json

import assay
import assay_testing
import pytest

UTC = datetime.timezone.utc
OWN = {"apps": [{"bundleId": "com.example.app", "appAppleId": 1234567890,
                 "teamId": "ABCDE12345"}],
       "environments": ["Production", "Sandbox"], "plans": ["free", "gold"],
       "products": {"com.example.app.gold": {"plan": "gold", "type": "auto-renewable"}}}


def test_transaction(assay_authority):
    jws = assay_authority.transaction(product="com.example.app.lifetime", type="non-consumable",
                                      environment="Production")
    transaction = assay_authority.verifier.verify_transaction(jws)
    assert transaction.product_id == "com.example.app.lifetime"
    assert transaction.environment == "Production"
    assert assay_authority.verifier.decide(transaction).plan == "premium"


def test_nobody_else_trusts_it(assay_authority):
    with pytest.raises(assay.AssayError) as refused:
        assay.Verifier(OWN).verify_transaction(assay_authority.transaction())
    assert refused.value.status == "rejected.chain.untrusted-root"


def test_own_configuration(assay_authority):
    verifier = assay_authority.trusting(OWN)
    jws = assay_authority.transaction(product="com.example.app.gold")
    assert verifier.decide(verifier.verify_transaction(jws)).plan == "gold"
    assert "storekit" not in OWN


def test_dates(assay_authority):
    bought = datetime.datetime(2026, 3, 1, tzinfo=UTC)
    ends = datetime.datetime(2026, 4, 1, tzinfo=UTC)
    jws = assay_authority.transaction(purchased=bought, expires=ends)
    transaction = assay_authority.verifier.verify_transaction(jws)
    assert (transaction.purchase_at, transaction.expires_at) == (bought, ends)
    assert not assay_authority.verifier.decide(transaction, now=ends).entitled
    with pytest.raises(assay_testing.MintError, match="time zone"):
        assay_authority.transaction(purchased=datetime.datetime(2026, 3, 1))


def test_renewal_and_notification(assay_authority):
    verifier = assay_authority.verifier
    ended = verifier.verify_transaction(assay_authority.transaction(expired=True))
    renewal = verifier.verify_renewal_info(
        assay_authority.renewal_info(expired=True, billing_retry=True))
    assert verifier.decide([ended, renewal]).state == "billing-retry"
    note = verifier.verify_notification(assay_authority.notification("REFUND", refunded=True))
    assert note.notification_type == "REFUND"
    assert verifier.verify(
        "app-transaction", assay_authority.app_transaction()).status == "ok"
    assert verifier.verify(
        "realtime-request", assay_authority.realtime_request()).status == "ok"


def test_receipts(assay_authority):
    verifier = assay_authority.verifier
    assert len(verifier.verify_app_receipt(assay_authority.app_receipt(purchases=3)).purchases) == 3
    receipt = verifier.verify_transaction_receipt(assay_authority.transaction_receipt())
    assert receipt.bundle_id == "com.example.app"
    answer = json.loads(assay_authority.verify_receipt_response(
        expired=True, apple_status=21006, response_style="ios6"))
    assert answer["status"] == 21006


def test_attested_key(assay_authority):
    verifier = assay_authority.verifier
    made = assay_authority.attestation("challenge")
    key = verifier.verify_attestation(made.object, key_id=made.key_id,
                                      client_data=made.client_data)
    asked = assay_authority.assertion("request", counter=7)
    found = verifier.verify_assertion(asked.object, public_key=key.public_key, counter=6,
                                      client_data=asked.client_data)
    assert found.counter == asked.counter == 7
    with pytest.raises(assay.AssayError) as refused:
        verifier.verify_assertion(asked.object, public_key=asked.public_key, counter=7,
                                  client_data=asked.client_data)
    assert refused.value.status == "rejected.assertion.counter"
    assert verifier.verify(
        "attest-receipt", assay_authority.attest_receipt(refreshed=True, risk=3)).status == "ok"


def test_members_and_forgeries(assay_authority):
    jws = assay_authority.transaction(set={"price": 1990, "currency": "CHF"}, remove=["storefront"])
    payload = assay_authority.verifier.verify_transaction(jws).payload
    assert (payload["price"], payload["currency"]) == (1990, "CHF")
    assert "storefront" not in payload
    forged = assay_authority.transaction(forge="JWS-29")
    with pytest.raises(assay.AssayError) as refused:
        assay_authority.verifier.verify_transaction(forged)
    assert refused.value.status.startswith("rejected.chain.")


def test_nonsense(assay_authority):
    for options in [{"quantity": 0}, {"environment": "Moon"}, {"no_such_option": 1}]:
        with pytest.raises(assay_testing.MintError, match="|".join(options).replace("_", "-")):
            assay_authority.transaction(**options)


def test_one_root_for_the_run(assay_authority, tmp_path):
    again = assay_testing.Authority(assay_authority.folder)
    assert again.config == assay_authority.config
    other = assay_testing.Authority(tmp_path / "other", bundle_id="com.example.other", app_id=7)
    assert other.verifier.verify_transaction(other.transaction()).bundle_id == "com.example.other"
    with pytest.raises(assay.AssayError):
        assay_authority.verifier.verify_transaction(other.transaction())


def test_apple_is_played(assay_apple):
    from assay_testing.apple import MockApple, MockError
    request = {"operation": "call-verify-receipt", "receipt": assay_apple.authority.app_receipt()}
    for rules, status in [([], "ok"), ([{"fault": {"appleStatus": 21003}}],
                                       "rejected.verify-receipt.not-authentic")]:
        assay_apple.play("script", rules)
        with assay_apple.verifier.exchange(request) as exchange:
            assert exchange.run(assay_apple.sender).status == status
    assert [entry["status"] for entry in assay_apple.log] == [200, 200]
    with pytest.raises(MockError, match="no such fault"):
        assay_apple.play("script", [{"fault": {"explode": True}}])
    with pytest.raises(MockError, match="--clock"):
        MockApple(assay_apple.authority, clock=1)
'''


def only(suite, folder):
    wheels = list(pathlib.Path(folder).glob("*.whl"))
    suite.expect(len(wheels) == 1, f"one wheel in {folder}", str(wheels))
    return wheels[0].resolve() if wheels else None


def check_content(suite, wheel):
    suite.expect(wheel.stat().st_size <= LARGEST, f"at most {LARGEST} bytes",
                 str(wheel.stat().st_size))
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in ["assay_testing/__init__.py", "assay_testing/py.typed", "assay_testing/assay"]:
        suite.expect(wanted in names, f"holds {wanted}", str(names))


def check_programs(suite, own):
    """Check the command line under its three names."""
    for words in [["assay", "mint"], ["python", "-m", "assay_testing.mint"],
                  ["python", "-m", "assay_testing", "mint"]]:
        result = subprocess.run(
            [own.folder / "venv/bin" / words[0], *words[1:], "transaction", "--authority", "ca"],
            cwd=own.folder, env=clean(), text=True, capture_output=True)
        suite.expect(result.returncode == 0 and result.stdout.count(".") == 2,
                     " ".join(words), result.stderr[-800:])


def check_demo(suite, own):
    """The main job from the installed wheel alone: no file, no configuration, nothing left (CLI-4)."""
    empty = own.folder / "empty"
    empty.mkdir()
    result = subprocess.run([own.folder / "venv/bin/assay", "demo"], cwd=empty, env={},
                            stdin=subprocess.DEVNULL, text=True, capture_output=True)
    suite.expect(result.returncode == 0 and "5 of 5 outcomes" in result.stdout
                 and not list(empty.iterdir()), "assay demo", result.stdout + result.stderr)


def check_project(suite, own):
    wanted = len(re.findall(r"^def test_", PROJECT, re.M))
    tests = own.folder / "project/test_server.py"
    tests.parent.mkdir()
    tests.write_text(PROJECT)
    requirements = ROOT / "bindings/python_testing/requirements-check.txt"
    result = own.python("-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "20",
                        "--disable-pip-version-check", "-r", requirements)
    if result.returncode != 0:
        suite.skip("the pytest project", "pip cannot install pytest")
        return
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", tests]
    result = own.python(*pytest)
    said = result.stdout[-3000:] + result.stderr[-500:]
    suite.expect(result.returncode == 0 and f"{wanted} passed" in result.stdout,
                 f"a project of {wanted} tests", said)
    # A failing test must fail: the plugin hides no failure.
    tests.write_text(
        "def test_no(assay_authority):\n    assert not assay_authority.transaction()\n")
    result = own.python(*pytest)
    suite.expect(result.returncode == 1 and "1 failed" in result.stdout, "a test that fails",
                 result.stdout[-800:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("testing")
    parser.add_argument("assay")
    parser.add_argument("--suite", default="wheel-testing")
    options = parser.parse_args()
    suite = Suite(options.suite)
    wheels = [only(suite, options.testing), only(suite, options.assay)]
    if all(wheels):
        check_content(suite, wheels[0])
        with tempfile.TemporaryDirectory() as name:
            own = Environment(pathlib.Path(name))
            result = own.install("--quiet", *wheels)
            if suite.expect(result.returncode == 0, "pip installs both", result.stderr[-1500:]):
                check_programs(suite, own)
                check_demo(suite, own)
                check_project(suite, own)
    suite.finish()


if __name__ == "__main__":
    main()

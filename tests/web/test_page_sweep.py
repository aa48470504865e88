"""The view Sweep in a browser: runs converge, a minimum is proved, its certificate is verified, a tampered one is not."""

import json
import re

import earnshaw as es


def test_runs_a_proof_and_a_certificate(page, tmp_path):
    page.open("sweep?k=6&n=6&runs=150&seed=6")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector("[data-view=sweep][data-state=done]")
    number = lambda name: page.inner_text(f"[data-number={name}]")  # noqa: E731
    assert (number("ended"), number("global"), number("spurious")) == ("150 of 150 runs", "147", "3")
    assert number("percent") == "2.0% (0.4 to 5.7)"
    assert page.inner_text("#command") == "earnshaw sweep -k 6 -n 6 --runs 150 --seed 6"
    page.wait_for_selector(".plot .bars")

    page.get_by_role("button", name="Family 1").press("Enter")
    page.wait_for_selector("[data-number=levels]")
    assert number("loss") == "0.025080581"
    page.wait_for_selector(".plot .heatmaplayer image")
    page.get_by_role("button", name="Prove it", exact=True).click()
    page.wait_for_selector("[data-proof=done]", timeout=60_000)
    assert number("verdict") == "Proved: a spurious local minimum lies here. The checker has accepted the certificate."
    with page.expect_download() as download:
        page.click("[data-download=minimum]")
    file = tmp_path / download.value.suggested_filename
    assert re.fullmatch(r"k6-n6-family000-[0-9a-f]{8}-minimum\.json", file.name)
    download.value.save_as(file)
    assert es.check(file).verified

    page.set_input_files("input[type=file]", file)
    page.wait_for_selector("[data-check=done] .proved[data-number=check]")
    assert number("check").startswith(f"VERIFIED {file.name}: spurious local minimum (n = 6, k = 6")
    document = json.loads(file.read_text())
    document["claims"]["F_ge"] = (1.0).hex()
    tampered = tmp_path / "tampered.json"
    tampered.write_text(json.dumps(document))
    page.set_input_files("input[type=file]", tampered)
    page.wait_for_selector("[data-check=done] .unproved[data-number=check]")
    assert number("check") == f"REJECTED tampered.json: {es.check(tampered).reason}"

    address = page.url
    page.open(address.partition("#")[2])  # the address is the state: the same runs, and the same family
    page.wait_for_selector("[data-number=levels]")
    assert number("loss") == "0.025080581"
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_sweep_is_stopped_and_a_mistake_is_said(page):
    page.open("sweep?k=6&n=6&runs=1000&step=0.0001")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector("[data-state=running]")
    page.get_by_role("button", name="Stop", exact=True).click()
    page.wait_for_selector("[data-state=idle]")
    page.open("sweep?k=6&n=6&optimizer=adam&runs=10")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector("[data-state=refused]")
    assert page.inner_text("#message") == "adam needs a step; give one, for example 0.01"
    page.errors.clear()

"""The view Atlas in a browser."""

import earnshaw as es

NARROW = {"width": 390, "height": 844}
PATIENCE = 60_000  # ms: a surface without a graphics card takes its time beside other tests
DONE = "[data-view=atlas][data-state=done]"


def test_families_are_proved_and_lead_to_their_landscape(page, tmp_path):
    page.set_default_timeout(PATIENCE)
    page.open("atlas?families=II+B&first=5&last=7&family=B&k=7")
    page.wait_for_selector(DONE)
    assert page.inner_text("#status").startswith("3 minima and 3 saddles; the checker accepted")
    assert page.text_content('[data-number="n"]') == "8"
    proof = es.prove_family("B", 7)
    for name, value in (("loss", proof.claim.objective_ge), ("eigenvalue", proof.claim.lambda_ge)):
        shown = float(page.text_content(f'[data-number="{name}"]'))
        assert 0 <= value - shown < 1e-5 * value, "a bound is rounded to its safe side"
    assert "spurious minimum, in every dimension; proved: the trusted checker" in page.inner_text(".verdict")
    page.select_option("#atlas-family", "II")
    page.select_option("#atlas-k", "5")
    page.wait_for_selector(".verdict:has-text('II at k = 5 is a saddle')")
    assert "family=II&k=5" in page.evaluate("location.hash")
    with page.expect_download() as saved:
        page.click("text=Save its certificate")
    assert saved.value.suggested_filename == "II-k5-blocks_saddle.json"
    saved.value.save_as(tmp_path / "saved.json")
    assert es.check(tmp_path / "saved.json").verified
    page.locator("summary").focus()
    page.hit("Enter")
    assert page.locator("details tbody tr").count() == 6

    row = page.locator("[data-theorem=absence]")
    assert row.inner_text().startswith("not checked on this server yet")
    row.locator("button").click()
    page.wait_for_selector("[data-theorem=absence][data-verified=true]")
    assert row.inner_text().startswith("Proved: the trusted checker accepted the certificate on this server")
    page.set_viewport_size(NARROW)
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.click("text=See its landscape")
    page.wait_for_selector("[data-view=landscape][data-state=done]")
    assert page.text_content('[data-number="kind"]').startswith("a saddle")


def test_bounds_of_any_size_are_rounded_to_their_safe_side(page):
    page.open("sweep")
    bounds = [0.0140590149, 2.97246951e-7, 3.9e5, 1.23456789e-5]
    lines = "import('/static/views/atlas.js').then(({bound}) => values.map((value) => [bound(value, 4), bound(-value, 4, true)]))"
    found = page.evaluate(f"(values) => {lines}", bounds)
    for value, shown in zip(bounds, found, strict=True):
        below, above = (float(text.replace("\u2212", "-")) for text in shown)
        assert 0 <= value - below < 1.1e-3 * value
        assert 0 <= above + value < 1.1e-3 * value

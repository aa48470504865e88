"""The view Landscape in a browser."""

import earnshaw as es

NARROW = {"width": 390, "height": 844}
PATIENCE = 60_000  # ms: a surface without a graphics card takes its time beside other tests
DONE = "[data-view=landscape][data-state=done]"


def number(page, name):
    return page.text_content(f'[data-number="{name}"]')


def test_a_minimum_is_shown_proved_and_left_for_a_saddle(page, tmp_path):
    page.set_default_timeout(PATIENCE)
    page.open("landscape?k=6&resolution=31")
    page.wait_for_selector(DONE)
    assert number(page, "loss") == "0.025080581"
    assert number(page, "smallest") == "0.00470035"
    assert number(page, "kind") == "a strict minimum"
    assert page.locator(".plot").count() == 4
    assert "slice_of(place, resolution=31)" in page.inner_text("#command")
    assert page.locator(".verdict").is_hidden(), "nothing is called proved before the checker has said so"
    page.click("text=Prove it")
    page.wait_for_selector(".verdict[data-verified=true]")
    with page.expect_download() as saved:
        page.click("text=Save II-k6-blocks.json")
    saved.value.save_as(tmp_path / "saved.json")
    assert es.check(tmp_path / "saved.json").verified
    with page.expect_download() as saved:
        page.locator("text=Save PNG").first.click()
    assert saved.value.suggested_filename == "landscape-II-k6-plane.png"

    page.uncheck("input[name=surface]")
    assert "surface=false" in page.evaluate("location.hash")
    page.fill("input[name=k]", "5")
    page.press("input[name=k]", "Enter")
    page.wait_for_selector(f"{DONE} [data-number=kind]:has-text('saddle')")
    assert "k=5" in page.evaluate("location.hash")
    assert page.locator(".verdict").is_hidden()
    page.set_viewport_size(NARROW)
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_certificate_is_chosen_and_a_changed_one_rejected(page, tmp_path):
    certificate = es.prove_family("II", 6).certificate
    text = certificate.to_text()
    claim = certificate.document["claims"]["lambda_min_ge"]
    (tmp_path / "true.json").write_text(text)
    (tmp_path / "changed.json").write_text(text.replace(claim, (0.5).hex()))
    page.set_default_timeout(PATIENCE)
    page.open("landscape?point=certificate&surface=false")
    page.set_input_files("#landscape-file", tmp_path / "changed.json")
    page.wait_for_selector(DONE)
    assert number(page, "loss") == "0.025080581"
    page.click("text=Check it")
    page.wait_for_selector(".verdict[data-verified=false]")
    assert page.inner_text(".verdict").startswith("Not proved.")
    page.set_input_files("#landscape-file", tmp_path / "true.json")
    page.wait_for_selector(".verdict", state="hidden")
    page.wait_for_selector(DONE)
    page.click("text=Check it")
    page.wait_for_selector(".verdict[data-verified=true]")
    page.reload()  # the file is kept for the tab, and its name is in the address
    page.wait_for_selector(DONE)
    assert number(page, "loss") == "0.025080581"


def test_a_refusal_is_a_sentence(page):
    page.set_default_timeout(PATIENCE)
    page.open("landscape?family=Q")
    page.wait_for_selector("[data-view=landscape][data-state=refused]")
    assert "the name of no family" in page.inner_text("#message")
    assert "422" in page.errors.pop()

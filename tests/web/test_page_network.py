"""The view Network in a browser: two fates, the next start, and a count."""


def test_two_fates_from_one_start_and_a_count_over_many(page):
    page.open("network?p=4&k=5&ratio=0.5&steps=100&runs=40")
    page.wait_for_selector('[data-view="network"][data-state="done"]')
    assert page.inner_text('[data-number="global"]') == "3 of 4"
    assert page.inner_text('[data-number="spurious"]') == "1 of 4"
    assert page.locator("tbody tr").count() == 4
    assert "degrees" in page.locator("canvas").get_attribute("aria-label")
    assert "four_fates" in page.inner_text("#command")
    page.get_by_label("Where in the runs").focus()
    page.hit("Home")
    page.wait_for_selector('[data-number="network-step"]:text-is("0")')
    assert "at=0&" in page.url
    page.get_by_role("button", name="Count").click()
    page.wait_for_selector('[data-counting="done"]')
    assert page.inner_text('[data-number="count-four"]') == "0 of 40"
    assert page.inner_text('[data-number="count-one"]').endswith(" of 40")
    assert "earnshaw sweep --network conv -p 4 -k 5" in page.inner_text("#command")
    page.get_by_role("button", name="Next start").click()
    page.until("location.hash.includes('run=1&')")
    page.wait_for_selector('[data-view="network"][data-state="done"]')
    page.set_viewport_size({"width": 390, "height": 844})
    page.until("document.documentElement.scrollWidth <= 390")

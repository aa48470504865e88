"""The view Charges in a browser: a run to its end, electrons moved by mouse and by keyboard, and the time of a frame."""

import json
import math
import re

PLACE = "charges?k=2&n=2&d=2&steps=400&speed=16"
COUNT, MOMENTS = 20, 400


def done(page):
    page.wait_for_selector('[data-view="charges"][data-state="done"]')


def number(page, name):
    return page.inner_text(f'[data-number="{name}"]')


def test_electrons_find_their_protons_and_can_be_moved(page):
    page.open(PLACE)
    done(page)
    assert number(page, "found") == "2 of 2"
    assert number(page, "ending").startswith("GLOBAL: reached the global minimum")
    assert page.inner_text("#command").startswith("earnshaw sweep -k 2 -n 2 --runs 1 --seed 0 --optimizer gd:0.1")
    canvas = page.locator("canvas")
    assert "2 electrons among 2 protons in the plane" in canvas.get_attribute("aria-label")
    assert page.locator("tbody tr").count() == 2

    # by mouse: take an electron from its proton to the middle
    box = canvas.bounding_box()
    seen = page.evaluate("document.querySelector('[data-view]').places()")
    x, y = box["x"] + seen[0][0], box["y"] + seen[0][1]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y + 40, steps=4)
    assert page.get_attribute("[data-view]", "data-state") == "done"
    page.mouse.up()
    page.until("/at=[^&]/.test(location.hash)")
    done(page)
    first = re.search(r"at=([^&]*)", page.url)[1]
    assert page.inner_text("#command").startswith("import numpy as np, earnshaw as es")

    # by keyboard: the other one
    canvas.focus()
    for key in ("Escape", "e", "e", "Shift+ArrowLeft", "ArrowUp", "Enter"):
        page.hit(key)
    page.until(f"!location.hash.includes('{first}')")
    done(page)
    assert number(page, "found") == "2 of 2"

    # the address is the state
    address = page.url
    page.open(address.partition("#")[2])
    done(page)
    assert page.url == address
    page.get_by_role("button", name="Reset").click()
    page.until("!/at=[^&]/.test(location.hash)")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save PNG").first.click()
    assert download.value.suggested_filename == "charges.png"


def test_a_refusal_is_shown_and_phone_width_is_enough(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.open("charges?potential=gravity")
    page.wait_for_selector('[data-view="charges"][data-state="refused"]')
    assert "unknown activation 'gravity'" in page.inner_text("#message")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.errors.clear()  # the browser writes a 422 to its console


def film():
    """Return the stream of a run in which twenty electrons move all the time."""
    turn = [2 * math.pi * i / COUNT for i in range(COUNT)]
    start = [[math.cos(t), math.sin(t)] for t in turn]
    scene = {"protons": start, "start": start, "centre": [0, 0], "directions": [[1, 0], [0, 1]], "sphere": False}
    scene |= {"unbounded": False, "clock": "step", "unit": 1, "energy": "loss F", "command": "earnshaw"}
    moments = {"t": list(range(MOMENTS)), "x": [], "f": [], "e": [1 / (1 + m) for m in range(MOMENTS)]}
    for m in range(MOMENTS):
        size = 1 - 0.5 * m / MOMENTS
        moments["x"].append([size * part(t + m / 40) for t in turn for part in (math.cos, math.sin)])
        moments["f"].append([part(t + m / 20) for t in turn for part in (math.cos, math.sin)])
    ending = {"name": "FOUND", "words": "made up", "value": 0, "at": MOMENTS, "arrivals": [], "halvings": 0}
    events = [{"scene": scene}, {"moments": moments}, {"ending": ending}]
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "event: end\ndata: {}\n\n"


def test_a_frame_of_twenty_moving_electrons_takes_a_fraction_of_a_sixtieth_of_a_second(page):
    page.route("**/api/charges/run", lambda route: route.fulfill(body=film(), content_type="text/event-stream"))
    page.open("charges?k=20&n=20&d=2&protons=random&speed=4")
    page.until("document.querySelector('[data-view]').frames.length > 120")
    times = sorted(page.evaluate("[...document.querySelector('[data-view]').frames]"))
    assert page.get_attribute("[data-view]", "data-electrons") == "20"
    assert times[len(times) // 2] < 8.0  # milliseconds of script, of the 16.7 that a frame has


def test_a_busy_server_is_asked_again(page):
    answers = [
        lambda route: route.fulfill(status=429, json={"error": "busy"}),
        lambda route: route.fulfill(body=film()),
    ]
    page.route("**/api/charges/run", lambda route: answers.pop(0)(route))
    page.open("charges?k=20&n=20&d=2&protons=random")
    page.until("document.querySelector('[data-view]').dataset.electrons === '20'")
    assert answers == []
    assert not page.is_visible("#message")
    page.errors.clear()  # the browser writes a 429 to its console

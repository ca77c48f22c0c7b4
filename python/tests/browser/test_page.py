"""The web page of the service, in a browser, on a real service with real keys."""

import importlib.util
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from .conftest import ROOT

SCREENS = ["try", "cardio", "auction", "jobs", "program"]
# What the browser itself says of an answer that refuses, and of a connection that ends.
REFUSED = r"Failed to load resource: the server responded with a status of {}"
LOST = r"Failed to load resource: net::ERR_|status of (409|503)"


def load_keys(page, keys):
    page.locator("#key-files").set_input_files([keys / "client.key", keys / "server.key"])
    expect(page.get_by_role("button", name="Make new keys")).to_be_enabled()


SUBMIT = """async ([operation, type, a, b, name]) => {
    const [{ api, session }, { upload }] = await Promise.all([import("/page/session.js"), import("/page/upload.js")]);
    const program = await api.program(await session.client.program(operation, [type, type]));
    const inputs = [];
    for (const value of [a, b]) {
        const file = await session.client.encrypt(type, value);
        const blob = await session.client.digest(file);
        await upload(api, file, blob, () => {});
        inputs.push({ blob });
    }
    return (await api.submit({ key: session.keys.keyId, program: program.digest, inputs, name })).id;
}"""


def submit(page, operation, kind, values, name):
    """Start a job by the modules of a page that has keys, and return its identity."""
    return page.evaluate(SUBMIT, [operation, kind, *map(str, values), name])


def test_try_it_answers_from_a_cold_page(visit, service):
    page = visit.page()
    assert "slk_" not in page.evaluate("location.href")
    page.get_by_label("First number").fill("1234")
    page.get_by_label("Second number").fill("99")
    page.get_by_label("Operation").select_option("add")
    page.get_by_role("button", name="Compute on ciphertexts").click()
    expect(page.locator(".answer")).to_have_text("1333")
    steps = page.locator(".steps li")
    expect(steps).to_have_count(6)
    for number in range(6):
        expect(steps.nth(number)).to_have_attribute("data-state", "done")
    expect(steps.nth(3)).to_contain_text(re.compile(r"\d+ bootstraps in"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Download client.key").click()
    visit.secret(Path(download.value.path()).read_bytes())
    page.locator("summary", has_text="Command line").click()
    expect(page.locator("pre", has_text="solinas eval --server")).to_contain_text("--type u16 1234")
    visit.axe(page)
    # A browser that keeps the keys has them after the page is loaded again, and sends the server key no second time.
    page.get_by_label("Keep the keys").check()
    expect(page.locator("#said")).to_have_text("This browser keeps the keys.")
    before = service.proxy.bytes_sent()
    page.reload()
    expect(page.get_by_role("button", name="Make new keys")).to_be_enabled()
    expect(page.get_by_label("Keep the keys")).to_be_checked()
    expect(page.get_by_label("First number")).to_have_value("48")
    page.get_by_label("Operation").select_option("lt")
    page.get_by_role("button", name="Compute on ciphertexts").click()
    expect(page.locator(".answer")).to_have_text("true")
    assert service.proxy.bytes_sent() - before < 100_000


def test_a_heart_risk_is_that_of_plain_python(visit, keys):
    spec = importlib.util.spec_from_file_location("cardio", ROOT / "examples" / "cardio" / "cardio.py")
    cardio = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cardio)
    visit.secret((keys / "client.key").read_bytes())
    page = visit.page()
    page.get_by_role("link", name="a heart risk from ten answers").click()
    expect(page.get_by_role("heading", name="A heart risk")).to_be_focused()
    load_keys(page, keys)
    # The answers that the page begins with are those of the example.
    page.get_by_role("button", name="Count the risk factors").click()
    expect(page.locator(".answer")).to_have_text("3 of 10")
    expect(page.locator(".steps li").nth(3)).to_contain_text(re.compile(r"\d+ bootstraps in"))
    questions = {
        "man": "Sex",
        "smoker": "Do you smoke?",
        "diabetic": "Do you have diabetes?",
        "pressure": "Do you have high blood pressure?",
        "age": "Age in years",
        "hdl": "HDL cholesterol in mg/dl",
        "height": "Height in cm",
        "weight": "Weight in kg",
        "activity": "Minutes of sport a day",
        "drinks": "Glasses of alcohol a day",
    }
    # All rules of women hold, and then none of men by one.
    for patient in ([0, 1, 1, 1, 61, 39, 160, 71, 29, 3], [1, 0, 0, 0, 50, 40, 180, 90, 30, 3]):
        answers = dict(zip(questions, patient, strict=True))
        for name, value in answers.items():
            question = page.get_by_label(questions[name], exact=True)
            if name in ("man", "smoker", "diabetic", "pressure"):
                question.select_option(str(value))
            else:
                question.fill(str(value))
        expect(page.locator(".answer")).to_have_text("?")
        page.keyboard.press("Enter")
        expect(page.locator(".answer")).to_have_text(f"{cardio.plain_risk(answers)} of 10")
    visit.axe(page)
    height = page.get_by_label("Height in cm")
    height.fill("89")
    page.get_by_role("button", name="Count the risk factors").click()
    assert height.evaluate("(field) => field.validationMessage") == "Give a whole number of 90 to 255."
    expect(page.locator(".answer")).to_have_text("?")


def test_keys_are_loaded_whole_or_not_at_all(visit, keys, other_keys):
    page = visit.page()
    files = page.locator("#key-files")
    files.set_input_files([keys / name for name in ("public.key", "server.key", "client.key")])
    expect(page.locator("#said")).to_have_text("The keys are loaded.")
    key = page.locator(".key-state code[title]")
    mine = key.get_attribute("title")
    files.set_input_files([keys / "client.key", other_keys / "server.key"])
    expect(page.get_by_role("alert")).to_contain_text("choose the files of one key generation")
    expect(key).to_have_attribute("title", mine)
    page.get_by_role("button", name="Compute on ciphertexts").click()
    expect(page.get_by_role("button", name="Make new keys")).to_be_disabled()
    expect(page.locator(".answer")).to_have_text("123")
    page.locator(".steps").get_by_role("link", name="the job").click()
    expect(page.locator(".state.succeeded")).to_be_visible()


def test_each_key_pair_is_kept_by_itself(visit, keys, other_keys):
    page = visit.page()
    load_keys(page, keys)
    key, keep = page.locator(".key-state code[title]"), page.get_by_label("Keep the keys")
    mine = key.get_attribute("title")
    keep.check()
    expect(page.locator("#said")).to_have_text("This browser keeps the keys.")
    load_keys(page, other_keys)
    expect(key).not_to_have_attribute("title", mine)
    expect(keep).not_to_be_checked()
    page.reload()
    expect(key).to_have_attribute("title", mine)
    keep.uncheck()
    expect(page.locator("#said")).to_have_text("This browser does not keep the keys.")
    page.reload()
    expect(page.get_by_text("This tab has no keys yet.")).to_be_visible()


def test_the_auction_has_a_winner(visit, keys):
    visit.secret((keys / "client.key").read_bytes())
    page = visit.page("auction")
    load_keys(page, keys)
    bids = page.locator(".bidders input")
    expect(bids).to_have_count(8)
    page.get_by_role("button", name="Remove the last one").click()
    page.get_by_role("button", name="Add a bidder").click()
    bids.nth(2).fill("70000")
    page.get_by_role("button", name="Find the winner").click()
    expect(page.locator(".bidders .bytes").nth(2)).to_contain_text("not a number of the type")
    for number, bid in enumerate([310, 4800, 77, 0, 4800, 65, 1200, 9]):
        bids.nth(number).fill(str(bid))
    expect(page.locator(".bidders b")).to_have_count(8)
    page.get_by_role("button", name="Find the winner").click()
    expect(page.locator(".winner")).to_have_text("Bidder 2 wins with 4800.")
    expect(page.locator(".won")).to_contain_text("Bidder 2")
    expect(page.locator("tbody tr", has_text="POST /v1/jobs")).to_contain_text("202")
    page.locator("summary", has_text="Bid of bidder 2,").click()
    expect(page.get_by_label("Bid of bidder 2", exact=True)).to_contain_text("000000  ")
    visit.axe(page)


def test_the_auction_outlives_kills_of_the_service(visit, service, other_keys):
    visit.secret((other_keys / "client.key").read_bytes())
    visit.expect(LOST)
    page = visit.page("auction")
    load_keys(page, other_keys)
    page.get_by_label("Type of the bids").select_option("u32")
    for number in range(8):
        page.locator(".bidders input").nth(number).fill(str(1_000_000 + number * 7919 % 5))
    # The first kill comes in the middle of the server key.
    end = service.proxy.bytes_sent() + (10 << 20)

    def watch():
        if service.proxy.bytes_sent() > end:
            service.proxy.watch = lambda: None
            service.process.kill()

    service.proxy.watch = watch
    page.get_by_role("button", name="Find the winner").click()
    expect(page.locator("#banner")).to_be_visible()
    service.kill()
    service.start()
    expect(page.locator(".steps li").nth(3)).to_contain_text("running")
    service.kill()
    expect(page.locator("#banner")).to_be_visible()
    service.start()
    expect(page.locator(".winner")).to_have_text("Bidder 2 wins with 1000004.", timeout=60_000)
    expect(page.locator("#banner")).to_be_hidden()


def test_a_key_that_the_service_lost_is_registered_again(visit, service, keys):
    visit.expect(REFUSED.format(424))
    page = visit.page()
    load_keys(page, keys)
    key = page.evaluate("import('/page/session.js').then(({ session }) => session.keys.keyId)")

    def lose(route):
        service.request(f"/v1/keys/{key}", "DELETE")
        route.continue_()

    page.route("**/v1/programs", lose)
    before = service.proxy.bytes_sent()
    page.get_by_role("button", name="Compute on ciphertexts").click()
    expect(page.locator(".answer")).to_have_text("123")
    assert service.proxy.bytes_sent() - before > 20 << 20


def test_a_service_without_the_client_says_so(visit):
    visit.expect(REFUSED.format(404))
    page = visit.page(without="solinas.wasm")
    expect(page.get_by_role("alert")).to_contain_text("cargo xtask web")
    visit.axe(page)
    page.get_by_role("link", name="Jobs").click()
    expect(page.get_by_label("Table of jobs")).to_be_visible()


def test_a_client_that_did_not_load_is_loaded_again(visit, service):
    visit.expect(REFUSED.format(503))
    page = visit.page(token=False)
    page.context.route("**/solinas.wasm", lambda route: route.fulfill(status=503))
    page.get_by_label("Token").fill(service.token)
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("alert")).to_contain_text("did not load; try again")
    page.context.unroute("**/solinas.wasm")
    page.get_by_role("link", name="Auction").click()
    expect(page.get_by_text("This tab has no keys yet.")).to_be_visible()


def test_a_client_that_broke_off_is_replaced(visit, keys):
    page = visit.page()
    load_keys(page, keys)
    page.evaluate(
        """import('/page/session.js').then(({ session }) => {
            session.client.worker.onmessage({ data: { id: 0, fatal: "it panicked" } });
        })"""
    )
    expect(page.get_by_role("alert")).to_contain_text("has no keys any more: it panicked")
    expect(page.get_by_role("button", name="Make keys")).to_be_enabled()
    load_keys(page, keys)
    page.get_by_role("button", name="Compute on ciphertexts").click()
    expect(page.locator(".answer")).to_have_text("123")


def test_jobs_are_listed_and_cancelled(visit, service, keys):
    page = visit.page()
    load_keys(page, keys)
    jobs = [submit(page, "div", "u64", (10**18, 7), f"division {number}") for number in (1, 2, 3)]
    page.get_by_role("link", name="Jobs").click()
    rows = page.locator("tbody tr", has_text="division")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("division 3")
    expect(rows.first.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Cancel division 3").click()
    page.get_by_role("button", name="Undo (5 s): cancellation of division 3").click()
    visit.axe(page)
    page.wait_for_timeout(6000)
    expect(page.get_by_role("button", name="Cancel division 3")).to_have_text("Cancel")
    assert json.loads(service.request(f"/v1/jobs/{jobs[2]}"))["state"] in ("queued", "running")
    page.get_by_role("button", name="Cancel division 3").click()
    expect(rows.first).to_contain_text("cancelled")
    page.get_by_label("State").select_option("cancelled")
    expect(page.locator("tbody tr:visible")).to_have_count(1)
    page.get_by_label("State").select_option("")
    page.get_by_label("Name").fill("division 2")
    expect(page.locator("tbody tr:visible")).to_have_count(1)
    page.get_by_label("Name").fill("nothing")
    expect(page.get_by_text("No job fits the filters")).to_be_visible()
    for job in jobs:
        service.request(f"/v1/jobs/{job}/cancel", "POST")


def test_a_job_has_its_schedule_and_results(visit, service, keys):
    page = visit.page()
    load_keys(page, keys)
    job = submit(page, "mul", "u8", (12, 13), "product")
    page.get_by_role("link", name="Jobs").click()
    page.get_by_role("link", name="product").click()
    expect(page.get_by_role("heading", name="product")).to_be_focused()
    expect(page.locator(".state.succeeded")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile(r"^(\d+) of \1 waves"))).to_be_visible()
    page.locator("summary", has_text="The waves as a table").click()
    waves = json.loads(service.request(f"/v1/jobs/{job}/schedule"))["waves"]
    expect(page.get_by_label("Table of waves").locator("tbody tr")).to_have_count(len(waves))
    lane = page.get_by_role("img", name=re.compile(r"^The service: 1 period; from 0 s to .* ended the job"))
    expect(lane).to_be_visible()
    expect(lane.locator("rect.held")).to_have_count(1)
    page.locator("summary", has_text="The workers as a table").click()
    row = page.get_by_label("Table of workers").locator("tbody tr")
    expect(row).to_have_text(re.compile(r"^The service0 s.*10ended the job$"))
    page.get_by_role("button", name="Decrypt here: result").click()
    expect(page.locator(".result output")).to_have_text("156")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download result").click()
    assert Path(download.value.path()).read_bytes() == service.request(f"/v1/jobs/{job}/results/0")
    page.locator("summary", has_text="curl").click()
    expect(page.get_by_label("curl", exact=True)).to_contain_text(job)
    visit.axe(page)
    page.get_by_role("button", name="Remove product and its results").click()
    expect(page.get_by_role("heading", name="Jobs")).to_be_focused()
    visit.expect(REFUSED.format(404))
    page.goto(f"{service.url}#/jobs/{job}")
    expect(page.get_by_role("alert")).to_contain_text("To fix it: Check the identity")


def test_a_job_shows_the_worker_that_was_lost(visit, service, keys):
    visit.expect(LOST)
    page = visit.page()
    load_keys(page, keys)
    job = submit(page, "div", "u64", (10**18, 7), "long division")
    page.goto(f"{service.url}#/jobs/{job}")
    expect(page.get_by_role("img", name=re.compile(r"^The service: 1 period; .* to now: computes"))).to_be_visible()
    service.kill()
    service.start()
    lanes = page.locator(".lanes svg")
    expect(lanes.locator("rect.lost")).to_have_count(1)
    expect(lanes.locator("rect.held")).to_have_count(1)
    expect(lanes).to_have_attribute("aria-label", re.compile(r"^The service: 2 periods; .* lost; .* computes"))
    visit.axe(page)
    service.request(f"/v1/jobs/{job}/cancel", "POST")
    expect(lanes).to_have_attribute("aria-label", re.compile(r": lost; .* the job was cancelled\.$"))


# What the service would say of a job on many machines.
PERIODS = [
    {"worker": worker, "run": run, "begin": f"2026-01-01T00:00:{begin}Z", "end": end, "pauses": pauses, "state": state}
    for worker, run, begin, end, pauses, state in [
        ("worker 1", 1, "00", "2026-01-01T00:00:10Z", 0, "lost"),
        ("worker 2", 1, "10", "2026-01-01T00:00:20Z", 2, "audited"),
        ("service", 2, "22", None, 0, "running"),
    ]
]


def test_lost_and_repeated_periods_are_marked(visit, service, keys):
    page = visit.page(viewport={"width": 320, "height": 640})
    load_keys(page, keys)
    job = submit(page, "add", "u8", (1, 2), "audited")
    schedule = {"waves": [], "now": "2026-01-01T00:00:40Z", "periods": PERIODS, "periods_left_out": 3}
    page.route("**/schedule", lambda route: route.fulfill(json=schedule))
    page.goto(f"{service.url}#/jobs/{job}")
    # Each change of the job draws the lanes again.
    expect(page.locator(".state.succeeded")).to_be_visible()
    marks = [("Worker 1", "lost", 0, 0.25), ("Worker 2", "held", 0.25, 0.5), ("The service", "again", 0.55, 1)]
    for name, mark, start, end in marks:
        lane = page.get_by_role("img", name=re.compile(f"^{name}: 1 period; "))
        expect(lane).to_be_visible()
        expect(lane.locator("rect")).to_have_class(mark)
        outer, inner = lane.bounding_box(), lane.locator("rect").bounding_box()
        assert abs((inner["x"] - outer["x"]) / outer["width"] - start) < 0.02
        assert abs((inner["x"] + inner["width"] - outer["x"]) / outer["width"] - end) < 0.02
    caption = page.locator(".lanes + .legend + figcaption")
    expect(caption).to_contain_text("3 periods of 3 workers in 40 s, since ")
    expect(caption).to_contain_text("1 lost period and 1 repeated period. 3 earlier periods are not kept.")
    page.locator("summary", has_text="The workers as a table").click()
    rows = page.get_by_label("Table of workers").locator("tbody tr")
    expect(rows.nth(1)).to_have_text("Worker 210 s20 s12gave results, which another run checks")
    expect(rows.nth(2)).to_have_text("The service22 snow20computes")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    visit.axe(page)


def test_programs_have_a_cost_and_errors_a_fix(visit):
    page = visit.page("program")
    page.get_by_role("button", name="Insert an example").click()
    page.get_by_role("button", name="Count the cost").click()
    row = page.get_by_role("row", name=re.compile("integers-128"))
    expect(row).to_contain_text(re.compile(r"integers-128\d+"))
    expect(page.get_by_role("img", name=re.compile("5 nodes in 3 layers"))).to_be_visible()
    visit.axe(page)
    page.get_by_label("Program or circuit").fill("3 5\n1 2\n1 1\n\n2 1 0 1 2 AND\n2 1 0 1 3 XOR\n2 1 2 3 4 XOR\n")
    page.get_by_role("button", name="Count the cost").click()
    expect(page.get_by_text("This circuit")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("5 nodes in 3 layers"))).to_be_visible()
    visit.expect(REFUSED.format(422))
    page.get_by_label("Program or circuit").fill("no program")
    page.get_by_role("button", name="Count the cost").click()
    expect(page.get_by_role("alert")).to_contain_text("To fix it: Begin a Bristol file with two counts")


def test_a_large_program_does_not_freeze_the_page(visit):
    count = 100_000
    kind = {"uint": 8}
    nodes = [{"op": {"input": index}, "args": [], "ty": kind} for index in (0, 1)]
    nodes += [{"op": "xor", "args": [index - 2, index - 1], "ty": kind} for index in range(2, count)]
    program = {
        "inputs": [{"name": name, "ty": kind} for name in "ab"],
        "nodes": nodes,
        "outputs": [{"name": "result", "value": count - 1}],
    }
    page = visit.page("program")
    # The service needs longer for the cost than a test has.
    cost = {"bootstraps": count, "products": 0, "depth": count}
    ports = {"inputs": [{"name": "a", "type": "u8"}], "outputs": [{"name": "result", "type": "u8"}]}
    page.route("**/v1/programs", lambda route: route.fulfill(json={"digest": "b3-0", "form": "program", **ports}))
    page.route("**/v1/programs/*", lambda route: route.fulfill(json={"cost": cost}))
    page.get_by_label("Program or circuit").fill(json.dumps(program))
    # The thread of the page parses answers, and leaves the program to a worker.
    page.evaluate(
        """() => {
            const parse = JSON.parse;
            window.parsed = 0;
            JSON.parse = (text, ...more) => {
                window.parsed += text.length;
                return parse(text, ...more);
            };
        }"""
    )
    workers = []
    page.on("worker", lambda worker: workers.append(worker.url.rpartition("/")[2]))
    page.get_by_role("button", name="Count the cost").click()
    expect(page.get_by_role("img", name="100,000 nodes in 99,999 layers")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("integers-128"))).to_contain_text("100,000")
    assert "graph.js" in workers
    assert page.evaluate("window.parsed") < 10_000
    # Neighbouring layers share a bar.
    assert page.evaluate("document.querySelectorAll('figure *').length") < 2000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screens_fit_320_pixels_and_pass_axe(visit, service, scheme):
    page = visit.page(viewport={"width": 320, "height": 640}, color_scheme=scheme, reduced_motion="reduce")
    for screen in SCREENS:
        page.goto(f"{service.url}#/{screen}")
        expect(page.locator("nav a[aria-current]")).to_have_attribute("href", f"#/{screen}")
        expect(page.get_by_text("Tenant local")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), screen
        visit.axe(page)
    red = page.evaluate("Number(getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/)[0])")
    assert (red < 64) == (scheme == "dark")


def test_the_skip_link_leads_to_the_first_field(visit):
    page = visit.page()
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("First number")).to_be_focused()


def test_a_token_is_asked_for_and_checked(visit, service):
    visit.expect(REFUSED.format(401))
    page = visit.page(token=False)
    expect(page.get_by_role("heading", name="Connect to the service")).to_be_visible()
    visit.axe(page)
    page.get_by_label("Token").fill("slk_wrong")
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("alert")).to_contain_text("To fix it: ")
    page.get_by_label("Token").fill(service.token)
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("heading", name="Compute on numbers")).to_be_focused()
    page.get_by_role("button", name="Forget the token").click()
    expect(page.get_by_label("Token")).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0


def test_an_address_gives_its_token_once(visit, service):
    page = visit.page()
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    for text in ("slk_other", "%20slk_other%0A", "no token", "%"):
        place = page.evaluate(
            """(text) => new Promise((resolve) => {
                addEventListener("hashchange", () => resolve(location.hash), { once: true });
                location.hash = `#token=${text}`;
            })""",
            text,
        )
        assert place == "#/try"
    assert len(asked) == 2
    assert page.evaluate("sessionStorage.getItem('token')") == service.token

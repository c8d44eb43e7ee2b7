"""The page around the views."""


def test_the_page_names_its_language(client):
    answer = client.get("/", headers={"Host": "127.0.0.1"})
    assert '<html lang="en">' in answer.get_data(as_text=True)


def test_a_browser_finds_the_language_and_the_title(page, address):
    page.goto(address)
    page.wait_for_selector("#content .view")
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.title() == "tracekit"

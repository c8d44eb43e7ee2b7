"""A dashboard over the samples, as a service, a test client, and a server with a browser."""

import os
import shutil
import threading
from pathlib import Path

import pytest

pytest.importorskip("dash", reason="dash is not installed: no dashboard")
pytest.importorskip("dash_ag_grid", reason="dash-ag-grid is not installed: no dashboard")

from werkzeug.serving import WSGIRequestHandler, make_server

from dashboard.app import create
from dashboard.library import Library
from dashboard.service import Service

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "traces"
SHOTS = ROOT / "artifacts" / "dashboard"


@pytest.fixture(scope="session")
def samples():
    return SAMPLES


@pytest.fixture(scope="session")
def service():
    return Service(Library([SAMPLES]))


@pytest.fixture(scope="session")
def client():
    return create([SAMPLES]).server.test_client()


class _Quiet(WSGIRequestHandler):
    def log_request(self, *_):
        pass


@pytest.fixture(scope="session")
def serve():
    """``serve(*roots) -> address`` of a running dashboard."""
    servers = []

    def run(*roots):
        server = make_server(
            "127.0.0.1", 0, create(list(roots)).server, threaded=True, request_handler=_Quiet
        )
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/"

    yield run
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def address(serve):
    return serve(SAMPLES)


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("TRACEKIT_CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("no chromium (or TRACEKIT_CHROMIUM) to drive")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser):
    """A page that must not write an error to the console; 1280 x 720."""
    errors = []
    context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    opened.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.errors = errors
    yield opened
    context.close()
    assert errors == []


@pytest.fixture(scope="session")
def shots():
    SHOTS.mkdir(parents=True, exist_ok=True)
    return SHOTS

"""What a request must be before anything looks at it: local, small, and same-origin."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Flask, Response, abort, request

#: Names under which a browser on this machine (or at the end of an ssh tunnel) reaches us.
LOCAL = {"127.0.0.1", "localhost", "::1"}
#: Bytes of a request body: the page sends its state only.
MOST_BODY = 1 << 18
#: Characters of a URL's query.
MOST_QUERY = 4096
#: Dash starts by inline scripts, hence 'unsafe-inline'; eval stays forbidden.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def protect(server: Flask) -> None:
    """Check every request of ``server`` and set protective headers on every response.

    The Host header must be a local name: else a page elsewhere could reach the dashboard
    by a DNS name that it lets point here.
    """
    server.config["MAX_CONTENT_LENGTH"] = MOST_BODY
    server.before_request(_check)
    server.after_request(_headers)


def _host(netloc: str) -> str:
    try:
        return urlsplit(f"//{netloc}").hostname or ""
    except ValueError:
        return ""


def _check() -> None:
    if _host(request.headers.get("Host", "")) not in LOCAL:
        abort(403, "the Host header is not a local name")
    origin = request.headers.get("Origin")
    if origin is not None and _host(origin.partition("//")[2]) not in LOCAL:
        abort(403, "requests of other sites are refused")
    if request.headers.get("Sec-Fetch-Site") == "cross-site" and request.path != "/":
        abort(403, "requests of other sites are refused")
    if len(request.query_string) > MOST_QUERY:
        abort(414)
    if (request.content_length or 0) > MOST_BODY:
        abort(413)


def _headers(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    return response

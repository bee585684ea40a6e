"""`/api/openapi.json`, made from the routes, their docstrings and the vocabulary: never written by hand."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from handrail import __version__
from handrail.http.approvals import AnswerBody
from handrail.http.auth import PAGE_HEADER
from handrail.protocol.actions import ACTION
from handrail.protocol.envelope import Envelope
from handrail.protocol.schema import schema_of

_REF = "#/components/schemas/"
_BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/api/actions"): {
        "oneOf": [{"$ref": f"{_REF}Action"}, {"type": "array", "items": {"$ref": f"{_REF}Action"}}]
    },
    ("POST", "/api/approvals"): {"$ref": f"{_REF}Answer"},
}
_ANSWERS = {("POST", "/api/actions"): {"$ref": f"{_REF}Envelope"}}
_FAILURE: dict[str, Any] = {
    "type": "object",
    "required": ["code", "message", "hint", "retryable"],
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "hint": {"type": "string"},
        "retryable": {"type": "boolean"},
    },
}


async def openapi(request: Request) -> JSONResponse:
    """This document."""
    return JSONResponse(document(request.app.routes))


def document(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """OpenAPI 3.1 of every route under /api, and of /healthz."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if isinstance(route, Route) and route.path.startswith(("/api/", "/healthz")):
            path = re.sub(r":\w+}", "}", route.path)
            for method in sorted((route.methods or set()) - {"HEAD"}):
                paths.setdefault(path, {})[method.lower()] = _operation(route, method, path)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Handrail", "version": __version__},
        "security": [{"bearer": []}, {"page": []}],
        "paths": paths,
        "components": {"schemas": _schemas(), "securitySchemes": _SECURITY},
    }


def _operation(route: Route, method: str, path: str) -> dict[str, Any]:
    summary = (inspect.getdoc(route.endpoint) or route.name).partition("\n")[0]
    told: dict[str, Any] = {"summary": summary, "responses": _responses(method, path)}
    if path in ("/healthz", "/api/login"):
        told["security"] = []
    names = re.findall(r"{(\w+)}", path)
    if names:
        told["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
        ]
    if body := _BODIES.get((method, path)):
        told["requestBody"] = {"required": True, "content": _json(body)}
    return told


def _responses(method: str, path: str) -> dict[str, Any]:
    answer = _ANSWERS.get((method, path))
    done = {"description": "Done.", **({"content": _json(answer)} if answer else {})}
    return {
        "200": done,
        "default": {"description": "Refused or failed.", "content": _json({"$ref": f"{_REF}Failure"})},
    }


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _schemas() -> dict[str, Any]:
    """Each with its own definitions lifted out, so that every reference points into this document."""
    made: dict[str, Any] = {"Failure": _FAILURE}
    for name, adapter in (
        ("Action", ACTION),
        ("Envelope", TypeAdapter(Envelope)),
        ("Answer", TypeAdapter(AnswerBody)),
    ):
        schema = schema_of(adapter, name)
        schema.pop("$schema")
        definitions = schema.pop("$defs", {})
        made |= {key: _moved(value) for key, value in definitions.items()} | {name: _moved(schema)}
    return made


def _moved(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: value.replace("#/$defs/", _REF) if key == "$ref" else _moved(value)
            for key, value in schema.items()
        } | _mapping(schema)
    return [_moved(one) for one in schema] if isinstance(schema, list) else schema


def _mapping(schema: dict[str, Any]) -> dict[str, Any]:
    """A discriminator names its definitions by plain strings."""
    found = schema.get("discriminator")
    if not isinstance(found, dict) or "mapping" not in found:
        return {}
    moved = {kind: place.replace("#/$defs/", _REF) for kind, place in found["mapping"].items()}
    return {"discriminator": {**found, "mapping": moved}}


_SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "page": {"type": "apiKey", "in": "header", "name": PAGE_HEADER},
}
ROUTES = [Route("/api/openapi.json", openapi)]

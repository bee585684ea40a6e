"""The tools, prompts and resources that the public conformance suite asks for, beside Handrail's own.

Named and worded as the suite wants them; nothing here is shipped.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from handrail.mcp_server.pending_calls import ToolCalls
from tests.mcp_conformance import task_fixtures

Context = ServerRequestContext[Any, Any]
Params = types.CallToolRequestParams
Reply = types.CallToolResult | types.InputRequiredResult
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def text(said: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=said)], is_error=is_error)


def _embedded(uri: str, kind: str = "text/plain", said: str = "This is an embedded resource content.") -> Any:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=kind, text=said))


# tools that only answer


async def _simple(_: Context, __: Params) -> Reply:
    return text("This is a simple text response for testing.")


async def _image(_: Context, __: Params) -> Reply:
    return types.CallToolResult(content=[types.ImageContent(data=PNG, mime_type="image/png")])


async def _audio(_: Context, __: Params) -> Reply:
    return types.CallToolResult(content=[types.AudioContent(data=WAV, mime_type="audio/wav")])


async def _embedded_resource(_: Context, __: Params) -> Reply:
    return types.CallToolResult(content=[_embedded("test://embedded-resource")])


async def _mixed(_: Context, __: Params) -> Reply:
    return types.CallToolResult(
        content=[
            types.TextContent(text="Multiple content types test:"),
            types.ImageContent(data=PNG, mime_type="image/png"),
            _embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ]
    )


async def _fails(_: Context, __: Params) -> Reply:
    return text("This tool intentionally returns an error for testing", is_error=True)


async def _echo(_: Context, params: Params) -> Reply:
    return text(json.dumps(params.arguments or {}))


# tools that talk while they work


async def _logs(ctx: Context, _: Params) -> Reply:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.session.send_log_message("info", said, related_request_id=ctx.request_id)
        await asyncio.sleep(0.05)
    return text("Logged three times.")


async def _progress(ctx: Context, _: Params) -> Reply:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(0.05)
    return text("Reported three times.")


async def _sampling(ctx: Context, params: Params) -> Reply:
    prompt = str((params.arguments or {}).get("prompt", ""))
    message = types.SamplingMessage(role="user", content=types.TextContent(text=prompt))
    request = types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    )
    result = await ctx.session.send_request(request, types.CreateMessageResult, metadata=_related(ctx))
    said = result.content.text if isinstance(result.content, types.TextContent) else ""
    return text(f"LLM response: {said}")


def _related(ctx: Context) -> Any:
    from mcp.shared.message import ServerMessageMetadata  # noqa: PLC0415

    return ServerMessageMetadata(related_request_id=ctx.request_id)


async def _elicits(ctx: Context, message: str, properties: dict[str, Any], required: list[str]) -> Reply:
    schema = {"type": "object", "properties": properties, "required": required}
    got = await ctx.session.elicit_form(message, schema, ctx.request_id)
    return text(f"Elicitation completed: action={got.action}, content={json.dumps(got.content)}")


async def _elicitation(ctx: Context, params: Params) -> Reply:
    fields = {name: {"type": "string", "description": f"Your {name}"} for name in ("username", "email")}
    return await _elicits(ctx, str((params.arguments or {}).get("message", "")), fields, list(fields))


async def _defaults(ctx: Context, _: Params) -> Reply:
    fields = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return await _elicits(ctx, "Please review the defaults", fields, [])


async def _enums(ctx: Context, _: Params) -> Reply:
    plain = ["option1", "option2", "option3"]
    titled = [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]
    fields = {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["1", "2", "3"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return await _elicits(ctx, "Please choose", fields, [])


# tools that need input and are called again (2026-07-28)


def _form(message: str, field: str, kind: str = "string") -> types.ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(prompt: str) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=prompt))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    )


def _signed(state: str) -> str:
    return f"{state}.{hashlib.sha256(b'conformance' + state.encode()).hexdigest()}"


def _checked(given: str | None) -> str | None:
    if given is None:
        return None
    state = given.rpartition(".")[0]
    if _signed(state) != given:
        raise MCPError(types.INVALID_PARAMS, "This request state is not one of ours")
    return state


def _needs(
    requests: types.InputRequests, state: str | None = None
) -> Callable[[Context, Params], Awaitable[Reply]]:
    """Asks until every answer is there, then tells them."""

    async def call(_: Context, params: Params) -> Reply:
        known = _checked(params.request_state)
        given = params.input_responses or {}
        if any(key not in given for key in requests) or known != state:
            return types.InputRequiredResult(
                input_requests=requests, request_state=_signed(state) if state else None
            )
        told = {key: given[key].model_dump(by_alias=True, mode="json", exclude_none=True) for key in requests}
        return text(f"{state or 'done'}: {json.dumps(told)}")

    return call


async def _rounds(_: Context, params: Params) -> Reply:
    known = _checked(params.request_state)
    if known is None:
        asked, state = {"step1": _form("Step 1: What is your name?", "name")}, "round-1"
    elif known == "round-1":
        asked, state = {"step2": _form("Step 2: What is your favorite color?", "color")}, "round-2"
    else:
        return text("All steps are done.")
    return types.InputRequiredResult(input_requests=asked, request_state=_signed(state))


async def _capabilities(ctx: Context, params: Params) -> Reply:
    """Asks only for what the client says that it can give."""
    can = ctx.session.client_capabilities
    asked: types.InputRequests = {}
    if can and can.elicitation:
        asked["user_name"] = _form("What is your name?", "name")
    if can and can.sampling:
        asked["greeting"] = _sample("Generate a greeting")
    if not asked or params.input_responses:
        return text("Done.")
    return types.InputRequiredResult(input_requests=asked)


async def _missing(ctx: Context, _: Params) -> Reply:
    if not (ctx.session.client_capabilities and ctx.session.client_capabilities.sampling):
        data = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "Sampling is needed", data)
    return text("Done.")


NAME = _form("What is your name?", "name")
ROOTS = types.ListRootsRequest()
TOOLS: dict[str, Callable[[Context, Params], Awaitable[Reply]]] = {
    "test_simple_text": _simple,
    "test_image_content": _image,
    "test_audio_content": _audio,
    "test_embedded_resource": _embedded_resource,
    "test_multiple_content_types": _mixed,
    "test_error_handling": _fails,
    "test_tool_with_logging": _logs,
    "test_logging_tool": _logs,
    "test_tool_with_progress": _progress,
    "test_sampling": _sampling,
    "test_elicitation": _elicitation,
    "test_elicitation_sep1034_defaults": _defaults,
    "test_elicitation_sep1330_enums": _enums,
    "json_schema_2020_12_tool": _echo,
    "test_custom_headers": _echo,
    "test_missing_capability": _missing,
    "test_input_required_result_elicitation": _needs({"user_name": NAME}),
    "test_input_required_result_sampling": _needs(
        {"capital_question": _sample("What is the capital of France?")}
    ),
    "test_input_required_result_list_roots": _needs({"client_roots": ROOTS}),
    "test_input_required_result_request_state": _needs(
        {"confirm": _form("Confirm", "ok", "boolean")}, "state-ok"
    ),
    "test_input_required_result_tampered_state": _needs(
        {"confirm": _form("Confirm", "ok", "boolean")}, "mine"
    ),
    "test_input_required_result_multiple_inputs": _needs(
        {"user_name": NAME, "greeting": _sample("Generate a greeting"), "client_roots": ROOTS}, "several"
    ),
    "test_input_required_result_multi_round": _rounds,
    "test_input_required_result_capabilities": _capabilities,
}
INPUTS = {
    "json_schema_2020_12_tool": SCHEMA,
    "test_custom_headers": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    },
    "test_sampling": {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]},
    "test_elicitation": {
        "type": "object",
        "properties": {"message": {"type": "string"}},
        "required": ["message"],
    },
}


# prompts, resources, completion


PROMPTS = [
    types.Prompt(name="test_simple_prompt", description="A simple prompt"),
    types.Prompt(
        name="test_prompt_with_arguments",
        description="A prompt with arguments",
        arguments=[types.PromptArgument(name=f"arg{n}", description="One", required=True) for n in (1, 2)],
    ),
    types.Prompt(
        name="test_prompt_with_embedded_resource",
        description="A prompt with a resource",
        arguments=[types.PromptArgument(name="resourceUri", description="Which", required=True)],
    ),
    types.Prompt(name="test_prompt_with_image", description="A prompt with an image"),
    types.Prompt(name="test_input_required_result_prompt", description="A prompt that needs input"),
]


async def get_prompt(_: Context, params: types.GetPromptRequestParams) -> Any:
    given = params.arguments or {}
    blocks: list[Any]
    match params.name:
        case "test_prompt_with_arguments":
            said = f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"
            blocks = [types.TextContent(text=said)]
        case "test_prompt_with_embedded_resource":
            blocks = [_embedded(given["resourceUri"]), types.TextContent(text="Please process it.")]
        case "test_prompt_with_image":
            blocks = [types.ImageContent(data=PNG, mime_type="image/png"), types.TextContent(text="Look.")]
        case "test_input_required_result_prompt" if not params.input_responses:
            asked = {"user_context": _form("What context should the prompt use?", "context")}
            return types.InputRequiredResult(input_requests=asked)
        case _:
            blocks = [types.TextContent(text="This is a simple prompt for testing.")]
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=one) for one in blocks])


def _contents(uri: str) -> Any:
    if uri == "test://static-binary":
        return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
    if uri.startswith("test://template/"):
        part = uri.split("/")[3]
        said = json.dumps({"id": part, "templateTest": True, "data": f"Data for ID: {part}"})
        return types.TextResourceContents(uri=uri, mime_type="application/json", text=said)
    if uri in ("test://static-text", "test://watched-resource"):
        said = "This is the content of the static text resource."
        return types.TextResourceContents(uri=uri, mime_type="text/plain", text=said)
    raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})


async def _nothing(_: Context, __: Any) -> types.EmptyResult:
    return types.EmptyResult()


async def _complete(_: Context, __: Any) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))


def add_fixtures(server: Server[Any], attendant: ToolCalls) -> None:
    """Handrail's tools and resources stay; what the suite calls by its own names goes here."""
    _add_tools(server, attendant)
    _add_resources(server)
    _add_prompts(server)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, _complete)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _nothing)


def _add_prompts(server: Server[Any]) -> None:
    own_list, own_get = _handler(server, "prompts/list"), _handler(server, "prompts/get")

    async def list_prompts(ctx: Context, params: Any) -> types.ListPromptsResult:
        own: types.ListPromptsResult = await own_list(ctx, params)
        return types.ListPromptsResult(prompts=[*own.prompts, *PROMPTS])

    async def get(ctx: Context, params: types.GetPromptRequestParams) -> Any:
        is_ours = params.name.startswith("test_")
        return await (get_prompt if is_ours else own_get)(ctx, params)

    server.add_request_handler("prompts/list", types.PaginatedRequestParams, list_prompts)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get)


def _handler(server: Server[Any], method: str) -> Any:
    entry = server.get_request_handler(method)
    assert entry
    return entry.handler


def _add_tools(server: Server[Any], attendant: ToolCalls) -> None:
    own_list, own_call = _handler(server, "tools/list"), _handler(server, "tools/call")

    async def list_tools(ctx: Context, params: Any) -> types.ListToolsResult:
        own: types.ListToolsResult = await own_list(ctx, params)
        plain = {"type": "object", "properties": {}}
        mine = [
            types.Tool(name=name, description=f"Fixture {name}", input_schema=INPUTS.get(name, plain))
            for name in (*TOOLS, *task_fixtures.NAMES)
        ]
        return types.ListToolsResult(tools=[*own.tools, *mine])

    async def call_tool(ctx: Context, params: Params) -> Any:
        if params.name in task_fixtures.NAMES:
            return await task_fixtures.call(attendant, ctx, params)
        return await TOOLS.get(params.name, own_call)(ctx, params)

    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)


def _add_resources(server: Server[Any]) -> None:
    own_list, own_read = _handler(server, "resources/list"), _handler(server, "resources/read")
    own_templates = _handler(server, "resources/templates/list")

    async def list_resources(ctx: Context, params: Any) -> types.ListResourcesResult:
        own: types.ListResourcesResult = await own_list(ctx, params)
        names = ("static-text", "static-binary", "watched-resource")
        mine = [types.Resource(uri=f"test://{name}", name=name) for name in names]
        return types.ListResourcesResult(resources=[*own.resources, *mine])

    async def list_templates(ctx: Context, params: Any) -> types.ListResourceTemplatesResult:
        own: types.ListResourceTemplatesResult = await own_templates(ctx, params)
        mine = types.ResourceTemplate(uri_template="test://template/{id}/data", name="template")
        return types.ListResourceTemplatesResult(resource_templates=[*own.resource_templates, mine])

    async def read(ctx: Context, params: types.ReadResourceRequestParams) -> Any:
        if not str(params.uri).startswith("test://"):
            return await own_read(ctx, params)
        return types.ReadResourceResult(contents=[_contents(str(params.uri))])

    server.add_request_handler("resources/list", types.PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, list_templates)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, read)
    for method, kind in (
        ("resources/subscribe", types.SubscribeRequestParams),
        ("resources/unsubscribe", types.UnsubscribeRequestParams),
    ):
        server.add_request_handler(method, kind, _nothing)

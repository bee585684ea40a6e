"""The conversation: who said what, what agents do, and no more than is worth keeping."""

from __future__ import annotations

from handrail.web_server.websocket import KEPT_MESSAGES, MOST_AGENTS, ConsoleMessages
from handrail_sim.clock import ManualClock


def test_people_and_agents_are_told_apart_and_the_last_status_counts() -> None:
    talk = ConsoleMessages(ManualClock())
    talk.add("person", "Make it dark", "message-1")
    talk.on_publish("AGENT_STATUS", {"agentId": "mail", "status": "acting", "message": "I open the settings"})
    talk.on_publish("AGENT_STATUS", {"agentId": "mail", "status": "finished"})
    talk.on_publish("ENVELOPE", {"actionId": "tap_1_1", "lifecycleState": "accepted"})
    told = talk.to_dict()
    assert [(one["from"], one["text"]) for one in told["messages"]] == [
        ("person", "Make it dark"),
        ("mail", "I open the settings"),
    ]
    assert [(one["agentId"], one["status"]) for one in told["agents"]] == [("mail", "finished")]


def test_the_oldest_words_and_agents_are_forgotten_first() -> None:
    talk = ConsoleMessages(ManualClock())
    for number in range(KEPT_MESSAGES + 5):
        status = {"agentId": f"agent-{number}", "status": "idle", "message": f"word {number}"}
        talk.on_publish("AGENT_STATUS", status)
    told = talk.to_dict()
    assert (len(told["messages"]), told["messages"][0]["text"]) == (KEPT_MESSAGES, "word 5")
    assert (len(told["agents"]), told["agents"][-1]["agentId"]) == (MOST_AGENTS, f"agent-{KEPT_MESSAGES + 4}")

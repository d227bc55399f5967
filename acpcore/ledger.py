"""Who owes whom an answer: the own calls that wait for one, and the peer's requests that wait for ours.

The two directions have separate id spaces. https://agentclientprotocol.com/protocol/v2/draft/overview
"""

from __future__ import annotations

from . import message as m
from .errors import UsageError
from .message import Call, Request, RequestId


class Ledger:
    """The open ids of one connection. Own ids rise and are never used twice; a received id is taken until it is
    answered.
    """

    __slots__ = ("_calls", "_next", "_nulls", "_requests")

    def __init__(self) -> None:
        self._calls: dict[RequestId, Call] = {}
        self._requests: dict[RequestId, Request] = {}
        self._nulls = 0  # open requests whose id is null: they cannot be told apart
        self._next = 0

    # --- own calls

    @property
    def next_id(self) -> int:
        """The id of the next own call."""
        return self._next

    def open(self, method: str, session_id: str | None) -> Call:
        """A new own call with the next id."""
        call = Call(self._next, method, session_id)
        self._next += 1
        self._calls[call.id] = call
        return call

    def expect(self, id: RequestId, method: str) -> Call:
        """An own call that was sent by other means. ``UsageError`` if the id is pending."""
        m.encode_id(id)
        if id in self._calls:
            raise UsageError("this id is pending already")
        call = self._calls[id] = Call(id, method, None)
        if isinstance(id, int) and id >= self._next:
            self._next = id + 1
        return call

    def match(self, id: RequestId) -> Call | None:
        """The own call that an answer with this id ends; it is forgotten."""
        return None if id is None else self._calls.pop(id, None)

    def forget(self, call: Call) -> bool:
        """Give a call up; ``False`` if it is not pending."""
        if self._calls.get(call.id) is not call:
            return False
        del self._calls[call.id]
        return True

    def give_back(self) -> list[Call]:
        """Every own call, in the order they were made; none is pending any more."""
        calls = list(self._calls.values())
        self._calls.clear()
        return calls

    @property
    def calls(self) -> list[Call]:
        """Own calls that wait for their answer."""
        return list(self._calls.values())

    @property
    def owed(self) -> int:
        """How many answers the peer owes."""
        return len(self._calls)

    # --- the peer's requests

    def claim(self, request: Request) -> bool:
        """A request came; ``False`` if its id belongs to one that is not answered yet."""
        if request.id is None:
            self._nulls += 1
        elif request.id in self._requests:
            return False
        else:
            self._requests[request.id] = request
        return True

    def settle(self, request: Request) -> None:
        """A request was answered: its id is free."""
        if request.id is None:
            self._nulls -= 1
        else:
            self._requests.pop(request.id, None)

    def find(self, id: RequestId) -> Request | None:
        """The open request with this id."""
        return self._requests.get(id)

    @property
    def requests(self) -> list[Request]:
        """Requests that wait for their answer (those with a ``null`` id are not listed)."""
        return list(self._requests.values())

    @property
    def owing(self) -> int:
        """How many answers we owe."""
        return len(self._requests) + self._nulls

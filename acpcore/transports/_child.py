"""A running child and its process group: look at it, signal it, reap it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
import warnings
from typing import NamedTuple

_REAP_TIME = 1.0
"""Seconds that a forgotten child is waited for after its SIGKILL."""


class ExitStatus(NamedTuple):
    """How a process ended; both are ``None`` if somebody else took the status."""

    code: int | None
    signal: str | None


class Child:
    """A running child. Its process id stays taken until :meth:`reap`, so a signal cannot hit a stranger."""

    def __init__(self, process: subprocess.Popen[bytes], leads_group: bool) -> None:
        self.pid = process.pid
        self.reaped = False
        self.held: set[int] = set()
        """Descriptors of ours that are about it and nobody else's to close."""
        self._status: ExitStatus | None = None
        self._process = process
        self._leads_group = leads_group
        self.owner = os.getpid()

    def status(self) -> ExitStatus | None:
        """How it ended, without reaping it; ``None`` while it runs."""
        if self._status is None:
            try:
                self._status = self._look() if hasattr(os, "waitid") else self._look_by_reaping()
            except ChildProcessError:
                self._status = ExitStatus(None, None)
                self._forget(0)
        return self._status

    def signal(self, number: signal.Signals) -> None:
        """Signal the whole group, or the process alone if it leads none. Nothing happens once it is reaped."""
        if self.reaped:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._leads_group:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)

    def helpers(self) -> list[int] | None:
        """The other living processes of its group; ``None`` where the system does not tell."""
        if self.reaped or not self._leads_group:
            return []
        try:
            names = os.listdir("/proc")
        except OSError:
            return None
        pids = [int(name) for name in names if name.isdigit()]
        if not pids:
            return None
        return [pid for pid in pids if pid != self.pid and _is_in_group(pid, self.pid) and _is_alive(pid)]

    def reap(self) -> None:
        """Free the process id, if the child has ended; idempotent."""
        if self.reaped:
            return
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            pid, status = self.pid, 0
        if pid:
            self._forget(os.waitstatus_to_exitcode(status))

    def let_go(self, fd: int) -> None:
        """Close a descriptor that is held; idempotent."""
        if fd in self.held:
            self.held.remove(fd)
            os.close(fd)

    def abandon(self) -> None:
        """The last resort when its transport was dropped: kill what nobody closed."""
        if not self.reaped and os.getpid() == self.owner:
            warnings.warn(f"process {self.pid} was never closed", ResourceWarning, source=self, stacklevel=2)
            self.put_down()

    def put_down(self) -> None:
        """SIGKILL the group, and wait a moment to reap the child."""
        self.signal(signal.SIGKILL)
        deadline = time.monotonic() + _REAP_TIME
        while self.status() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        self.reap()
        for fd in list(self.held):
            self.let_go(fd)

    def _look(self) -> ExitStatus | None:
        info = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if info is None:
            return None
        return _exit_status(info.si_status if info.si_code == os.CLD_EXITED else -info.si_status)

    def _look_by_reaping(self) -> ExitStatus | None:
        """Where nobody can look without reaping, the group has to be ended in the same breath."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        self.signal(signal.SIGKILL)
        self._forget(os.waitstatus_to_exitcode(status))
        return _exit_status(os.waitstatus_to_exitcode(status))

    def _forget(self, returncode: int) -> None:
        self.reaped = True
        self._process.returncode = returncode  # else Popen would wait for it again, or warn


def _exit_status(code: int) -> ExitStatus:
    """From the way ``Popen.returncode`` has it: a signal is negative."""
    return ExitStatus(code, None) if code >= 0 else ExitStatus(None, _signal_name(-code))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"  # a real-time signal


def _is_in_group(pid: int, group: int) -> bool:
    try:
        return os.getpgid(pid) == group
    except OSError:
        return False


def _is_alive(pid: int) -> bool:
    """Not a zombie: in a container nobody may reap those, and no signal removes them."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (OSError, IndexError):
        return False

"""Work in a thread of its own that waits its turn, can be stopped, and ends with its reader."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod

from engine.errors import InputError
from pages.shell.lifetime import STUDIES, Line, Present, end_when_left


class Task(ABC):
    """Subclasses say in :meth:`work` what is done; it uses nothing of Streamlit's.

    ``problem`` is one sentence if it could not be done. ``present`` says whether somebody looks.
    """

    queue: Line = STUDIES  # where it waits for its turn
    reports = False  # whether it works, to stop at once and say so, even if given up in line

    def __init__(self, present: Present) -> None:
        self.problem = ""
        self.present = present  # a page that is loaded anew puts its own here
        self._stop, self._done = threading.Event(), threading.Event()

    @abstractmethod
    def work(self) -> None:
        """Do it, and look at :meth:`stopped` often."""

    def broken(self, error: Exception) -> str:
        """What to say of an error inside the program."""
        return f"The work broke off: {type(error).__name__}."

    def start(self) -> None:
        """Begin, or wait in line; raises nothing, see ``problem``."""
        self.queue.join(self)
        threading.Thread(target=self._run, daemon=True, name=type(self).__name__).start()
        end_when_left(lambda: self.present(), self.wait, self.cancel)

    def cancel(self) -> None:
        """Ask it to stop; what is finished is kept."""
        self._stop.set()

    def stopped(self) -> bool:
        """Whether a stop was asked for."""
        return self._stop.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long."""
        return self._done.wait(seconds)

    @property
    def running(self) -> bool:
        """Whether the end has not come yet."""
        return not self._done.is_set()

    @property
    def place(self) -> int:
        """Its place in line, 0 once it works."""
        return self.queue.place(self)

    def _run(self) -> None:
        try:
            if self.queue.turn(self, self.stopped) or self.reports:
                self.work()
        except InputError as error:
            self.problem = str(error)
        except Exception as error:  # a page must not wait for ever for a thread that died
            self.problem = self.broken(error)
        finally:
            self.queue.leave(self)
            self._done.set()

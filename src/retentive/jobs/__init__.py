"""The durable queue: work that a language model (or patience) is needed for, kept in the store until it is done.

``decide`` knows the life of a job, ``queue`` moves it in transactions, ``handlers`` says what a kind of work must do,
``run`` does what is due. The raw text of a memory is always stored first; a job names it by id.
"""

from retentive.jobs.handlers import Desk, Handler, Worked
from retentive.jobs.queue import enqueue
from retentive.jobs.run import Ran

__all__ = ["Desk", "Handler", "Ran", "Worked", "enqueue"]

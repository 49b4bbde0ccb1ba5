"""The whole back end on this machine: `python3 -m freemium CONFIGURATION [PORT]`."""

from __future__ import annotations

import logging
import signal
import sys

from .local.stack import Stack
from .settings import Settings


def main() -> None:
    """Serve until SIGINT or SIGTERM."""
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python3 -m freemium CONFIGURATION [PORT]")
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    ends = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # before any thread
    settings = Settings.load(sys.argv[1])
    stack = Stack(settings, port=int(sys.argv[2]) if len(sys.argv) == 3 else 8080).start()
    print(f"listening on {stack.url}", flush=True)
    signal.sigwait(ends)
    stack.close()


if __name__ == "__main__":
    main()

"""Whether the server on this machine answers: exit status 0 or 1. ``healthy.py [PORT [BASE]]``."""

import sys
import urllib.request


def main(port: str = "8501", base: str = "") -> int:
    """Ask as a browser's first request does; no proxy is asked for this machine."""
    path = "/".join(filter(None, (base.strip("/"), "_stcore/health")))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{port}/{path}", timeout=4) as answer:
            return 0 if answer.status == 200 else 1
    except OSError:
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))

#!/usr/bin/env python3
"""Carries a contract suite's control lines to the simulated Daytona's admin route.

One JSON object a line on standard input, one answer a line on standard output. The address and the
key of the account come from CONTRACT_URL (which ends in /api) and CONTRACT_KEY. Commands that the
simulated Daytona does not know are answered as unsupported.
"""

import json
import os
import sys
import urllib.error
import urllib.request


def carry(url: str, key: str, command: dict) -> dict:
    """Puts one command to the admin route and gives the answer."""
    request = urllib.request.Request(
        url,
        data=json.dumps(command).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        answer = json.load(error)
        if "unknown command" in str(answer.get("error", "")):
            return {"unsupported": True}
        return answer
    except OSError as error:
        return {"ok": False, "error": str(error)}


def main() -> None:
    base = os.environ["CONTRACT_URL"].rstrip("/")
    url = base.removesuffix("/api") + "/admin/control"
    key = os.environ["CONTRACT_KEY"]
    for line in sys.stdin:
        if line.strip():
            print(json.dumps(carry(url, key, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env bash
# Drives the simulated Daytona with the official Python SDK.
#
#   sim/tests/sdk/python/run.sh path/to/sandpool-sim
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
# shellcheck source=../served.sh
. "$here/../served.sh"

if ! command -v python3 >/dev/null || ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
  echo "skipped, not verified: no python3 that can make a virtual environment"
  exit 0
fi

environment="$root/target/sdk/python"
if ! cmp -s "$here/requirements.txt" "$environment/installed.txt"; then
  rm -rf "$environment"
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$environment/installed.txt"
fi

serve "$1"
"$environment/bin/python" "$here/test_sdk.py"
unserve

#!/usr/bin/env bash
# Drives the simulated Daytona with the official TypeScript SDK.
#
#   sim/tests/sdk/typescript/run.sh path/to/sandpool-sim
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
# shellcheck source=../served.sh
. "$here/../served.sh"

if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
  echo "skipped, not verified: no npm"
  exit 0
fi

folder="$root/target/sdk/typescript"
if ! cmp -s "$here/package-lock.json" "$folder/installed.json"; then
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$here/package.json" "$here/package-lock.json" "$folder"
  npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --silent
  cp "$here/package-lock.json" "$folder/installed.json"
fi
# Node looks for packages beside the file that it runs.
cp "$here/test_sdk.mjs" "$folder"

serve "$1"
node "$folder/test_sdk.mjs"
unserve

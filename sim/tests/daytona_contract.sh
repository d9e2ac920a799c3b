#!/usr/bin/env bash
# Runs a contract suite for Daytona's API against the simulated Daytona.
#
#   sim/tests/daytona_contract.sh SIM FOLDER
#
# SIM is the sandpool-sim program; FOLDER has the suite's run.py and its cases. Three servers are
# started, each on a free port: one in real time, one five times as fast for the themes that mostly
# wait, and one with small rate limits.
set -euo pipefail
sim=$1
folder=$2
here=$(cd "$(dirname "$0")" && pwd)
control="python3 $here/daytona_contract_adapter.py"
key=dtn_contract
work=$(mktemp -d)
servers=()
stop() {
  for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
  rm -rf "$work"
}
trap stop EXIT

# Starts a server with the given options and sets `url` to where it is.
start() {
  local out="$work/server-${#servers[@]}"
  "$sim" daytona --listen 127.0.0.1:0 --api-key "$key" "$@" >"$out" 2>&1 &
  servers+=($!)
  for _ in $(seq 100); do
    url=$(sed -n 's/^DAYTONA_API_URL=//p' "$out")
    if [ -n "$url" ]; then return; fi
    sleep 0.1
  done
  echo "the server did not start:" && cat "$out" && exit 1
}

start
python3 "$folder/run.py" "$url" "$key" --control "$control" --only create names-and-labels states \
  delete list quota validation errors-auth snapshots toolbox-basic quirks
start --speed 5
python3 "$folder/run.py" "$url" "$key" --control "$control" --time-scale 5 --only intervals \
  failures ephemeral-archive
start --limits 5,10,40,8
python3 "$folder/run.py" "$url" "$key" --control "$control" --with rate-limits --only rate-limits

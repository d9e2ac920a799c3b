#!/usr/bin/env bash
# Lets schemathesis make requests of all kinds from the OpenAPI document that the server serves, and
# compares the answers with it: no server error, and nothing that the document does not say.
#
#   server/tests/schemathesis/run.sh path/to/sandpool-server [seconds]
#
# SCHEMATHESIS_SEED=N plays other requests than those of ./check.
#
# The server speaks to a simulated Daytona that runs no commands: those are made up at random.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
server=$1
seconds=${2:-60}

if ! command -v python3 >/dev/null || ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
  echo "skipped, not verified: no python3 that can make a virtual environment"
  exit 0
fi

environment="$root/target/schemathesis"
if ! cmp -s "$here/requirements.txt" "$environment/installed.txt"; then
  rm -rf "$environment"
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$environment/installed.txt"
fi

folder=$(mktemp -d)
cat >"$folder/pool.toml" <<'TOML'
[server]
sandbox_wait_seconds = 0.2
idle_seconds = 2
reclaim_idle_seconds = 0

[classes.default]
prepare = false

[simulated]
run_commands = false
speed = 50
TOML
env -u DAYTONA_API_KEY -u DAYTONA_API_KEY_FILE "$server" --config "$folder/pool.toml" \
  --store "$folder/pool.sqlite" --listen 127.0.0.1:0 >"$folder/out" 2>"$folder/log" &
pid=$!
trap 'kill "$pid" 2>/dev/null || true; rm -rf "$folder"' EXIT
for _ in $(seq 100); do
  grep -q '^  default ' "$folder/out" && break
  kill -0 "$pid" 2>/dev/null || { cat "$folder/log"; echo "the server did not start"; exit 1; }
  sleep 0.1
done
url=$(sed -n 's/^sandpool-server listens on //p' "$folder/out")
key=$(sed -n 's/^  operator  //p' "$folder/out")

# A closed conversation can still be read, so that "use after free" is no mistake here.
# A drain would end the server for all requests after it. What a server answers to a method that it
# does not know, and to HTTP that is broken, is not in a document of routes.
cd "$folder"
"$environment/bin/schemathesis" run "$url/openapi.json" \
  --header "Authorization: Bearer $key" \
  --exclude-path /v1/admin/drain \
  --checks not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,ignored_auth \
  --max-time "$seconds" --seed "${SCHEMATHESIS_SEED:-1}" --continue-on-failure --workers 2 --no-color --request-timeout 20

kill -TERM "$pid"
wait "$pid" || { cat "$folder/log"; echo "the server ended with code $?"; exit 1; }

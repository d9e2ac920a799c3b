# Sourced by the SDK tests: starts the simulated Daytona and stops it again.
#
#   serve BINARY    sets DAYTONA_API_URL and DAYTONA_API_KEY, once it can be reached
#   unserve         stops it, and fails if it did not end well or left anything behind

serve() {
  served_log=$(mktemp)
  # A place of its own for its files, so that what it leaves can be seen.
  served_tmp=$(mktemp -d)
  TMPDIR=$served_tmp "$1" daytona --listen 127.0.0.1:0 >"$served_log" &
  served_pid=$!
  trap 'kill "$served_pid" 2>/dev/null || true; rm -rf "$served_log" "$served_tmp"' EXIT
  for _ in $(seq 100); do
    grep -q '^DAYTONA_API_KEY=' "$served_log" && break
    kill -0 "$served_pid" 2>/dev/null || { echo "the simulated Daytona did not start"; exit 1; }
    sleep 0.1
  done
  DAYTONA_API_URL=$(sed -n 's/^DAYTONA_API_URL=//p' "$served_log")
  DAYTONA_API_KEY=$(sed -n 's/^DAYTONA_API_KEY=//p' "$served_log")
  export DAYTONA_API_URL DAYTONA_API_KEY DAYTONA_TARGET=us
}

unserve() {
  kill -TERM "$served_pid"
  wait "$served_pid" || { echo "the simulated Daytona ended with code $?"; exit 1; }
  left=$(ls -A "$served_tmp")
  [ -z "$left" ] || { echo "the simulated Daytona left behind: $left"; exit 1; }
}

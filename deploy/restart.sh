#!/usr/bin/env bash
# Replaces all instances of the compose file, one after another, as for a new image or new settings. Each
# is stopped when its successor takes requests, so that no request fails. If a successor does not become
# ready, the others keep running.
#
# COMPOSE and ENGINE override `docker compose` and `docker`.
set -euo pipefail
cd "$(dirname "$0")/.."
# Two at a time would each take the successors of the other for instances of its own. macOS has no `flock`.
exec 9< deploy/restart.sh
if command -v flock > /dev/null && ! flock --nonblock 9; then
  echo 'Another restart is under way' >&2
  exit 1
fi
COMPOSE=${COMPOSE:-docker compose}
ENGINE=${ENGINE:-docker}

compose() {
  # Unquoted: the command may consist of two words.
  # shellcheck disable=SC2086
  $COMPOSE "$@" 9<&-
}

# As `compose`, without the lock: what an engine leaves running would hold it.
engine() {
  "$ENGINE" "$@" 9<&-
}

# The number of instances that the proxy sends requests to.
taken() {
  compose exec -T proxy bash -c \
    'exec 3<>/dev/tcp/127.0.0.1/8405; printf "GET /metrics?scope=backend HTTP/1.0\r\n\r\n" >&3; cat <&3' |
    sed -n 's/\r//; s/^haproxy_backend_active_servers{proxy="instances"} //p'
}

# Waits until the proxy sends requests to $1 instances.
await_taken() {
  local until=$((SECONDS + 180))
  until [ "$(taken)" = "$1" ]; do
    if ((SECONDS > until)); then
      echo "The proxy does not send requests to $1 instances: see the log of catalogue" >&2
      return 1
    fi
    sleep 0.5
  done
}

running=$(compose ps -q catalogue)
if [ -z "$running" ]; then
  echo 'No instance of catalogue runs' >&2
  exit 1
fi
mapfile -t instances <<< "$running"
count=${#instances[@]}
await_taken "$count"
for instance in "${instances[@]}"; do
  before=$(compose ps -q catalogue | sort)
  compose up -d --no-deps --no-recreate --scale "catalogue=$((count + 1))" catalogue
  if ! await_taken $((count + 1)); then
    successor=$(comm -13 <(echo "$before") <(compose ps -q catalogue | sort))
    engine logs --tail 20 "$successor" >&2
    # It would count as one of the instances the next time.
    engine rm -f "$successor" > /dev/null
    exit 1
  fi
  engine stop --time 30 "$instance" > /dev/null
  engine rm "$instance" > /dev/null
  await_taken "$count"
done
echo "$count replaced"

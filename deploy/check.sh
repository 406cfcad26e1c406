#!/usr/bin/env bash
# Runs the README's section on deployment and the commands of docs/operations.md for Compose on this machine, checks
# the result, and removes it again.
#
# Requires a container engine, Compose, curl, and the free port 3000. COMPOSE and ENGINE override the
# commands. Default: the first available of `docker compose` and `docker-compose`, and of `docker` and
# `podman`.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${COMPOSE:-}" ]; then
  COMPOSE=docker-compose
  if docker compose version > /dev/null 2>&1; then COMPOSE='docker compose'; fi
fi
ENGINE=${ENGINE:-$(command -v docker || command -v podman)}
WORK=$(mktemp -d)
# Ignore the settings in `.env`, and further files, such as docker-compose.override.yml.
: > "$WORK/env"
COMPOSE="$COMPOSE --env-file $WORK/env --file docker-compose.yml"
# For deploy/restart.sh.
export COMPOSE ENGINE
# A separate project, so that no volumes of another one are used.
export COMPOSE_PROJECT_NAME=catalogue-check
# Ignore settings in the environment of the caller.
mapfile -t settings < <(grep -o '\${[A-Z_]*' docker-compose.yml | tr -d '${' | sort -u)
unset COMPOSE_PROFILES "${settings[@]}"
LOADERS=()

compose() {
  # Unquoted: the command may consist of two words.
  # shellcheck disable=SC2086
  $COMPOSE "$@"
}

# Runs a command without output. If it fails, prints the end of its output and fails the check.
quietly() {
  if ! "$@" > "$WORK/log" 2>&1; then
    tail -n 40 "$WORK/log" >&2
    fail "$*"
  fi
}

pass() { echo "ok      $*"; }

fail() {
  echo "FAILED  $*"
  exit 1
}

cleanup() {
  rm -f "$WORK/loading"
  COMPOSE_PROFILES=replica,redis compose down --volumes --timeout 5 > /dev/null 2>&1 || true
  rm -rf "$WORK"
}
trap cleanup EXIT

id_of() { compose ps -q "$1" | head -n 1; }

milliseconds() { date +%s%3N; }

# Seconds since a value of `milliseconds`, with one decimal.
since() {
  local passed=$(($(milliseconds) - $1))
  echo "$((passed / 1000)).$((passed % 1000 / 100)) s"
}

# Repeats a command until it succeeds, for at most $1 seconds.
await() {
  local until=$((SECONDS + $1))
  shift
  until "$@" > /dev/null 2>&1; do
    if ((SECONDS > until)); then return 1; fi
    sleep 0.2
  done
}

# Whether all containers of a service are healthy.
is_healthy() {
  local id
  for id in $(compose ps -q "$1"); do
    [ "$("$ENGINE" inspect --format '{{.State.Health.Status}}' "$id")" = healthy ] || return 1
  done
}

await_healthy() {
  local service
  for service in "$@"; do
    if ! await 180 is_healthy "$service"; then
      compose logs --tail=20 "$service" >&2
      fail "$service is not healthy"
    fi
  done
}

catalogue() { compose exec -T catalogue catalogue "$@"; }

sql() { compose exec -T postgres psql --no-psqlrc -tA --username postgres --dbname catalogue -c "$1"; }

# The HTTP status of a request with the credentials of the client `load`. $1: port and path.
ask() {
  curl -s -o "$WORK/answer" -w '%{http_code}' --max-time 10 \
    -H 'X-Client-ID: load' -H "Authorization: Bearer $TOKEN" "http://127.0.0.1:$1" || true
}

answers() { [ "$(ask "$1")" = "$2" ]; }

# Starts four clients that send requests continuously and record the status of each and the result of its transfer.
start_load() {
  touch "$WORK/loading"
  local reader
  for reader in 1 2 3 4; do
    while [ -e "$WORK/loading" ]; do
      curl -s --max-time 20 -w '%{http_code} %{exitcode}\n' -o /dev/null \
        -H 'X-Client-ID: load' -H "Authorization: Bearer $TOKEN" \
        'http://127.0.0.1:3000/products?limit=20&offset=[0-19]' >> "$WORK/load.$reader" || true
    done &
    LOADERS+=($!)
  done
}

# Waits for the requests under way: curl writes what it has recorded when it ends.
stop_load() {
  rm -f "$WORK/loading"
  local loader
  for loader in "${LOADERS[@]}"; do wait "$loader" || true; done
  LOADERS=()
}

# Stops the load. Fails if there was none, or if any request was not answered whole with 200.
judge_load() {
  stop_load
  cat "$WORK"/load.* > "$WORK/statuses"
  rm "$WORK"/load.*
  local all failed
  all=$(wc -l < "$WORK/statuses")
  failed=$(grep -cvx '200 0' "$WORK/statuses" || true)
  if [ "$failed" != 0 ] || [ "$all" = 0 ]; then
    sort "$WORK/statuses" | uniq -c >&2
    fail "$1: $failed of $all requests failed"
  fi
  pass "$1: $all requests, none failed"
}

# --- The first commands of the README

began=$(milliseconds)
quietly compose build
pass "builds, $(since "$began")"

began=$(milliseconds)
quietly compose up -d
await_healthy postgres catalogue proxy
pass "with nothing set all are healthy, $(since "$began")"

# The second code block of the section, verbatim except for the name of Compose.
awk '/^## / { here = /Deploy/ } here && /^```/ { inside = !inside; block += inside; next }
  here && inside && block == 2' README.md > "$WORK/readme.sh"
[ -s "$WORK/readme.sh" ] || fail 'the commands in the README are not found'
sed -i "s|docker compose|$COMPOSE|g" "$WORK/readme.sh"
bash -euo pipefail "$WORK/readme.sh" > "$WORK/answer" 2> "$WORK/log" || { cat "$WORK/log" >&2 && fail "the README's next commands"; }
grep -q '"count":"2"' "$WORK/answer" || { cat "$WORK/answer" >&2 && fail "the README's list"; }
! grep -i warning "$WORK/log" || { cat "$WORK/log" >&2 && fail "the README's commands complain"; }
pass "the README's next commands make a client, import a file and list it"

# A quarter of the limit of 4 GB. The image has lz4.
[ "$(sql 'SHOW shared_buffers') $(sql 'SHOW wal_compression')" = '1GB lz4' ] || fail 'PostgreSQL has other settings'
pass 'PostgreSQL has settings for its limit of memory'

compose exec -T postgres pg_dump -U postgres -Fc catalogue > "$WORK/dump"
compose exec -T postgres pg_restore --list < "$WORK/dump" > "$WORK/log"
grep -q 'TABLE DATA public brands' "$WORK/log" || fail 'the backup lacks what was imported'
pass 'the backup has what was imported'

# --- Isolation of the service

quietly "$ENGINE" run --rm catalogue --help
quietly compose run --rm migrate
pass 'the image runs any command'

inside() { compose exec -T catalogue sh -c "$1"; }
# Health and metrics, which are reachable from the containers only.
operators_of() { inside "node -e 'fetch(\"http://$1$2\").then((answer) => answer.text()).then(console.log)'"; }
operators() { operators_of 127.0.0.1:9090 "$1"; }
operators /health/ready | grep -q '"ok"' || fail 'health is not at ADMIN_PORT'
! "$ENGINE" port "$(id_of catalogue)" 9090 2> /dev/null | grep -q . || fail 'ADMIN_PORT is published'
pass 'health and metrics are at ADMIN_PORT, which is not published'

[ "$(inside 'id -un')" = node ] || fail 'the service does not run as node'
inside 'grep -q "^CapEff:.*0000$" /proc/1/status && grep -q "^NoNewPrivs:.*1" /proc/1/status' ||
  fail 'the service has privileges'
! inside 'touch /catalogue/written' 2> /dev/null || fail 'the root file system can be written'
inside 'touch /tmp/written' || fail '/tmp cannot be written'
pass 'the service runs as node, without capabilities, on a root that cannot be written'

for name in postgres catalogue replication; do
  compose exec -T postgres cat "/secrets/$name" && echo
done > "$WORK/secrets"
[ "$(grep -c . "$WORK/secrets")" = 3 ] || fail 'the secrets cannot be read'
for id in $(compose ps -q); do "$ENGINE" inspect "$id"; done > "$WORK/seen"
inside 'cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ' >> "$WORK/seen"
compose logs >> "$WORK/seen" 2>&1
! grep -aqFf "$WORK/secrets" "$WORK/seen" || fail 'a secret can be seen'
! inside 'cat /secrets/postgres' > /dev/null 2>&1 || fail 'the service can read a secret not its own'
pass "no secret in inspect, the service's environment, its processes or any log"

for id in $(compose ps -q); do
  limits=$("$ENGINE" inspect --format \
    '{{.Name}} {{.HostConfig.Memory}} {{.HostConfig.LogConfig.Config}} {{.HostConfig.LogConfig.Type}}' "$id")
  [[ $limits != *' 0 '* ]] || fail "a container without a limit of memory: $limits"
  [[ $limits == *json-file* ]] || fail "a container whose log is not rotated: $limits"
  quietly "$ENGINE" exec "$id" sh -c 'grep -q "^CapBnd:.*0000$" /proc/1/status'
done
pass 'every container has a limit of memory, a log that is rotated, and no capabilities'

# --- Failures

catalogue client create load --rate-limit 0 > /dev/null
TOKEN=$(catalogue token issue load 2> "$WORK/log")
seq 2000 | sed 's/.*/{"productID":"check-&","name":"Checked &","type":"SERVICE"}/' |
  catalogue import products - --format ndjson > "$WORK/log"
grep -q '^2000 inserted' "$WORK/log" || fail 'the products for the load are not imported'

quietly "$ENGINE" kill "$(id_of postgres)"
await 15 answers '3000/products?limit=1' 503 || fail 'without its database the service answers anything but 503'
quietly compose up -d --no-deps postgres
began=$(milliseconds)
await 60 answers '3000/products?limit=1' 200 || fail 'the service does not find its database again'
pass "PostgreSQL killed: 503 while it is down, 200 again $(since "$began") after its start"

start_load
sleep 1
quietly deploy/passwords.sh catalogue
sleep 1
judge_load 'the password of the database changed'
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'catalogue'" > /dev/null
await 15 answers '3000/products?limit=1' 200 || fail 'the service does not find its new password'
pass 'the changed password: 200 on new connections'

id=$(id_of catalogue)
began=$(milliseconds)
quietly "$ENGINE" stop --time 30 "$id"
took=$(since "$began")
[ "$("$ENGINE" inspect --format '{{.State.ExitCode}}' "$id")" = 0 ] || fail 'stopped, it exits with another code than 0'
pass "stopped, it exits with 0, $took"
quietly compose up -d
await_healthy catalogue proxy

# --- The profiles, enabled as in docs/operations.md

export COMPOSE_PROFILES=replica
export DATABASE_REPLICA_URLS=postgres://catalogue@postgres-replica:5432/catalogue
began=$(milliseconds)
quietly compose up -d
await_healthy postgres-replica catalogue
streams() { [ "$(sql "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")" = 1 ]; }
await 30 streams || fail 'the replica does not stream'
pass "replica: streams, $(since "$began")"
is_read() {
  ask '3000/products?limit=1' > /dev/null
  operators /metrics | grep -Eq '^catalogue_replica_lag_seconds\{[^}]*\} [0-9.e-]+$'
}
await 30 is_read || fail 'the service does not use its replica'
quietly "$ENGINE" kill "$(id_of postgres-replica)"
answers '3000/products?limit=1' 200 || fail 'without the replica the service does not answer'
quietly compose up -d --no-deps postgres-replica
await 60 streams || fail 'the replica does not come back'
pass 'replica: killed, the primary answers; back, it streams on'

export COMPOSE_PROFILES=replica,redis
export REDIS_URL=redis://redis:6379/0
began=$(milliseconds)
quietly compose up -d --scale catalogue=4
await_healthy redis catalogue proxy
# What the proxy says of itself, from within the network.
taken() {
  operators_of proxy:8405 '/metrics?scope=backend' |
    grep -q "^haproxy_backend_active_servers{proxy=\"instances\"} $1\$"
}
await 30 taken 4 || fail 'the proxy does not know four instances'
pass "--scale catalogue=4: the proxy sends requests to all, $(since "$began")"

catalogue client create counted --rate-limit 40 > /dev/null
counted=$(catalogue token issue counted 2> "$WORK/log")
curl -s -o /dev/null -w '%{http_code}\n' -H 'Connection: close' \
  -H 'X-Client-ID: counted' -H "Authorization: Bearer $counted" \
  'http://127.0.0.1:3000/products?limit=[1-80]' > "$WORK/counted"
answered=$(grep -c '^200$' "$WORK/counted" || true)
# While Redis takes longer than 200 ms, as on a busy machine, an instance counts for itself.
if ((answered < 40 || answered > 45)) || [ "$(grep -c '^429$' "$WORK/counted")" != $((80 - answered)) ]; then
  sort "$WORK/counted" | uniq -c >&2
  fail 'redis: the instances do not count together'
fi
pass "redis: of 80 requests to four instances, with a limit of 40, $answered are answered"

start_load
sleep 2
began=$(milliseconds)
# As in an upgrade: new containers with new addresses.
quietly deploy/restart.sh
judge_load "four instances replaced one after another, $(since "$began")"

start_load
sleep 2
quietly "$ENGINE" kill "$(id_of catalogue)"
sleep 3
judge_load 'an instance killed'

quietly compose up -d --scale catalogue=2
await 30 taken 2 || fail 'the proxy does not know that two instances are left'
pass '--scale catalogue=2: two are left'

echo 'All checks passed.'

#!/usr/bin/env bash
# Runs the procedures of docs/operations.md on backup, restore, upgrade, passwords and TLS against a PostgreSQL
# and instances of its own, with requests under way, and checks what clients get. Removes everything again.
#
#   deploy/drills.sh [dump|in-place|physical|upgrade|passwords|tls]…    default: all
#
# Requires a build (`npm run build`), PostgreSQL 15 or newer with its client programs in PG_BIN (default: of
# pg_config), curl, openssl, and HAProxy for `tls`. Run as root, PostgreSQL runs as `postgres`. Of the environment it
# takes PATH, PG_BIN and TMPDIR alone.
set -euo pipefail
cd "$(dirname "$0")/.."

# Any of many variables of the caller could name a database of theirs.
if [ "${1-}" != --own-environment ]; then
  PG_BIN=${PG_BIN:-$(pg_config --bindir)}
  exec env -i PATH="$PG_BIN:$PATH" PG_BIN="$PG_BIN" TMPDIR="${TMPDIR:-/tmp}" bash deploy/drills.sh --own-environment "$@"
fi
shift

WORK=$(mktemp -d)
chmod 755 "$WORK"
# Without the configuration of curl, npm and libpq that is in the caller's.
export HOME=$WORK
CLUSTERS=()
PROCESSES=()
# Of the roles `postgres` and `catalogue`, and of no other use.
PASSWORD=$(openssl rand -hex 16)
echo "$PASSWORD" > "$WORK/password"
export PGPASSFILE=$WORK/pgpass
echo "*:*:*:*:$PASSWORD" > "$PGPASSFILE"
chmod 600 "$PGPASSFILE"

as_postgres() {
  if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

cleanup() {
  rm -f "$WORK/repeating"
  for process in "${PROCESSES[@]}"; do kill "$process" 2> /dev/null || true; done
  wait
  for cluster in "${CLUSTERS[@]}"; do
    as_postgres "$PG_BIN/pg_ctl" stop -D "$cluster" -m immediate > /dev/null 2>&1 || true
  done
  rm -rf "$WORK"
}
trap cleanup EXIT

pass() { echo "ok      $*"; }
fail() {
  echo "FAILED  $*"
  exit 1
}

free_port() {
  node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })'
}

await() {
  local until=$((SECONDS + 60))
  until "$@" > /dev/null 2>&1; do
    if ((SECONDS > until)); then fail "in a minute: $*"; fi
    sleep 0.1
  done
}

# Repeats a command beside others until `stop_repeating`.
repeat() {
  touch "$WORK/repeating"
  while [ -e "$WORK/repeating" ]; do "$@" || true; done &
  REPEATED=$!
}

# Waits for the command under way: what it still writes would mix with what comes next.
stop_repeating() {
  rm -f "$WORK/repeating"
  wait "$REPEATED"
}

# --- PostgreSQL

# Starts the cluster in $1 on $PG_PORT.
start_cluster() {
  as_postgres "$PG_BIN/pg_ctl" start -w -D "$1" -l "$1.log" \
    -o "-p $PG_PORT -c listen_addresses=127.0.0.1 -c unix_socket_directories=" > /dev/null
}

new_cluster() {
  local cluster=$WORK/$1
  PG_PORT=$(free_port)
  mkdir "$cluster" "$cluster.archive"
  if [ "$(id -u)" = 0 ]; then chown postgres: "$cluster" "$cluster.archive" && install -o postgres -m 600 /dev/null "$cluster.log"; fi
  as_postgres "$PG_BIN/initdb" -D "$cluster" -U postgres -A scram-sha-256 --pwfile="$WORK/password" \
    -E UTF8 --locale=C > /dev/null
  CLUSTERS+=("$cluster")
  echo "archive_mode = on
archive_command = 'test ! -f $cluster.archive/%f && cp %p $cluster.archive/%f'" | as_postgres tee -a "$cluster/postgresql.conf" > /dev/null
  start_cluster "$cluster"
  sql postgres "CREATE ROLE catalogue LOGIN PASSWORD '$PASSWORD'"
  sql postgres 'CREATE DATABASE catalogue OWNER catalogue'
}

sql() { psql -h 127.0.0.1 -p "$PG_PORT" -U postgres -XqtA -v ON_ERROR_STOP=1 -d "$1" -c "$2"; }
database() { echo "postgres://catalogue@127.0.0.1:$PG_PORT/${1:-catalogue}"; }

# --- The service

# A command of the release in $RELEASE.
RELEASE=.
catalogue() { DATABASE_URL=${DATABASE_URL:-$(database)} node "$RELEASE/dist/main.js" "$@"; }

# Starts an instance, and sets INSTANCE and URL.
start_instance() {
  PORT=$(free_port)
  DATABASE_URL=${DATABASE_URL:-$(database)} HOST=127.0.0.1 PORT=$PORT ADMIN_PORT=0 LOG_LEVEL=error \
    RATE_LIMIT_PER_MINUTE=0 PAGE_CACHE_MB=0 node "$RELEASE/dist/main.js" start >> "$WORK/instance.log" 2>&1 &
  INSTANCE=$!
  PROCESSES+=("$INSTANCE")
  URL=http://127.0.0.1:$PORT
  await answers 200 '/brands?limit=1'
}

stop_instance() {
  kill "$1"
  wait "$1" || fail 'an instance ends with another status than 0'
}

new_catalogue() {
  new_cluster "$1"
  catalogue migrate > /dev/null
  catalogue client create drill > /dev/null
  TOKEN=$(catalogue token issue drill 2> /dev/null)
  seq 5000 | sed 's/.*/{"brandID":"b&","name":"Brand &"}/' | catalogue import brands - --format ndjson > /dev/null
}

ask() { curl -sS --max-time 20 -H 'X-Client-ID: drill' -H "Authorization: Bearer $TOKEN" "$@"; }
answers() { [ "$(ask -o /dev/null -w '%{http_code}' "$URL$2")" = "$1" ]; }
count() { ask "$URL/brands?limit=0" | sed -n 's/.*"count":"\([0-9]*\)".*/\1/p'; }

# Records the errcode and the count of an answer.
record_answer() {
  ask "$URL/brands?limit=2" 2>&1 | sed -n 's/.*"errcode":"\([-0-9]*\)".*"count":"\([0-9]*\)".*/\1 \2/p; t; s/.*"errcode":"\([-0-9]*\)".*/\1/p; t; s/.*/no answer/p' \
    >> "$WORK/load" || true
  echo >> "$WORK/load"
}

# Asks an instance continuously.
start_load() {
  : > "$WORK/load"
  repeat record_answer
}

# Stops the load. Fails if an answer was none of the given ones, such as `0 5000`.
judge_load() {
  local title=$1
  shift
  stop_repeating
  local seen
  seen=$(grep . "$WORK/load" | sort | uniq -c | sort -rn | sed 's/^ *\([0-9]*\) \(.*\)/\1 × \2/' | paste -sd, | sed 's/,/, /g')
  if grep . "$WORK/load" | grep -vxF "$(printf '%s\n' "$@")"; then fail "$title: $seen"; fi
  pass "$title: $seen"
}

# --- The drills

dump() {
  new_catalogue dump
  write() { sql catalogue "UPDATE brands SET name = name || '.' WHERE \"brandID\" < 'b2'; DELETE FROM brands WHERE \"brandID\" = 'b' || (1 + random() * 4999)::int"; }
  repeat write
  sleep 0.5
  pg_dump -h 127.0.0.1 -p "$PG_PORT" -U postgres -Fc catalogue > "$WORK/backup"
  stop_repeating
  sql postgres 'CREATE DATABASE restored OWNER catalogue'
  pg_restore -h 127.0.0.1 -p "$PG_PORT" -U postgres --exit-on-error -d restored "$WORK/backup"
  local found
  found=$(DATABASE_URL=$(database restored) catalogue verify) || fail "verify: $found"
  pass "pg_dump during writes, restored into a new database: $(sql restored 'SELECT count(*) FROM brands') brands, $(sql catalogue 'SELECT count(*) FROM brands') in the other one by now; $found"
}

in_place() {
  new_catalogue in-place
  start_instance
  pg_dump -h 127.0.0.1 -p "$PG_PORT" -U postgres -Fc catalogue > "$WORK/backup"
  ask -D "$WORK/before" -o /dev/null "$URL/brands?limit=2"
  sql catalogue "DELETE FROM brands WHERE \"brandID\" = 'b17'; INSERT INTO brands (\"brandID\", name) VALUES ('later', 'Later'), ('later2', 'Later')"
  ask -D "$WORK/after" -o /dev/null "$URL/brands?limit=2"
  sleep 5
  local tag until
  tag=$(sed -n 's/^ETag: //Ip' "$WORK/after" | tr -d '\r')
  until=$(ask -D - -o /dev/null "$URL/brands?limit=2" | sed -n 's/^X-Updated-Until: //Ip' | tr -d '\r')

  start_load
  sleep 1
  sql postgres 'CREATE DATABASE catalogue_new OWNER catalogue'
  pg_restore -h 127.0.0.1 -p "$PG_PORT" -U postgres --exit-on-error -d catalogue_new "$WORK/backup"
  DATABASE_URL=$(database catalogue_new) catalogue verify > /dev/null
  sql postgres 'ALTER DATABASE catalogue WITH ALLOW_CONNECTIONS false'
  sql postgres "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'catalogue'" > /dev/null
  sql postgres 'ALTER DATABASE catalogue RENAME TO catalogue_old'
  sql postgres 'ALTER DATABASE catalogue_new RENAME TO catalogue'
  await answers 200 '/brands?limit=1'
  sleep 1
  judge_load 'restored beside and renamed, under requests' '0 5001' '-2' '0 5000'

  # A client from before the restore.
  answers_tag() { ask -o /dev/null -w '%{http_code}' -H "If-None-Match: $1" "$URL/brands?limit=2"; }
  [ "$(answers_tag "$tag")" = 200 ] || fail 'a page of the lost state is 304'
  [ "$(answers_tag "$(sed -n 's/^ETag: //Ip' "$WORK/before" | tr -d '\r')")" = 304 ] || fail 'the restored page is not 304'
  sql catalogue "UPDATE brands SET name = 'Changed' WHERE \"brandID\" = 'b18'"
  ask "$URL/brands?updatedSince=$until" | grep -q '"b18"' || fail 'a change after the restore is missed'
  [ "$(answers_tag "$tag")" = 200 ] || fail 'a page of the lost state is 304 after a write'
  pass 'a client from before: no 304 for what was lost, and every later change'

  start_load
  sleep 1
  pg_restore -h 127.0.0.1 -p "$PG_PORT" -U postgres --clean --if-exists --single-transaction -d catalogue "$WORK/backup"
  await answers 200 '/brands?limit=1'
  sleep 1
  judge_load 'restored in place in one transaction' '0 5000' '-2' '-3' '-4'

  start_load
  sleep 1
  pg_restore -h 127.0.0.1 -p "$PG_PORT" -U postgres --clean --if-exists -d catalogue "$WORK/backup"
  await answers 200 '/brands?limit=1'
  sleep 1
  judge_load 'restored in place step by step' '0 5000' '-2' '-3' '-4'
  catalogue verify > /dev/null || fail 'verify after the restore in place'
  stop_instance "$INSTANCE"
}

physical() {
  new_catalogue physical
  pg_basebackup -h 127.0.0.1 -p "$PG_PORT" -U postgres -D "$WORK/base" --wal-method=stream --checkpoint=fast
  # Later than the backup: in the archive alone.
  printf 'brandID,name\nlatest,Latest\n' | catalogue import brands - --format csv > /dev/null
  sql catalogue 'SELECT pg_switch_wal()' > /dev/null
  await sh -c "ls $WORK/physical.archive | grep -v -e backup -e history | tail -1 | grep -q . && sleep 1"
  as_postgres "$PG_BIN/pg_ctl" stop -D "$WORK/physical" -m immediate > /dev/null
  echo "restore_command = 'cp $WORK/physical.archive/%f %p'
archive_mode = off" >> "$WORK/base/postgresql.conf"
  touch "$WORK/base/recovery.signal"
  if [ "$(id -u)" = 0 ]; then chown -R postgres: "$WORK/base" && install -o postgres -m 600 /dev/null "$WORK/base.log"; fi
  chmod 700 "$WORK/base"
  CLUSTERS+=("$WORK/base")
  start_cluster "$WORK/base"
  await sh -c "[ \"\$(psql -h 127.0.0.1 -p $PG_PORT -U postgres -XtA -c 'SELECT pg_is_in_recovery()')\" = f ]"
  [ "$(sql catalogue 'SELECT count(*) FROM brands')" = 5001 ] || fail 'the archive was not replayed'
  local found
  found=$(catalogue verify) || fail "verify: $found"
  pass "base backup and archive: 5001 of 5001 brands, the last one from the archive; $found"
}

upgrade() {
  new_catalogue upgrade
  # A release that adds a column.
  mkdir "$WORK/next"
  cp -r dist "$WORK/next/"
  for name in node_modules package.json; do ln -s "$PWD/$name" "$WORK/next/$name"; done
  cat > "$WORK/next/dist/migrations/4102444800000-drill.js" << 'MIGRATION'
export class Drill4102444800000 {
  name = 'Drill4102444800000';
  async up(runner) { await runner.query(`ALTER TABLE brands ADD note text`); }
  async down(runner) { await runner.query(`ALTER TABLE brands DROP note`); }
}
MIGRATION
  start_instance
  local old=$INSTANCE
  start_load
  sleep 1
  RELEASE=$WORK/next catalogue migrate > /dev/null
  sleep 1
  local before=$URL
  RELEASE=$WORK/next start_instance
  local new=$INSTANCE
  judge_load 'migrated while the old release serves' '0 5000'
  start_load
  sleep 1
  stop_instance "$old"
  RELEASE=. start_instance
  judge_load 'the new release serves; the old one starts on its schema' '0 5000'
  [ "$before" != "$URL" ]
  start_load
  stop_instance "$new"
  RELEASE=$WORK/next catalogue migrate --down > /dev/null
  sleep 1
  judge_load 'taken back by migrate --down while the old release serves' '0 5000'
  catalogue verify > /dev/null || fail 'verify after migrate --down'
  stop_instance "$INSTANCE"
}

passwords() {
  new_catalogue passwords
  cp "$PGPASSFILE" "$WORK/pgpass.postgres"
  PGPASSFILE=$WORK/pgpass.service
  install -m 600 "$WORK/pgpass.postgres" "$PGPASSFILE"
  start_instance
  start_load
  sleep 1
  echo "*:*:*:*:changed$PASSWORD" > "$WORK/pgpass.new" && chmod 600 "$WORK/pgpass.new"
  mv "$WORK/pgpass.new" "$PGPASSFILE"
  PGPASSFILE=$WORK/pgpass.postgres sql postgres "ALTER ROLE catalogue PASSWORD 'changed$PASSWORD'"
  # New connections, with the new password.
  PGPASSFILE=$WORK/pgpass.postgres sql postgres "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'catalogue'" > /dev/null
  await answers 200 '/brands?limit=1'
  sleep 1
  judge_load 'the password changed under the running service, and its connections closed' '0 5000' '-2'
  stop_instance "$INSTANCE"
  PGPASSFILE=$WORK/pgpass
}

tls() {
  new_catalogue tls
  (
    cd "$WORK"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '/CN=drill' -keyout ca.key -out ca.crt
    openssl req -newkey rsa:2048 -nodes -subj '/CN=localhost' -keyout server.key -out server.csr
    openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out server.crt \
      -extfile <(echo 'subjectAltName=DNS:localhost')
    cat server.crt server.key > server.pem
  ) > /dev/null 2>&1
  install -m 600 "$WORK/server.key" "$WORK/tls/server.key"
  install -m 644 "$WORK/server.crt" "$WORK/tls/server.crt"
  if [ "$(id -u)" = 0 ]; then chown postgres: "$WORK"/tls/server.*; fi
  sql postgres 'ALTER SYSTEM SET ssl = on' && sql postgres 'SELECT pg_reload_conf()' > /dev/null
  local verified="sslmode=verify-full&sslrootcert=$WORK/ca.crt"
  export DATABASE_URL="postgres://catalogue@localhost:$PG_PORT/catalogue?$verified"
  await catalogue client list
  DATABASE_URL="postgres://catalogue@127.0.0.1:$PG_PORT/catalogue?$verified" catalogue client list > "$WORK/refused" 2>&1 &&
    fail 'another host name is accepted'
  local other
  other=$(tail -1 "$WORK/refused")
  start_instance
  [ "$(sql postgres "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'catalogue'")" = t ] ||
    fail 'a connection of the service has no TLS'
  pass "TLS to PostgreSQL with verify-full; with another host name: $other"

  local proxy operators
  proxy=$(free_port) operators=$(free_port)
  sed -e "s|^  bind :8080|  bind 127.0.0.1:$proxy ssl crt $WORK/server.pem alpn http/1.1|; s|^  bind :8405|  bind 127.0.0.1:$operators|" \
    -e "s|^  server-template .*|  server drill 127.0.0.1:$PORT|; s|^  default-server .*||" deploy/haproxy.cfg > "$WORK/haproxy.cfg"
  cp -r deploy/errors "$WORK/"
  NO_IPV6=1 haproxy -db -f "$WORK/haproxy.cfg" > "$WORK/haproxy.log" 2>&1 &
  PROCESSES+=($!)
  await ask --cacert "$WORK/ca.crt" "https://localhost:$proxy/brands?limit=1"
  ask --cacert "$WORK/ca.crt" "https://localhost:$proxy/brands?limit=1" | grep -q '"count":"5000"' || fail 'no list over TLS'
  ! ask "https://localhost:$proxy/brands" > /dev/null 2>&1 || fail 'a certificate of nobody is accepted'
  pass 'TLS to clients: HAProxy answers with the certificate'
  stop_instance "$INSTANCE"
  unset DATABASE_URL
}

DRILLS='dump in-place physical upgrade passwords tls'
for drill in "${@:-$DRILLS}"; do
  for each in $drill; do
    case " $DRILLS " in
      *" $each "*) "${each//-/_}" ;;
      *)
        echo "usage: $0 [$DRILLS]" >&2
        exit 2
        ;;
    esac
  done
done

#!/usr/bin/env bash
# Starts a cluster on this machine, without containers, and runs until SIGINT: etcd, three PostgreSQL under Patroni,
# HAProxy before them, Redis, two instances of the service, and HAProxy before these.
#
#   deploy/cluster/start.sh FOLDER [async]
#
# The service answers on PORT (3000), PostgreSQL on the ports 5000 (the primary) and 5001 (the replicas).
#
# Requires a build (`npm run build`), curl, openssl and Patroni 4.0.7 or newer, and the Debian packages etcd-server, python3-etcd, postgresql,
# haproxy and redis-server, whose own services must be stopped, since they have the same ports. If you are root,
# PostgreSQL runs as `postgres`.
#
# FOLDER has the data, the logs, the passwords, and for each part a file `<part>.pid` with the identifier of its group of
# processes, and a program `<part>` that starts it again. PostgreSQL is in a group of its own. So a machine is ended by
#
#   kill -9 -- -$(cat FOLDER/member1.pid); kill -9 $(head -1 FOLDER/member1.data/data/postmaster.pid)
set -euo pipefail
cd "$(dirname "$0")/../.."
FOLDER=$(realpath -m "$1")
MODE=${2-}
PORT=${PORT:-3000}
PG_BIN=${PG_BIN:-$(find /usr/lib/postgresql/*/bin -maxdepth 0 | sort -V | tail -1)}
umask 077
as_postgres=()
if [ "$(id -u)" = 0 ]; then as_postgres=(setpriv --reuid=postgres --regid=postgres --init-groups); fi

for port in "$PORT" 2379 2380 5000 5001 5431 5432 5433 6380 8001 8002 8003 8405; do
  if (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; then
    echo "The port $port is in use" >&2
    exit 1
  fi
done
# Warn of what this machine lacks to fence a former primary: see README.md.
patroni=$(patroni --version | grep -o '[0-9][0-9.]*$')
older_than() { ! printf '%s\n' "$1" "$patroni" | sort -VC; }
if older_than 3.1; then
  echo "Patroni $patroni is older than 3.1: a primary that was paused takes over again, and acknowledged writes are lost" >&2
elif older_than 4.0.7; then
  echo "Patroni $patroni is older than 4.0.7: the primary may stop taking writes while etcd is gone" >&2
fi
if ! "${as_postgres[@]}" test -w /dev/watchdog; then
  echo "Patroni has no watchdog (/dev/watchdog): if Patroni alone hangs, its PostgreSQL goes on beside the new primary" >&2
fi
mkdir -p "$FOLDER"
chmod 755 "$FOLDER"
for secret in superuser replication catalogue; do
  [ -e "$FOLDER/$secret.password" ] || openssl rand -hex 16 > "$FOLDER/$secret.password"
done
password() { cat "$FOLDER/$1.password"; }
export PGPASSFILE=$FOLDER/pgpass
printf '127.0.0.1:*:*:%s:%s\n' postgres "$(password superuser)" catalogue "$(password catalogue)" > "$PGPASSFILE"

# Writes a script that starts a part in a group of its own, and runs it.
# $1: its name; further: its command with the environment before it
part() {
  local name=$1
  shift
  {
    echo '#!/usr/bin/env bash'
    printf 'cd %q\n' "$PWD"
    printf 'setsid env'
    printf ' %q' "$@"
    printf ' >> %q 2>&1 &\necho $! > %q\n' "$FOLDER/$name.log" "$FOLDER/$name.pid"
  } > "$FOLDER/$name"
  chmod 700 "$FOLDER/$name"
  "$FOLDER/$name"
}

stop() {
  for name in proxy catalogue1 catalogue2 redis primary member1 member2 member3 etcd; do
    [ -e "$FOLDER/$name.pid" ] || continue
    local group
    group=$(cat "$FOLDER/$name.pid")
    kill -TERM -- "-$group" 2> /dev/null || continue
    for ((attempt = 0; attempt < 300; attempt += 1)); do
      kill -0 -- "-$group" 2> /dev/null || break
      sleep 0.1
    done
  done
  # Of the end of this file.
  kill %% 2> /dev/null || true
}
trap stop EXIT

await() {
  local until=$((SECONDS + 120))
  until "$@" > /dev/null 2>&1; do
    if ((SECONDS > until)); then
      echo "In two minutes: $*" >&2
      exit 1
    fi
    sleep 0.2
  done
}

part etcd etcd --data-dir "$FOLDER/etcd.data" --name etcd --logger zap \
  --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
  --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
  --initial-cluster etcd=http://127.0.0.1:2380 --auto-compaction-mode periodic --auto-compaction-retention 1h
await curl -fs http://127.0.0.1:2379/health

synchronous=true
if [ "$MODE" = async ]; then synchronous=false; fi
# By which address each member reaches etcd: ETCD, so that a test can cut it off.
read -ra etcd <<< "${ETCD:-127.0.0.1:2379 127.0.0.1:2379 127.0.0.1:2379}"
sed "s/synchronous_mode: true/synchronous_mode: $synchronous/" deploy/cluster/patroni.yml > "$FOLDER/patroni.yml"
chmod 644 "$FOLDER/patroni.yml"
for number in 1 2 3; do
  folder=$FOLDER/member$number.data
  mkdir -p "$folder"
  if [ "$(id -u)" = 0 ]; then chown postgres "$folder"; fi
  part "member$number" PATRONI_NAME="member$number" PATRONI_ETCD3_HOSTS="${etcd[number - 1]}" \
    PATRONI_RESTAPI_LISTEN="127.0.0.1:800$number" PATRONI_RESTAPI_CONNECT_ADDRESS="127.0.0.1:800$number" \
    PATRONI_POSTGRESQL_LISTEN="127.0.0.1:543$number" PATRONI_POSTGRESQL_CONNECT_ADDRESS="127.0.0.1:543$number" \
    PATRONI_POSTGRESQL_DATA_DIR="$folder/data" PATRONI_POSTGRESQL_PGPASS="$folder/pgpass" \
    PATRONI_POSTGRESQL_BIN_DIR="$PG_BIN" PATRONI_SUPERUSER_PASSWORD="$(password superuser)" \
    PATRONI_REPLICATION_PASSWORD="$(password replication)" \
    "${as_postgres[@]}" patroni "$FOLDER/patroni.yml"
done

part primary BIND=127.0.0.1 PRIMARY_PORT=5000 REPLICAS_PORT=5001 \
  MEMBER1=127.0.0.1:5431 MEMBER2=127.0.0.1:5432 MEMBER3=127.0.0.1:5433 API1=8001 API2=8002 API3=8003 \
  haproxy -db -f deploy/cluster/haproxy.cfg
await deploy/cluster/database.sh 'host=127.0.0.1 port=5000 user=postgres' "$FOLDER/catalogue.password"
for number in 1 2 3; do await curl -fs "http://127.0.0.1:800$number/health"; done

part redis redis-server --port 6380 --bind 127.0.0.1 --save '' --dir "$FOLDER"
settings=(
  PGPASSFILE="$PGPASSFILE"
  # PRIMARY, so that a test can lead to another server than HAProxy.
  DATABASE_URL="postgres://catalogue@${PRIMARY:-127.0.0.1:5000}/catalogue"
  # The servers themselves: the one that is the primary is left out. Or HAProxy's port 5001.
  DATABASE_REPLICA_URLS="${REPLICA_URLS:-$(printf 'postgres://catalogue@127.0.0.1:543%s/catalogue,' 1 2 3 | sed 's/,$//')}"
  # Longer than a failover, during which no replica can know whether there are newer commits.
  MAX_REPLICA_LAG_MS=60000
  REDIS_URL=redis://127.0.0.1:6380/0
  TRUST_PROXY=1
)
env "${settings[@]}" node dist/main.js migrate
for number in 1 2; do
  part "catalogue$number" "${settings[@]}" HOST="127.0.0.1$number" PORT="$PORT" ADMIN_PORT=9090 node dist/main.js start
done

# As in the compose file, with the two instances instead of the addresses that a name server gives.
cp -r deploy/errors "$FOLDER"
sed -e "s/bind :8080/bind 127.0.0.1:$PORT/; s/bind :8405/bind 127.0.0.1:8405/; /^resolvers/,/^$/d; /default-server resolvers/d" \
  -e 's/^  server-template .*/  server catalogue1 "127.0.0.11:$PORT"\n  server catalogue2 "127.0.0.12:$PORT"/' \
  deploy/haproxy.cfg > "$FOLDER/haproxy.cfg"
part proxy NO_IPV6=1 PORT="$PORT" ADMIN_PORT=9090 haproxy -db -f "$FOLDER/haproxy.cfg"
await curl -fs http://127.0.0.1:8405/ready

echo "The service answers on http://127.0.0.1:$PORT"
echo "Commands: PGPASSFILE=$PGPASSFILE DATABASE_URL=postgres://catalogue@127.0.0.1:5000/catalogue npm run -s catalogue -- client create acme"
sleep infinity &
wait $!

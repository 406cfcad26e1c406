#!/bin/sh
# Runs a streaming replica of the service `postgres`, with the given options. The first start copies the data.
set -eu
export PGPASSFILE=/secrets/replication.pgpass

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # The slot retains the WAL that the replica has not received yet, even while it is stopped.
  psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --output /dev/null \
    'host=postgres user=replication dbname=catalogue' << 'SQL'
SELECT pg_create_physical_replication_slot('replica')
WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = 'replica');
SQL
  # Renamed when complete, so that an interrupted copy is started again.
  rm -rf "$PGDATA.new"
  mkdir -p "$(dirname "$PGDATA")"
  pg_basebackup --host postgres --username replication --slot replica --write-recovery-conf \
    --checkpoint fast --pgdata "$PGDATA.new"
  rm -rf "$PGDATA"
  mv "$PGDATA.new" "$PGDATA"
fi

exec sh /postgres.sh postgres "$@"

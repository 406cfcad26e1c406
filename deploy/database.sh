#!/bin/sh
# Runs once on a new database cluster. Creates the role that owns the database, and that for replicas.
set -eu

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres << 'SQL'
\set catalogue `cat /secrets/catalogue`
\set replication `cat /secrets/replication`
CREATE ROLE catalogue LOGIN PASSWORD :'catalogue';
CREATE ROLE replication LOGIN REPLICATION PASSWORD :'replication';
CREATE DATABASE catalogue OWNER catalogue;
SQL

echo 'host replication replication all scram-sha-256' >> "$PGDATA/pg_hba.conf"

#!/bin/sh
# Creates the role and the database of the service on a new cluster.
# $1: the primary, in the words of libpq; $2: the file with the password of the role
set -eu

PASSWORD_FILE=$2 psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 "$1" << 'SQL'
\set password `cat "$PASSWORD_FILE"`
SELECT format('CREATE ROLE catalogue LOGIN PASSWORD %L', :'password')
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'catalogue') \gexec
SELECT 'CREATE DATABASE catalogue OWNER catalogue'
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'catalogue') \gexec
SQL

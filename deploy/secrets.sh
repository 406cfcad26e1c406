#!/bin/sh
# Creates the passwords of the database once. Each file is readable only by the users that need it.
set -eu
umask 077
cd /secrets

# Creates a password file with the name $1, if there is none.
password() {
  [ -s "$1" ] && return
  head -c 32 /dev/urandom | base64 | tr -d '\n=' | tr '+/' '-_' > "$1.new"
  chown postgres: "$1.new"
  mv "$1.new" "$1"
}

# Creates a password file of libpq for the role $1, owned by $2:
# https://www.postgresql.org/docs/current/libpq-pgpass.html
pgpass() {
  printf '*:*:*:%s:%s\n' "$1" "$(cat "$1")" > "$1.pgpass.new"
  chown "$2" "$1.pgpass.new"
  mv "$1.pgpass.new" "$1.pgpass"
}

chmod 755 .
password postgres
password catalogue
password replication
# 1000 is the user `node` of the service's image.
pgpass catalogue 1000:1000
pgpass replication postgres:

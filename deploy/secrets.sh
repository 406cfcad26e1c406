#!/bin/sh
# Makes the passwords of the database once, each readable only by those who need it.
set -eu
umask 077
cd /secrets

# A password under a name, unless there is one.
password() {
  [ -s "$1" ] && return
  head -c 32 /dev/urandom | base64 | tr -d '\n=' | tr '+/' '-_' > "$1.new"
  chown postgres: "$1.new"
  mv "$1.new" "$1"
}

# A password file as libpq has it, https://www.postgresql.org/docs/current/libpq-pgpass.html
pgpass() {
  printf '*:*:*:%s:%s\n' "$1" "$(cat "$1")" > "$1.pgpass.new"
  chown "$2" "$1.pgpass.new"
  mv "$1.pgpass.new" "$1.pgpass"
}

chmod 755 .
password postgres
password catalogue
password replication
# The user `node` of the service's image.
pgpass catalogue 1000:1000
pgpass replication postgres:

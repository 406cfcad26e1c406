#!/usr/bin/env bash
# Changes the password of the role `catalogue`, `replication` or `postgres` that the compose file has created, while
# everything runs. Open connections stay; new ones use the new password from then on.
#
#   deploy/passwords.sh catalogue
#
# COMPOSE overrides `docker compose`.
set -euo pipefail
cd "$(dirname "$0")/.."
COMPOSE=${COMPOSE:-docker compose}

case "$*" in
  catalogue | replication | postgres) role=$1 ;;
  *)
    echo "usage: $0 catalogue|replication|postgres" >&2
    exit 2
    ;;
esac

compose() {
  # Unquoted: the command may consist of two words.
  # shellcheck disable=SC2086
  $COMPOSE "$@"
}

# psql waits for its statement while the files are replaced, so that a new connection is refused for milliseconds
# only. It reads the password itself: what a container prints is in its log. Without a terminal, on which `rm` would
# ask. By the local socket, which asks for no password.
compose run --rm -T --no-deps --entrypoint sh secrets -c "rm -f /secrets/$role && sh /secrets.sh && cat" << SQL |
\set password \`cat /secrets/$role\`
ALTER ROLE $role PASSWORD :'password';
SQL
  compose exec -T postgres psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username postgres
echo "The password of $role is changed"

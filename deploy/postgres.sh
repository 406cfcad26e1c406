#!/bin/sh
# Runs a program that starts PostgreSQL, with settings for the memory of the container and the given options.
# $1: the program
set -eu

program=$1
shift

# The limit in bytes, by cgroup v2 or v1. Without one it is `max`, or more than the machine has.
limit=$(cat /sys/fs/cgroup/memory.max 2> /dev/null || cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2> /dev/null || true)
megabytes=$(($(awk '/^MemTotal:/ { print $2 }' /proc/meminfo) / 1024))
case $limit in
  '' | *[!0-9]* | ????????????????*) ;;
  *) if [ $((limit / 1048576)) -lt $megabytes ]; then megabytes=$((limit / 1048576)); fi ;;
esac

# The larger of two numbers.
at_least() { if [ "$1" -gt "$2" ]; then echo "$1"; else echo "$2"; fi; }

# The given options come last, and prevail.
# - shared_buffers: a quarter, as PostgreSQL's documentation has it for a server of its own
# - effective_cache_size: the planner's estimate of this and of the cache of files
# - maintenance_work_mem: for indexes that are built, and for each of three workers of autovacuum
# - max_wal_size: an import of a million rows writes several times the default of 1 GB
# - checkpoint_timeout: the first change of a page after a checkpoint writes the page to the log. With 30 updates a
#   second, these 15 minutes write 0.6 times as much as the default of 5.
# - wal_compression: halves these pages. lz4 takes an eighth of the CPU time of pglz.
exec "$program" \
  -c "shared_buffers=$(at_least $((megabytes / 4)) 128)MB" \
  -c "effective_cache_size=$(at_least $((megabytes * 3 / 4)) 256)MB" \
  -c "maintenance_work_mem=$(at_least $((megabytes / 16)) 64)MB" \
  -c max_wal_size=4GB \
  -c checkpoint_timeout=15min \
  -c wal_compression=lz4 \
  "$@"

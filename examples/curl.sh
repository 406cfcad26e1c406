#!/usr/bin/env bash
# The catalogue with nothing but curl. CATALOGUE_URL, CLIENT_ID and ACCESS_TOKEN say whose.
set -euo pipefail

url=${CATALOGUE_URL:-http://127.0.0.1:3000}

# Asks for a path. Refusals are printed too, and what is busy or counted out is asked again: curl
# waits as long as Retry-After says.
catalogue() {
  curl --silent --show-error --compressed --retry 5 \
    --header "X-Client-ID: ${CLIENT_ID:-demo}" \
    --header "Authorization: Bearer ${ACCESS_TOKEN:-demo-token}" \
    "$url$1" "${@:2}"
}

echo '# Two products, two fields of each, and the count of all'
catalogue '/products?fields=productID,name&limit=2'
echo

echo '# What a refusal says'
catalogue '/products?colour=red'
echo

echo '# The parameters that there are'
catalogue /brands --request OPTIONS
echo

echo '# A page and the one that it links to'
path='/brands?fields=brandID&limit=20'
headers=$(mktemp)
for _ in 1 2; do
  catalogue "$path" --dump-header "$headers"
  echo
  # Relative to the URL of the list.
  next=$(sed -n 's/^link: <\([^>]*\)>; rel="next".*/\1/ip' "$headers")
  [ -n "$next" ] || break
  path="/brands$next"
done
rm "$headers"

echo '# A whole list as CSV'
catalogue /categories --header 'Accept: text/csv' | sed -n 1,3p

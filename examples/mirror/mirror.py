#!/usr/bin/env python3
"""Keeps a copy of the products of a catalogue service in a file of SQLite, with the standard library alone.

    python3 mirror.py products.db [--once]

CATALOGUE_URL, CLIENT_ID and ACCESS_TOKEN say whose products. A round reads what has changed since the round before,
and is one transaction together with the mark of the next one. So whoever reads the file sees all of a round or
nothing of it, and this program may be killed at any time. With --once it ends after the first round.
"""
import json
import os
import signal
import sqlite3
import sys
import time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

URL = os.environ.get('CATALOGUE_URL', 'http://127.0.0.1:3000').rstrip('/')
HEADERS = {
    'X-Client-ID': os.environ.get('CLIENT_ID', 'demo'),
    'Authorization': 'Bearer ' + os.environ.get('ACCESS_TOKEN', 'demo-token'),
    'Accept': 'application/x-ndjson',
}
# The fields of the copy, and their types in SQLite. Prices are texts, which keep every digit; lists are JSON.
FIELDS = {
    'productID': 'TEXT PRIMARY KEY',
    'refID': 'TEXT',
    'type': 'TEXT',
    'name': 'TEXT',
    'description': 'TEXT',
    'brandID': 'TEXT',
    'categoryID': 'TEXT',
    'price': 'TEXT',
    'currency': 'TEXT',
    'stock': 'INTEGER',
    'colours': 'TEXT',
    'imageURL': 'TEXT',
    'createdAt': 'TEXT',
    'updatedAt': 'TEXT',
}
TIMEOUT = 80  # seconds without data, after which a request fails
PAUSE = 1  # seconds between two rounds at least
PAUSE_AFTER_FAILURE = 5  # seconds, where the service does not say how long


class Refusal(Exception):
    """The service answered with an error."""

    def __init__(self, error):
        try:
            result = json.load(error)['result']
            self.errcode, message = result['errcode'], result['msg']
        except (ValueError, TypeError, KeyError):
            # Something else answered, such as a proxy.
            self.errcode, message = None, str(error)
        super().__init__(f'{message} ({self.errcode})')
        retry_after = error.headers.get('Retry-After', '')
        self.pause = int(retry_after) if retry_after.isdigit() else PAUSE_AFTER_FAILURE
        # What is wrong with a request stays wrong. Other errors pass.
        self.is_final = error.code < 500 and not retry_after


def read(path, query):
    """The X-Updated-Until of a whole list, and its objects as they come."""
    try:
        response = urlopen(Request(f'{URL}{path}?{urlencode(query)}', headers=HEADERS), timeout=TIMEOUT)
    except HTTPError as error:
        raise Refusal(error) from None
    return response.headers['X-Updated-Until'], objects_of(response)


def wait(tag):
    """Waits until a product has changed or was deleted since the list had an entity tag, or for 50 seconds.

    Returns the entity tag that it has then.
    """
    headers = {**HEADERS, 'Accept': 'application/json', 'Prefer': 'wait=50', 'If-None-Match': tag or ''}
    try:
        with urlopen(Request(f'{URL}/products?limit=0', headers=headers), timeout=TIMEOUT) as response:
            return response.headers['ETag']
    except HTTPError as error:
        if error.code == 304:
            return tag
        raise Refusal(error) from None


def objects_of(response):
    total = response.headers['X-Total-Count']
    count = 0
    with response:
        for line in response:
            yield json.loads(line)
            count += 1
    if str(count) != total:
        raise HTTPException(f'The response ended after {count} of {total} objects')


def put(db, since):
    """Inserts or replaces the products that have changed since a time. Returns the X-Updated-Until."""
    until, products = read('/products', {'updatedSince': since, 'fields': ','.join(FIELDS)})
    values = ([in_sqlite(product[field]) for field in FIELDS] for product in products)
    db.executemany(f'REPLACE INTO products VALUES ({",".join("?" * len(FIELDS))})', values)
    return until


def in_sqlite(value):
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def follow(db, since):
    """Brings the copy up to date. Returns the mark of the next round."""
    # In this order: a product that was deleted and exists again is not listed as deleted.
    until = put(db, since)
    # Should what was read just now be lost in a failover, the service notices it by the newer mark.
    since = with_mark(since, until)
    query = {'deletedSince': since, 'fields': 'productID'}
    deleted_until, deletions = read('/deletions/products', query)
    identifiers = ([deletion['productID']] for deletion in deletions)
    db.executemany('DELETE FROM products WHERE productID = ?', identifiers)
    return with_mark(until or since, deleted_until)


def with_mark(moment, marked):
    """A time with the mark of another one, which is what follows the milliseconds."""
    return moment[:23] + marked[23:] if marked else moment


def run_round(db):
    with db:
        db.execute('BEGIN IMMEDIATE')
        [since] = db.execute('SELECT since FROM mark').fetchone()
        db.execute('UPDATE mark SET since = ?', [next_mark(db, since)])


def next_mark(db, since):
    if since is not None:
        try:
            return follow(db, since)
        except Refusal as refusal:
            # Deletions are no longer kept for so long, or commits were lost that the copy has.
            if refusal.errcode not in ('-26', '-38'):
                raise
            print(f'The copy begins again: {refusal}', file=sys.stderr)
    db.execute('DELETE FROM products')
    return put(db, '1970-01-01T00:00:00Z')


def main(file, once):
    db = sqlite3.connect(file, isolation_level=None)
    columns = ', '.join(f'{field} {type_}' for field, type_ in FIELDS.items())
    # With the log of WAL, others can read the file while a round writes to it.
    db.executescript(f'''
        PRAGMA journal_mode = WAL;
        CREATE TABLE IF NOT EXISTS products ({columns});
        CREATE TABLE IF NOT EXISTS mark (since TEXT);
        INSERT INTO mark SELECT NULL WHERE NOT EXISTS (SELECT * FROM mark);
    ''')
    tag = None
    while True:
        try:
            # What changes during the round makes another one, and so does a failure.
            tag, seen = None, wait(tag)
            run_round(db)
            tag = seen
            if once:
                return
            pause = PAUSE
        except Refusal as refusal:
            if refusal.is_final:
                sys.exit(str(refusal))
            pause = refusal.pause
            print(f'{refusal}: again in {pause} s', file=sys.stderr)
        except (OSError, HTTPException, json.JSONDecodeError) as error:
            pause = PAUSE_AFTER_FAILURE
            print(f'{error}: again in {pause} s', file=sys.stderr)
        time.sleep(pause)


if __name__ == '__main__':
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ['--once']):
        sys.exit(__doc__)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C, too, may end it at any time
    main(sys.argv[1], '--once' in sys.argv)

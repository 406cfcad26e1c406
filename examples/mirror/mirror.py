#!/usr/bin/env python3
"""Keeps a copy of the catalogue of a service in a file of SQLite, with the standard library alone.

    python3 mirror.py catalogue.db [--once | --status]

CATALOGUE_URL, CLIENT_ID and ACCESS_TOKEN say whose catalogue. A round reads what has changed in all tables since the
round before, as it is at one moment, and is one transaction together with the mark of the next round. So whoever reads
the file sees all of a round or nothing of it, and no product before its brand. This program may be killed at any time.
With --once it ends after the first round; --status says how old the copy is.
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
# The tables of the copy, and the types of their fields in SQLite. Prices are texts, which keep every digit; lists are
# JSON. References are checked at the end of a round.
TABLES = {
    'brands': {
        'brandID': 'TEXT PRIMARY KEY',
        'name': 'TEXT',
    },
    'categories': {
        'categoryID': 'TEXT PRIMARY KEY',
        'parentID': 'TEXT REFERENCES categories DEFERRABLE INITIALLY DEFERRED',
        'name': 'TEXT',
    },
    'products': {
        'productID': 'TEXT PRIMARY KEY',
        'refID': 'TEXT',
        'type': 'TEXT',
        'name': 'TEXT',
        'description': 'TEXT',
        'brandID': 'TEXT REFERENCES brands DEFERRABLE INITIALLY DEFERRED',
        'categoryID': 'TEXT REFERENCES categories DEFERRABLE INITIALLY DEFERRED',
        'price': 'TEXT',
        'currency': 'TEXT',
        'stock': 'INTEGER',
        'colours': 'TEXT',
        'imageURL': 'TEXT',
        'createdAt': 'TEXT',
        'updatedAt': 'TEXT',
    },
}
QUERY = {
    'resources': ','.join(TABLES),
    'fields': ','.join(f'{table}.{field}' for table, fields in TABLES.items() for field in fields),
}
TIMEOUT = 80  # seconds without data, after which a request fails
PAUSE = 0.3  # seconds between two rounds at least
PAUSE_AFTER_FAILURE = 5  # seconds, where the service does not say how long
BATCH_SIZE = 1000


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


def read(since, tag):
    """The headers of what changed since a mark, or of everything, and its lines as they come.

    With the entity tag of the round before, it waits for a change, for up to 50 seconds; without one there are no lines.
    """
    waiting = {'Prefer': 'wait=50', 'If-None-Match': tag} if tag else {}
    query = {**QUERY, 'since': since} if since else QUERY
    try:
        response = urlopen(Request(f'{URL}/changes?{urlencode(query)}', headers={**HEADERS, **waiting}), timeout=TIMEOUT)
    except HTTPError as error:
        if error.code == 304:
            return error.headers, []
        raise Refusal(error) from None
    return response.headers, lines_of(response)


def lines_of(response):
    total = response.headers['X-Total-Count']
    count = 0
    with response:
        for line in response:
            yield json.loads(line)
            count += 1
    if str(count) != total:
        raise HTTPException(f'The response ended after {count} of {total} lines')


def write(db, changes):
    """Writes changes in their order, many at a time."""
    pending, values = None, []
    for change in changes:
        statement, value = statement_of(change)
        if values and (statement != pending or len(values) == BATCH_SIZE):
            db.executemany(pending, values)
            values = []
        pending = statement
        values.append(value)
    if values:
        db.executemany(pending, values)


def statement_of(change):
    table = change['resource']
    identifier, *others = TABLES[table]
    if 'deleted' in change:
        return f'DELETE FROM {table} WHERE {identifier} = ?', [change['deleted']]
    # Not REPLACE, which deletes the row before, with what refers to it.
    changed = ', '.join(f'{field} = excluded.{field}' for field in others)
    values = [in_sqlite(change['object'][field]) for field in TABLES[table]]
    places = ', '.join('?' * len(values))
    return f'INSERT INTO {table} VALUES ({places}) ON CONFLICT ({identifier}) DO UPDATE SET {changed}', values


def in_sqlite(value):
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def run_round(db, tag):
    """Brings the copy up to date. Returns the entity tag of what it is then."""
    [since] = db.execute('SELECT since FROM mark').fetchone()
    try:
        headers, changes = read(since, since and tag)
    except Refusal as refusal:
        # Deletions are no longer kept for so long, or commits were lost that the copy has.
        if since is None or refusal.errcode not in ('-26', '-38'):
            raise
        print(f'The copy begins again: {refusal}', file=sys.stderr)
        since = None
        headers, changes = read(None, None)
    with db:
        db.execute('BEGIN IMMEDIATE')
        if since is None:
            for table in TABLES:
                db.execute(f'DELETE FROM {table}')
        write(db, changes)
        db.execute('UPDATE mark SET since = ?, confirmed = ?', [headers['X-Updated-Until'] or since, time.time()])
    return headers['ETag']


def status_of(db):
    [since, confirmed] = db.execute('SELECT since, confirmed FROM mark').fetchone()
    if since is None:
        return 'The copy is not complete'
    return f'Complete {time.time() - confirmed:.0f} s ago, with every change before {since[:23]}Z'


def main(file, mode):
    db = sqlite3.connect(file, isolation_level=None)
    for table, fields in TABLES.items():
        columns = ', '.join(f'{field} {type_}' for field, type_ in fields.items())
        db.execute(f'CREATE TABLE IF NOT EXISTS {table} ({columns})')
    # With the log of WAL, others can read the file while a round writes to it.
    db.executescript('''
        PRAGMA journal_mode = WAL;
        PRAGMA foreign_keys = ON;
        CREATE TABLE IF NOT EXISTS mark (since TEXT, confirmed REAL);
        INSERT INTO mark SELECT NULL, NULL WHERE NOT EXISTS (SELECT * FROM mark);
    ''')
    if mode == '--status':
        print(status_of(db))
        return
    tag = None
    while True:
        try:
            # A failure makes another round, and so does what changes during one.
            tag = run_round(db, tag)
            if mode == '--once':
                return
            pause = PAUSE
        except Refusal as refusal:
            if refusal.is_final:
                sys.exit(str(refusal))
            tag, pause = None, refusal.pause
            print(f'{refusal}: again in {pause} s', file=sys.stderr)
        # A response that was cut within a line, or within a character, is a ValueError.
        except (OSError, HTTPException, ValueError) as error:
            tag, pause = None, PAUSE_AFTER_FAILURE
            print(f'{error}: again in {pause} s', file=sys.stderr)
        time.sleep(pause)


if __name__ == '__main__':
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ['--once'], ['--status']):
        sys.exit(__doc__)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C, too, may end it at any time
    main(sys.argv[1], *(sys.argv[2:] or [None]))

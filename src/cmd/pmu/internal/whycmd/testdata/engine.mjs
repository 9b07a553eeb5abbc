// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// engine.mjs runs SQL on an engine that npm has, in this process:
//
//	node engine.mjs clickhouse|duckdb MODULES DIR
//
// MODULES is where node_modules is, and DIR keeps the tables. Standard input is a JSON array of
// texts of SQL, of any number of statements each, in one session. It prints a JSON array with
// the rows of each text's last statement, whose cells are strings, or null.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [engine, modules, dir] = process.argv.slice(2);
const require = createRequire(join(modules, 'x.js'));

async function clickhouse() {
	const { Session } = require('chdb');
	const session = new Session(dir);
	return async sql => session.query(sql, 'JSONCompactEachRow').split('\n').filter(line => line).map(line => JSON.parse(line));
}

async function duckdb() {
	const { DuckDBInstance } = require('@duckdb/node-api');
	const connection = await (await DuckDBInstance.create(join(dir, 'db'))).connect();
	return async sql => (await connection.runAndReadAll(sql)).getRowsJson();
}

async function main() {
	const query = await { clickhouse, duckdb }[engine]();
	const results = [];
	for (const sql of JSON.parse(readFileSync(0, 'utf8'))) {
		const rows = await query(sql);
		results.push(rows.map(row => row.map(cell => cell === null ? null : String(cell))));
	}
	return results;
}

main().then(
	results => process.stdout.write(JSON.stringify(results), () => process.exit(0)),
	err => process.stderr.write(err.message + '\n', () => process.exit(1)));

"use strict";
// Shops for the tests of the ledger: a ledger with a clock of its own, and a wallet, over each
// engine that is there. Tests/Stores/with_engines.py starts the servers and names them in
// ASSAY_STORE_POSTGRES and so on; NODE_PATH leads to pg, mysql and redis.

const { execFileSync } = require("node:child_process");
const { mkdtempSync, readFileSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { sender } = require("./dynamodb.cjs");
const { PACKAGE } = require("./table.cjs");

const ledgers = require(join(PACKAGE, "ledger.cjs"));
const { Ledger, SQLite, Postgres, MariaDB, DynamoDB } = ledgers;

const folder = mkdtempSync(join(tmpdir(), "assay-ledger-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
let number = 0;
const next = () => number += 1;

function mint(kind, ...rest) {
  if (!process.env.ASSAY_CLI) throw new Error("ASSAY_CLI is not set: run `make check-node`");
  const authority = process.env.ASSAY_AUTHORITY ?? join(folder, "authority");
  return execFileSync(process.env.ASSAY_CLI, ["mint", kind, "--authority", authority, ...rest],
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}

/** Return the JWS of a purchase of 100 coins, with an id of its own. */
function coins(...rest) {
  const id = String(2_000_000_000_000_000 + process.pid * 100_000 + next());
  return mint("transaction", "--type", "consumable", "--product", "com.example.app.coins100",
    "--transaction-id", id, "--original-transaction-id", id, ...rest);
}

let config;
function configuration(more) {
  config ??= mint("transaction") && JSON.parse(
    readFileSync(join(process.env.ASSAY_AUTHORITY ?? join(folder, "authority"), "config.json")));
  return { ...config, ...more };
}

/** Return the address of an engine, or why there is none. */
function engine(name) {
  const variable = `ASSAY_STORE_${name.toUpperCase()}`;
  const address = process.env[variable];
  return address ? { address: new URL(address) }
    : { missing: process.env[`${variable}_MISSING`] ?? `${variable} is not set` };
}

const TABLE = "CREATE TABLE wallet (grant_id VARCHAR(100) NOT NULL PRIMARY KEY," +
  " account VARCHAR(255) NOT NULL, coins BIGINT NOT NULL)";
const SUMS = "SELECT account, SUM(coins) FROM wallet GROUP BY account";
const insert = (id, account, count) =>
  `INSERT INTO wallet VALUES ('${id}', '${account}', ${count})`;

/** What a shop does with SQL; `ask` runs a statement on a connection of the shop's own. */
class SQLShop {
  constructor(made) { Object.assign(this, { isSQL: true, name: `shop${process.pid}_${next()}`, ...made }); }
  async setUp() { await this.ask(TABLE); }

  // Grants in the transaction of the claim, and in one of its own.
  pay = (grant) => this.write(grant.connection, insert(grant.grantId, grant.account, 100 * grant.units));
  payLater = (grant) => this.ask(insert(grant.grantId, grant.account, 100 * grant.units));
  back = (take) => this.write(take.connection, insert(take.takeId, take.account, -100 * take.units));
  backLater = (take) => this.ask(insert(take.takeId, take.account, -100 * take.units));
  write = (connection, text) => connection.query(text);
  async sums() {
    return Object.fromEntries((await this.ask(SUMS)).map(([account, sum]) => [account, Number(sum)]));
  }
}

/** A class with the calls of better-sqlite3, over node:sqlite. */
function pretendedSqlite() {
  const { DatabaseSync } = require("node:sqlite");
  return class Database {
    #real;
    constructor(path, { fileMustExist }) {
      if (fileMustExist) readFileSync(path, { flag: "r" });
      this.#real = this.#tried(() => new DatabaseSync(path));
    }
    #tried(call) {
      try {
        return call();
      } catch (error) {
        if (error.errcode === undefined) throw error;
        const word = { 5: "BUSY", 14: "CANTOPEN", 19: "CONSTRAINT", 8: "READONLY" };
        throw Object.assign(new Error(error.message),
          { code: `SQLITE_${word[error.errcode & 0xff] ?? "ERROR"}` });
      }
    }
    get inTransaction() { return this.#real.isTransaction; }
    exec(text) { this.#tried(() => this.#real.exec(text)); return this; }
    close() { this.#real.close(); }
    prepare(text) {
      const real = this.#tried(() => this.#real.prepare(text));
      return {
        raw() { real.setReturnArrays(true); return this; },
        safeIntegers() { real.setReadBigInts(true); return this; },
        all: (...given) => this.#tried(() => real.all(...given)),
        run: (...given) => this.#tried(() => real.run(...given)),
      };
    }
  };
}

function sqlite(given) {
  const { DatabaseSync } = require("node:sqlite");
  const path = process.env.ASSAY_SHOP ?? join(folder, `shop${next()}.db`);
  const made = new SQLShop({
    engine: "sqlite", path,
    executor: new SQLite(path, given),
    own: new DatabaseSync(path, { timeout: 5000 }),
    async ask(text) {
      const statement = this.own.prepare(text);
      statement.setReturnArrays(true);
      return statement.all();
    },
    write: (connection, text) => connection.prepare(text).run(),
  });
  made.end = () => made.own.close();
  return made;
}

async function postgres() {
  const { Pool } = require("pg");
  const { hostname: host, port, username: user } = engine("postgres").address;
  const made = new SQLShop({ engine: "postgres" });
  const pool = (database, more) => {
    const found = new Pool({ host, port, user, database, max: 20, ...more });
    found.on("error", () => {});
    return found;
  };
  const outer = pool("postgres");
  if (process.env.ASSAY_SHOP) made.name = process.env.ASSAY_SHOP;
  else await outer.query(`CREATE DATABASE ${made.name}`);
  await outer.end();
  made.open = (more, database = made.name) => pool(database, more);
  made.pools = [made.open(), made.open()];
  made.executor = new Postgres(made.pools[0]);
  made.ask = async (text) => (await made.pools[1].query({ text, rowMode: "array" })).rows;
  made.end = () => Promise.all(made.pools.map((each) => each.end()));
  return made;
}

/** A pool with the calls of mysql2/promise, over one of mysql. */
function pretendedMysql2(pool) {
  const promise = (call) => new Promise((resolve, reject) => call((error, ...found) =>
    error ? reject(error) : resolve(found)));
  return {
    pool,
    async getConnection() {
      const [real] = await promise((done) => pool.getConnection(done));
      return {
        query: (...given) => promise((done) => real.query(...given, done)),
        execute: (...given) => promise((done) => real.query(...given, done)),
        release: () => real.release(), destroy: () => real.destroy(),
      };
    },
  };
}

async function mariadb(isPretended) {
  const mysql = require("mysql");
  const { hostname: host, port, username: user } = engine("mariadb").address;
  const made = new SQLShop({ engine: "mariadb" });
  made.open = (more) => mysql.createPool({ host, port, user, database: made.name, charset: "utf8mb4",
    connectionLimit: 20, ...more });
  const asked = (pool, sql) => new Promise((resolve, reject) => pool.query(sql,
    (error, rows) => error ? reject(error) : resolve(rows)));
  if (process.env.ASSAY_SHOP) {
    made.name = process.env.ASSAY_SHOP;
  } else {
    const outer = made.open({ database: "assay" });
    await asked(outer, `CREATE DATABASE ${made.name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
    outer.end();
  }
  made.pools = [made.open(), made.open()];
  made.executor = new MariaDB(isPretended ? pretendedMysql2(made.pools[0]) : made.pools[0]);
  made.ask = async (text) => {
    const found = await asked(made.pools[1], text);
    return Array.isArray(found) ? found.map((row) => Object.values(row)) : [];
  };
  made.end = () => made.pools.forEach((pool) => pool.end());
  return made;
}

async function dynamodb(isPretended) {
  const send = sender(engine("dynamodb").address);
  const table = process.env.ASSAY_SHOP ?? `shop${process.pid}_${next()}`;
  const put = (id, account, count) => ({ TableName: table, Item: { PK: { S: `COINS#${id}` },
    SK: { S: "COINS" }, account: { S: account }, coins: { N: String(count) } },
  ConditionExpression: "attribute_not_exists(PK)" });
  const sdk = new Proxy({}, { get: (_, name) => class {
    constructor(input) { this.asked = [String(name).replace(/Command$/, ""), input]; }
  } });
  const pretended = { send: (command, how) => send(...command.asked, how) };
  return {
    engine: "dynamodb", isSQL: false, name: table, ledger: { table }, async setUp() {},
    executor: isPretended ? new DynamoDB(pretended, sdk) : new DynamoDB(send),
    pay: ({ connection, grantId, account, units }) => {
      connection.push({ Put: put(grantId, account, 100 * units) });
    },
    payLater: ({ grantId, account, units }) => send("PutItem", put(grantId, account, 100 * units)),
    back: ({ connection, takeId, account, units }) => {
      connection.push({ Put: put(takeId, account, -100 * units) });
    },
    backLater: ({ takeId, account, units }) => send("PutItem", put(takeId, account, -100 * units)),
    async sums() {
      const found = {};
      for (const { SK, account, coins: count } of (await send("Scan", { TableName: table })).Items) {
        if (SK.S === "COINS") found[account.S] = (found[account.S] ?? 0) + Number(count.N);
      }
      return found;
    },
    async end() {},
  };
}

const MADE = {
  "sqlite": [() => sqlite()],
  "sqlite, better-sqlite3 pretended": [() => sqlite({ Database: pretendedSqlite() })],
  "postgres": [postgres, "postgres"],
  "mariadb": [() => mariadb(false), "mariadb"],
  "mariadb, mysql2 pretended": [() => mariadb(true), "mariadb"],
  "dynamodb": [() => dynamodb(false), "dynamodb"],
  "dynamodb, SDK pretended": [() => dynamodb(true), "dynamodb"],
};

/** Why an engine cannot be tested here; undefined if it can. */
function missing(name) {
  const server = MADE[name][1];
  const wanted = { postgres: "pg", mariadb: "mysql" }[server];
  try {
    if (wanted) require(wanted);
    if (!server && !require("node:sqlite").StatementSync.prototype.setReturnArrays) {
      return `node:sqlite of ${process.version} is older than that of 22.16`;
    }
  } catch (error) {
    return error.message.split("\n")[0];
  }
  return server ? engine(server).missing : undefined;
}

/** Return a new shop over an engine, with further members of the configuration. */
async function open(name, more) {
  const shop = await MADE[name][0]();
  shop.now = Date.now();
  shop.purchases = new Ledger(shop.executor,
    { ...configuration(more), ledger: { ...more?.ledger, ...shop.ledger } }, { clock: () => shop.now });
  if (!process.env.ASSAY_SHOP) {
    await shop.setUp();
    await shop.purchases.createSchema();
  }
  return shop;
}

module.exports = { MADE, coins, configuration, engine, folder, ledgers, mint, missing, next,
  open, pretendedMysql2, sender };

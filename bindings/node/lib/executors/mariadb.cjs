"use strict";
// The executor for MariaDB 10.6 or later, over a pool of mysql2 or of mysql.

const { promisify } = require("node:util");
const { refuse } = require("../arguments.cjs");
const { misuse } = require("./guard.cjs");
const { Fault, GRACE_MS, STANDBY, lost, rows, unreached, within } = require("./replies.cjs");
const { SQLSession, connected, placed } = require("./sql.cjs");

const ASKED = "SELECT @@in_transaction, @@global.read_only, @@character_set_client, @@sql_mode," +
  " @@autocommit";
const ISOLATION = "TRANSACTION ISOLATION LEVEL READ COMMITTED";
// The clients put values in quotes themselves, and escape those inside with backslashes: a mode
// with NO_BACKSLASH_ESCAPES would let a value end its quotes (STO-75).
const MODE = "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION";
// What a session needs for statements outside of transactions, and for values in their quotes.
const SETTINGS = [`SET SESSION ${ISOLATION}`, `SET SESSION sql_mode = '${MODE}'`];
// Of a server that is gone, and of a reply that did not arrive.
const LOST = [2006, 2013, 4031];
const codeOf = (error) => error.sqlState && error.errno;

/** Return a pool whose methods give promises: mysql2/promise, or one of the others. */
function promised(pool) {
  if (typeof pool?.getConnection !== "function") {
    throw refuse("the first argument", "a pool of mysql2 or mysql", pool);
  }
  if (typeof pool.promise === "function") return pool.promise();
  if (pool.pool !== undefined) return pool;
  return {
    async getConnection() {
      const real = await promisify(pool.getConnection).call(pool);
      return {
        query: (...asked) => new Promise((resolve, reject) => real.query(...asked,
          (error, ...found) => error ? reject(error) : resolve(found))),
        connection: real,
        release: () => real.release(),
        destroy: () => real.destroy(),
      };
    },
  };
}

/** A pool of connections with charset utf8mb4, which the host may use as well. */
class MariaDB {
  engine = "mariadb";
  wraps = false; // each statement has its limits (STO-76)
  #pool;
  #known = new WeakSet(); // connections that have the settings

  constructor(pool) { this.#pool = promised(pool); }

  session() { return new SQLSession(this); }

  async take({ statementMs }) {
    const connection = await connected(this.#pool.getConnection(), statementMs, codeOf);
    try {
      const [[inside, isReadOnly, charset, mode, autocommit]] =
        await this.#asked(connection, ASKED, [], statementMs);
      // The host gave back a transaction of its own, or its sessions commit nothing (STM-5).
      if (inside !== "0" || autocommit !== "1") throw misuse();
      if (isReadOnly !== "0") throw new Fault(STANDBY);
      // Others take two accounts for one where they have no such character.
      if (charset !== "utf8mb4") throw new TypeError(`charset is utf8mb4, not ${charset}`);
      const real = connection.connection ?? connection;
      if (!this.#known.has(real) || mode !== MODE) {
        for (const text of SETTINGS) await this.#asked(connection, text, [], statementMs);
        this.#known.add(real);
      }
      return connection;
    } catch (error) {
      this.drop(connection);
      throw unreached(error, codeOf(error));
    }
  }

  give(connection) { connection.release(); }
  drop(connection) { connection.destroy(); }

  /** Return the rows of a statement, each value as the server's text. */
  async #asked(connection, sql, values, ms) {
    const read = [];
    const typeCast = (field) => {
      read.push(field.string());
      return null;
    };
    const [, fields] = await within(ms + GRACE_MS, connection.query({ sql, values, typeCast }));
    const found = [];
    while (read.length > 0) found.push(read.splice(0, fields.length));
    return found;
  }

  async begin(connection, limits) {
    await this.execute(connection, `SET ${ISOLATION}`, limits);
    await this.execute(connection, "START TRANSACTION", limits);
  }

  async execute(connection, text, { statementMs } = { statementMs: 0 }) {
    await this.#asked(connection, text, [], statementMs);
  }

  async run(connection, { sql, args, returnsRows }, limits) {
    const statement = limits.statementMs / 1000;
    const lock = Math.max(1, Math.round(limits.lockMs / 1000));
    const found = await this.#asked(connection, `SET STATEMENT max_statement_time=${statement},` +
      `innodb_lock_wait_timeout=${lock},lock_wait_timeout=${lock} FOR ${placed(sql, false)}`, args,
      limits.statementMs);
    return returnsRows ? rows(found) : {};
  }

  /** An error without a number is the client's: the statement may or may not have run. */
  fault(error) {
    if (error instanceof Fault) return error;
    return !error.sqlState || LOST.includes(error.errno) ? lost() : new Fault(error.errno);
  }
}

module.exports = { MariaDB };

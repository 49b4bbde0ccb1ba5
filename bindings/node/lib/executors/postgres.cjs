"use strict";
// The executor for PostgreSQL 13 or later, over a Pool of pg 8.

const { refuse } = require("../arguments.cjs");
const { misuse } = require("./guard.cjs");
const { Fault, GRACE_MS, STANDBY, lost, rows, unreached, within } = require("./replies.cjs");
const { SQLSession, connected, placed } = require("./sql.cjs");

const ASKED = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'";
// A grant leaves the transaction idle while it does other work: at most for so many times a
// statement's limit.
const IDLE = 3;
// Of lost sessions; 57014 is a statement that its limit stopped.
const LOST = /^(08|57P|25P03)/, STOPPED = "57014";
const ignore = () => {};
const codeOf = (error) => error.severity && error.code;

/** A pool of pg, which the host may use as well. */
class Postgres {
  engine = "postgres";
  wraps = true; // the limits of a step are those of a transaction (STO-76)
  #pool;
  // Connections that lead to a primary, with the state of the last transaction: I, T or E.
  #states = new WeakMap();

  constructor(pool) {
    if (typeof pool?.connect !== "function" || typeof pool.query !== "function") {
      throw refuse("the first argument", "a Pool of pg", pool);
    }
    this.#pool = pool;
  }

  session() { return new SQLSession(this); }

  async take({ statementMs }) {
    const client = await connected(this.#pool.connect(), statementMs, codeOf);
    client.on?.("error", ignore); // a session that ends in a grant is no error of the process
    const state = this.#states.get(client);
    if (state !== undefined) {
      if (state.last === "I") return client;
      this.give(client);
      throw misuse(); // the host gave back a transaction, which the ledger neither joins nor ends
    }
    try {
      const found = { last: "I" };
      const { rows: [row] } = await this.#asked(client, { text: ASKED, rowMode: "array" },
        statementMs);
      if (row[0]) throw new Fault(STANDBY);
      client.connection?.on("readyForQuery", ({ status }) => { found.last = status; });
      this.#states.set(client, found);
      return client;
    } catch (error) {
      this.drop(client);
      throw unreached(error, codeOf(error));
    }
  }

  give(client) {
    client.removeListener?.("error", ignore);
    client.release();
  }

  drop(client) {
    client.release(true);
    client.connection?.stream?.destroy?.();
  }

  #asked(client, query, ms) {
    return within(ms + GRACE_MS, client.query(query));
  }

  async begin(client, { statementMs, lockMs }) {
    await this.#asked(client, "BEGIN ISOLATION LEVEL READ COMMITTED" +
      `; SET LOCAL statement_timeout = ${statementMs}; SET LOCAL lock_timeout = ${lockMs}` +
      `; SET LOCAL idle_in_transaction_session_timeout = ${IDLE * statementMs}`, statementMs);
  }

  async execute(client, text, { statementMs } = { statementMs: 0 }) {
    const { command } = await this.#asked(client, text, statementMs);
    // COMMIT of a transaction that failed is a rollback, which the server calls no error.
    if (text === "COMMIT" && command === "ROLLBACK") throw new Fault("25P02");
  }

  async run(client, { sql, args, returnsRows }, { statementMs }) {
    const found = await this.#asked(client,
      { text: placed(sql, true), values: args, rowMode: "array" }, statementMs);
    return returnsRows ? rows(found.rows) : {};
  }

  /** An error without a severity is the client's: the statement may or may not have run. */
  fault(error) {
    if (error instanceof Fault) return error;
    if (!error.severity || LOST.test(error.code)) return lost();
    return new Fault(error.code, { isCertain: error.code !== STOPPED });
  }
}

module.exports = { Postgres };

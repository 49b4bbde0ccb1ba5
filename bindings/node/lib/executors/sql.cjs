"use strict";
// What the executors of SQL have in common: the order of a step, its transaction, and what follows
// a failure (EXC-24, STO-75). What is special to a client is in sqlite, postgres and mariadb.

const { RELEASE, SAVEPOINT, Watch, guarded } = require("./guard.cjs");
const { Fault, done, failed, isMisuse, limitsOf } = require("./replies.cjs");

const PLACEHOLDERS = /\?|\$\d+|%s/g;
const known = new Map();

/** Return a statement with the placeholders of a client. The library's texts are constants and have
 * one argument for each placeholder, in order. */
function placed(sql, isNumbered) {
  const key = isNumbered ? `$${sql}` : sql;
  if (!known.has(key)) {
    let count = 0;
    known.set(key, sql.replace(PLACEHOLDERS, () => isNumbered ? `$${count += 1}` : "?"));
  }
  return known.get(key);
}

/** The steps of one exchange, on one connection that goes back at the end; what is not committed
 * then is rolled back. */
class SQLSession {
  #store;
  #connection;
  #isBegun = false;

  constructor(store) { this.#store = store; }

  /** Perform one step, and return its reply. */
  async perform(step) {
    const results = [];
    const limits = limitsOf(step);
    try {
      if (["begin", "single"].includes(step.transaction)) await this.rollback();
      this.#connection ??= await this.#store.take(limits);
      await this.#carryOut(step, limits, results);
      return done(step, results);
    } catch (error) {
      if (isMisuse(error)) {
        this.#drop();
        throw error;
      }
      const fault = await this.#undone(this.#store.fault(error));
      // The statements before the failed one are committed: each is its own transaction.
      if (results.length > 0 && step.transaction === null) fault.isCertain = false;
      return failed(this.#store.engine, step, fault);
    }
  }

  async #carryOut({ transaction: mark, calls }, limits, results) {
    const store = this.#store;
    if (["begin", "single"].includes(mark)) await this.#begin(limits);
    else if (mark !== null && !this.#isBegun) throw new Fault("transaction");
    const isWrapped = !this.#isBegun && store.wraps;
    for (const call of calls) {
      if (isWrapped) await this.#begin(limits);
      results.push(await store.run(this.#connection, call, limits, this.#isBegun));
      if (isWrapped) await this.#commit(limits);
    }
    if (["commit", "single"].includes(mark)) await this.#commit(limits);
  }

  async #begin(limits) {
    this.#isBegun = true; // a part of it may be done when it fails
    await this.#store.begin(this.#connection, limits);
  }

  async #commit(limits) {
    await this.#store.execute(this.#connection, "COMMIT", limits);
    this.#isBegun = false;
  }

  /** Leave nothing of a failed step. */
  async #undone(fault) {
    if (fault.isLost) this.#drop();
    else if (this.#isBegun) {
      await this.rollback();
      fault.isCertain = true;
    }
    return fault;
  }

  /** Have the host's `call` grant in the open transaction, guarded; what it throws passes. */
  async grant(step, call) {
    if (!await this.#isMarked(SAVEPOINT)) return this.#ended(step);
    const watch = new Watch();
    let said;
    try {
      said = await call(guarded(this.#connection, watch));
    } catch (error) {
      if (watch.fault !== undefined) return this.#ended(step);
      const isThere = await this.#isMarked(`ROLLBACK TO ${SAVEPOINT}`);
      if (isThere || this.#connection !== undefined) throw error;
      return this.#ended(step);
    } finally {
      watch.isOver = true;
    }
    if (watch.fault !== undefined) return this.#ended(step);
    if (said === false) {
      await this.rollback();
      return { id: step.id, code: 500 };
    }
    return await this.#isMarked(RELEASE) ? { id: step.id, code: 200 } : this.#ended(step);
  }

  /** Whether the transaction that the claim began is still open; a lost connection is dropped. */
  async #isMarked(statement) {
    if (!this.#isBegun) return false;
    try {
      await this.#store.execute(this.#connection, statement);
      return true;
    } catch (error) {
      if (this.#store.fault(error).isLost) this.#drop();
      return false;
    }
  }

  /** Return the reply where the transaction ended in the grant, or its connection was lost. */
  #ended(step) {
    if (this.#connection === undefined) return { id: step.id, code: 0 };
    this.#drop();
    return { id: step.id, code: 500, error: { code: "transaction", executed: "unknown" } };
  }

  /** Undo what is not committed. A connection that cannot roll back is destroyed. */
  async rollback() {
    if (!this.#isBegun) return;
    this.#isBegun = false;
    try {
      await this.#store.execute(this.#connection, "ROLLBACK");
    } catch {
      this.#drop();
    }
  }

  #drop() {
    const connection = this.#connection;
    [this.#connection, this.#isBegun] = [undefined, false];
    if (connection !== undefined) this.#store.drop(connection);
  }

  async close() {
    await this.rollback();
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection !== undefined) this.#store.give(connection);
  }
}

module.exports = { SQLSession, placed };

"use strict";
// What the executors of SQL have in common: the order of a step, its transaction, and what follows
// a failure (EXC-24, STO-75). What is special to a client is in sqlite, postgres and mariadb.

const { RELEASE, SAVEPOINT, Watch, guarded } = require("./guard.cjs");
const { Fault, done, failed, isMisuse, limitsOf, unreached, within } = require("./replies.cjs");

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

/** Return the connection that a pool promises, within a time. `codeOf` is the server's of an error. */
async function connected(pending, ms, codeOf) {
  try {
    return await within(ms, pending);
  } catch (error) {
    pending.then((connection) => connection.release(), () => {}); // it came too late
    throw unreached(error, codeOf(error));
  }
}

/** Run a generator, and wait where it yields a promise. Without any it ends at once: so nothing else
 * of the process runs while a synchronous client has a transaction open, nor waits for its lock. */
function flow(steps, method = "next", given = undefined) {
  for (let [how, value] = [method, given]; ;) {
    const found = steps[how](value);
    if (found.done) return found.value;
    [how, value] = ["next", found.value];
    if (typeof value?.then === "function") {
      return value.then((each) => flow(steps, "next", each),
        (error) => flow(steps, "throw", error));
    }
  }
}

/** Give what a client returns: a value, a promise or a generator. */
function* given(found) {
  return typeof found?.next === "function" ? yield* found : yield found;
}

/** The steps of one exchange, on one connection that goes back at the end; what is not committed
 * then is rolled back. */
class SQLSession {
  #store;
  #connection;
  #isBegun = false;

  constructor(store) { this.#store = store; }

  /** Perform one step; returns its reply, or a promise of it. */
  perform(step) { return flow(this.#perform(step)); }

  *#perform(step) {
    const results = [];
    const limits = limitsOf(step);
    try {
      if (["begin", "single"].includes(step.transaction)) yield* this.#rollback();
      this.#connection ??= yield* given(this.#store.take(limits));
      yield* this.#carryOut(step, limits, results);
      return done(step, results);
    } catch (error) {
      if (isMisuse(error)) {
        this.#drop();
        throw error;
      }
      const fault = yield* this.#undone(this.#store.fault(error));
      // The statements before the failed one are committed: each is its own transaction.
      if (results.length > 0 && step.transaction === null) fault.isCertain = false;
      return failed(this.#store.engine, step, fault);
    }
  }

  *#carryOut({ transaction: mark, calls }, limits, results) {
    const store = this.#store;
    if (["begin", "single"].includes(mark)) yield* this.#begin(limits);
    else if (mark !== null && !this.#isBegun) throw new Fault("transaction");
    const isWrapped = !this.#isBegun && store.wraps;
    for (const call of calls) {
      if (isWrapped) yield* this.#begin(limits);
      results.push(yield* given(store.run(this.#connection, call, limits, this.#isBegun)));
      if (isWrapped) yield* this.#commit(limits);
    }
    if (["commit", "single"].includes(mark)) yield* this.#commit(limits);
  }

  *#begin(limits) {
    this.#isBegun = true; // a part of it may be done when it fails
    yield* given(this.#store.begin(this.#connection, limits));
  }

  *#commit(limits) {
    yield this.#store.execute(this.#connection, "COMMIT", limits);
    this.#isBegun = false;
  }

  /** Leave nothing of a failed step. */
  *#undone(fault) {
    if (fault.isLost) this.#drop();
    else if (this.#isBegun) {
      yield* this.#rollback();
      fault.isCertain = true;
    }
    return fault;
  }

  /** Have the host's `call` grant in the open transaction, guarded; what it throws passes. */
  grant(step, call) { return flow(this.#grant(step, call)); }

  *#grant(step, call) {
    if (!(yield* this.#isMarked(SAVEPOINT))) return this.#ended(step);
    const watch = new Watch();
    let said;
    try {
      said = yield call(guarded(this.#connection, watch));
    } catch (error) {
      if (watch.fault !== undefined) return this.#ended(step);
      const isThere = yield* this.#isMarked(`ROLLBACK TO ${SAVEPOINT}`);
      if (isThere || this.#connection !== undefined) throw error;
      return this.#ended(step);
    } finally {
      watch.isOver = true;
    }
    if (watch.fault !== undefined) return this.#ended(step);
    if (said === false) {
      yield* this.#rollback();
      return { id: step.id, code: 500 };
    }
    return (yield* this.#isMarked(RELEASE)) ? { id: step.id, code: 200 } : this.#ended(step);
  }

  /** Whether the transaction that the claim began is still open; a lost connection is dropped. */
  *#isMarked(statement) {
    if (!this.#isBegun) return false;
    try {
      yield this.#store.execute(this.#connection, statement);
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
  *#rollback() {
    if (!this.#isBegun) return;
    this.#isBegun = false;
    try {
      yield this.#store.execute(this.#connection, "ROLLBACK");
    } catch {
      this.#drop();
    }
  }

  #drop() {
    const connection = this.#connection;
    [this.#connection, this.#isBegun] = [undefined, false];
    if (connection !== undefined) this.#store.drop(connection);
  }

  close() { return flow(this.#close()); }

  *#close() {
    yield* this.#rollback();
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection !== undefined) this.#store.give(connection);
  }
}

module.exports = { SQLSession, connected, flow, placed };

"use strict";
// The replies of executors to the steps of an exchange (docs/spec/ledger.md, STO-3).

const { channel } = require("node:diagnostics_channel");
const { own } = require("../arguments.cjs");
const { AssayError } = require("../errors.cjs");

// One message for each step that was not performed, without a value of a statement (EXC-22).
const LOG = channel("assay:ledger");
// The limits of a step that names none, in milliseconds (STO-76).
const LIMITS = { statementMs: 5000, lockMs: 2000 };
// Codes of connections that were not made, and of those that lead to no primary (STO-77, STO-74).
const CONNECT = "connect", STANDBY = "standby";
// How much longer than its statement a reply may take.
const GRACE_MS = 5000;

/** Thrown where an engine did not perform a step. `isCertain`: nothing was executed; `isLost`: the
 * statement may or may not have run, and its connection is of no use. */
class Fault extends Error {
  constructor(code, { isCertain = true, isLost = false } = {}) {
    super(String(code));
    this.code = String(code).slice(0, 64);
    this.isCertain = isCertain;
    this.isLost = isLost;
  }
}
const lost = () => new Fault("", { isLost: true, isCertain: false });

/** Whether an error is for the host: a wrong use, and none of an engine. */
function isMisuse(error) {
  return error instanceof AssayError || error instanceof TypeError;
}

/** Return the error of a connection over which nothing was executed; `code` is the server's. */
function unreached(error, code) {
  const isKnown = error instanceof Fault && !error.isLost;
  return isKnown || isMisuse(error) ? error : new Fault(code || CONNECT);
}

function limitsOf(step) {
  return own(step, "limits") ?? LIMITS;
}

function done(step, results) {
  return { id: step.id, code: 200, results };
}

/** Return the reply to a step that failed. */
function failed(engine, step, { code, isCertain, isLost }) {
  const executed = isCertain ? "no" : "unknown";
  LOG.publish({ engine, code: isLost ? null : code, executed });
  return isLost ? { id: step.id, code: 0 }
    : { id: step.id, code: 500, error: { code, text: "", executed } };
}

/** Return what a promise gives within a time; later it is a lost reply. */
async function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(lost()), ms); });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Return text, an integer or null, whatever type a client returns (STO-4). */
function value(found) {
  if (found === null || found === undefined) return null;
  if (typeof found === "bigint") {
    const number = Number(found);
    return Number.isSafeInteger(number) ? number : String(found);
  }
  if (typeof found === "boolean") return Number(found);
  if (found instanceof Uint8Array) return Buffer.from(found).toString();
  return typeof found === "number" ? found : String(found);
}

function rows(found) {
  return { rows: found.map((row) => row.map(value)) };
}

/** The steps of one exchange where each call is complete in itself: no transaction stays open. */
class CallSession {
  constructor(store) { this.store = store; }

  async perform(step) {
    const results = [];
    try {
      for (const call of step.calls) results.push(await this.store.run(call, limitsOf(step)));
      return done(step, results);
    } catch (error) {
      const fault = this.store.fault(error);
      fault.isCertain &&= results.length === 0;
      return failed(this.store.engine, step, fault);
    }
  }

  async close() {}
}

module.exports = { CONNECT, CallSession, Fault, GRACE_MS, LIMITS, STANDBY, done, failed, isMisuse,
  limitsOf, lost, rows, unreached, value, within };

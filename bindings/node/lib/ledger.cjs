"use strict";
// The ledger: purchases granted once, subscriptions, quotas, challenges and accounts.

const { randomBytes } = require("node:crypto");
const { inspect } = require("node:util");
const results = require("../generated/results.cjs");
const { OPERATIONS } = require("../generated/ledger.cjs");
const { MADE, find, parsed } = require("./document.cjs");
const { nowOf, options, refuse } = require("./arguments.cjs");
const { refusal } = require("./errors.cjs");
const { LONGEST_WAIT_MS, pause, senderOf } = require("./exchange.cjs");
const { LIMITS } = require("./executors/replies.cjs");
const { Grant, TakeBack, payOut, takeBack } = require("./granting.cjs");
const { OPERATION_OF } = require("./kinds.cjs");
const { add, readArguments } = require("./operations.cjs");
const { Verifier } = require("./verifier.cjs");

// DynamoDB takes half a minute to make a table.
const CREATION_MS = 60_000;
// How often to try a statement that deletes expired rows.
const TRIES = 3;
const CARRIED = ["now", "maxWaitMs", "signal", "grant", "takeBack"];
// The function of the host by which an operation chooses its mode: with it, and without.
const MODES = {
  "claim": ["grant", "transaction", "lease"],
  "revoke": ["takeBack", "lease", "none"],
  "apply-event": ["takeBack", "lease", "none"],
};
for (const { operation, result } of OPERATIONS) {
  OPERATION_OF.set(operation, [results[result], ["exchange"]]);
}

const made = (count) => randomBytes(count).toString("base64url");
const SIZES = { attemptId: 18, challenge: 32 };

/** Return the verifier's configuration with the engine of the executor. */
function withEngine(configuration, engine) {
  const found = typeof configuration === "object" && !(configuration instanceof Uint8Array)
    ? configuration : JSON.parse(Buffer.from(configuration).toString());
  return { ...found, ledger: { engine, ...found.ledger } };
}

/** Run an exchange to its end. However it ends, no transaction stays open. */
async function carryOut(exchange, executor, functions, { maxWaitMs, signal, clock, sender }) {
  let session;
  let send; // of the requests of reconcile
  let reached = 0; // a clock that stops would never reach the end of a wait
  try {
    session = executor.session();
    while (!exchange.done) {
      signal?.throwIfAborted();
      const { step, database, grant, http, notBeforeMs } = exchange.step;
      let reply = {};
      if (step === "database") {
        reply = session.perform(database);
      } else if (step === "grant") {
        const [name, Class] = grant.what === "take" ? ["takeBack", TakeBack] : ["grant", Grant];
        const call = functions[name];
        if (call === undefined) throw new TypeError(`grantMode "transaction" needs ${name}`);
        reply = session.grant(grant, (connection) => call(new Class(grant, connection)));
      } else if (step === "http") {
        send ??= senderOf(sender);
        reply = send(http, { signal });
      } else if (step === "wait") {
        const left = notBeforeMs - clock();
        if (left > maxWaitMs) break;
        await pause(left, signal);
        reached = notBeforeMs;
      } else {
        throw new TypeError(`the step ${step} is none of a database`);
      }
      if (typeof reply.then === "function") reply = await reply;
      exchange.reply(reply, { now: Math.max(clock(), reached) });
    }
    return exchange.document;
  } finally {
    exchange.close();
    await session?.close();
  }
}

class Ledger {
  #executor;
  #verifier;
  #isOwn;
  #named;
  #clock;
  #maxWaitMs;
  #sender; // of the requests of reconcile
  #lineage; // that of the database, as the first check found it (STO-78)

  constructor(executor, configuration, given) {
    if (typeof executor?.session !== "function") {
      throw refuse("the first argument", "an executor, such as new SQLite(path)", executor);
    }
    const { clock = Date.now, maxWaitMs = LONGEST_WAIT_MS, sender } = options(given,
      ["clock", "maxWaitMs", "sender"]);
    this.#executor = executor;
    this.#isOwn = !(configuration instanceof Verifier);
    this.#verifier = this.#isOwn ? new Verifier(withEngine(configuration, executor.engine))
      : configuration;
    const { ledger } = this.#verifier.configuration;
    if (!ledger) throw new TypeError("the verifier's configuration has no block ledger");
    // One verifier may serve two databases, so requests name another engine (STO-13).
    this.#named = ledger.engine === executor.engine ? {} : { engine: executor.engine };
    this.#clock = () => nowOf(clock());
    this.#maxWaitMs = maxWaitMs;
    this.#sender = sender;
  }

  get verifier() { return this.#verifier; }
  get executor() { return this.#executor; }

  /** Create tables and indexes, and SQLite's file: for a setup, and for nothing else (STO-78). */
  async createSchema() {
    this.#executor.make?.();
    return this.#ask(results.CreateSchemaResult, { operation: "create-schema", lineage: made(24) },
      { __proto__: null, maxWaitMs: CREATION_MS });
  }

  async #ask(Class, request, carried) {
    const document = await this.#run(request, [], carried);
    document.throwIfFailed();
    return new Class(MADE, document, parsed(document).exchange);
  }

  /** Check that every column exists, on the primary that this ledger found first. */
  async checkSchema(given) {
    const carried = options(given, ["now", "maxWaitMs", "signal", "deadlineMs"]);
    const found = await this.#ask(results.CheckSchemaResult, { operation: "check-schema",
      lineage: this.#lineage, deadlineMs: carried.deadlineMs }, carried);
    this.#lineage ??= found.lineage ?? undefined;
    return found;
  }

  /** Delete expired rows, and stored texts that no row names: call it once a day. */
  async deleteExpiredRows() {
    const exchange = this.#verifier.exchange({ operation: "describe-schema", ...this.#named },
      { now: this.#clock() });
    exchange.document.throwIfFailed();
    const { engine } = this.#executor;
    const session = this.#executor.session();
    try {
      for (const call of exchange.document.json.exchange.garbage) {
        const step = { id: 0, engine, repeatable: true, transaction: null, limits: LIMITS,
          calls: [call] };
        let reply;
        for (let tried = 0; tried < TRIES && reply?.code !== 200; tried += 1) {
          reply = await session.perform(step);
        }
        if (reply.code !== 200) {
          throw new Error(`${engine} refuses to delete: ${reply.error?.code ?? "no answer"}`);
        }
      }
    } finally {
      await session.close();
    }
  }

  close() {
    this.#executor.close?.();
    if (this.#isOwn) this.#verifier.close();
  }

  async #run(request, evidence, { now, grant, takeBack: take, maxWaitMs, signal }) {
    const [begin, start] = [now === undefined ? this.#clock() : nowOf(now), performance.now()];
    const clock = now === undefined ? this.#clock
      : () => begin + Math.floor(performance.now() - start);
    const proof = typeof evidence === "string"
      ? this.#verifier.verifyTransaction(evidence, { now: begin }) : evidence;
    const exchange = this.#verifier.exchange({ ...request, ...this.#named },
      { evidence: proof, now: begin });
    return carryOut(exchange, this.#executor, { grant, takeBack: take },
      { maxWaitMs: maxWaitMs ?? this.#maxWaitMs, signal, clock, sender: this.#sender });
  }

  /** Run an operation, and the grants and take-backs that follow it. */
  async #fulfil(row, request, carried) {
    for (const name of row.made) request[name] ??= made(SIZES[name]);
    if (request.cachedPlan) {
      const { plan, expiresAtMs, readAtMs } = request.cachedPlan;
      request.cachedPlan = { plan, expiresAtMs, readAtMs };
    }
    if (request.answer?.payload) request.answer = request.answer.payload;
    const choice = MODES[row.operation];
    if (choice) request.grantMode ??= carried[choice[0]] ? choice[1] : choice[2];
    const mode = request.grantMode ?? "lease";
    if (mode === "transaction") {
      for (const name of row.functions) {
        if (!carried[name]) throw new TypeError(`grantMode "transaction" needs ${name}`);
      }
    }
    let wasCalled = false;
    const called = (call) => call && ((given) => { wasCalled = true; return call(given); });
    const document = await this.#run(request, carried.evidence, { __proto__: null, ...carried,
      grant: called(carried.grant), takeBack: called(carried.takeBack) });
    const found = this.#read(row, document, request, wasCalled);
    if (["forget-account", "forget-customer"].includes(row.operation)) {
      await this.#executor.forgotten?.();
    }
    if (row.functions.length === 0 || mode === "transaction") return found;
    const given = { now: carried.now, signal: carried.signal };
    const takes = found.takes ?? found.take ?? found.revocations?.map(({ take }) => take)
      .filter(Boolean) ?? [];
    const taken = await takeBack(this, found, takes, carried.takeBack, mode !== "none", given);
    if (!found.ok || !taken.ok) return taken;
    return payOut(this, taken, row.operation === "apply-event" ? "give" : "claims", carried.grant,
      { ...given, note: request.note });
  }

  /** Return the result of a document. A refusal is a result where the operation itself decided it
   * (column `refused` of kinds.tsv); another one is thrown. */
  #read(row, document, { challenge }, wasCalled) {
    const values = find(parsed(document), ["exchange"]) ?? {};
    const { status } = document;
    const isWaiting = status.startsWith("unavailable.claim.");
    const isResult = document.ok ||
      // What the grant did may have been committed (STO-39).
      (wasCalled && values.clientResult === "deferred" && status.startsWith("unavailable.")) ||
      // A part of an event waits for another one (STO-35).
      (isWaiting && row.functions.includes("takeBack")) ||
      (row.isAnswer && values.outcome !== undefined && values.outcome !== null &&
        (isWaiting || status.startsWith("rejected.")));
    if (!isResult) throw refusal(document);
    return new results[row.result](MADE, document, challenge === undefined ? values
      : { ...values, challenge });
  }

  static {
    for (const row of OPERATIONS) {
      add(this, {
        async [row.name](...given) {
          const [request, carried] = readArguments(row, given, CARRIED);
          return this.#fulfil(row, request, carried);
        },
      });
    }
  }

  [inspect.custom]() { return `<assay.Ledger: ${this.#executor.engine}>`; }
}

module.exports = { Ledger };

"use strict";
// The executor for DynamoDB, over the client of @aws-sdk/client-dynamodb or a function of yours.

const { refuse } = require("../arguments.cjs");
const { CONNECT, Fault, GRACE_MS, done, failed, limitsOf, lost, within } = require("./replies.cjs");

const CONDITION = "ConditionalCheckFailedException", CANCELLED = "TransactionCanceledException";
const UNCLEAR = ["InternalServerError", "ServiceUnavailable"];
const UNREACHED = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];

/** Return the function that sends a request of a name with a client of the SDK. */
function sent(client, sdk) {
  return (api, input, how) => client.send(new sdk[`${api}Command`](input), how);
}

const item = (found) => found.Item ? { item: found.Item } : {};

/** A table, which the library's requests name. */
class DynamoDB {
  engine = "dynamodb";
  #send;

  constructor(client, sdk) {
    this.#send = typeof client === "function" ? client : sent(client, sdk);
    if (typeof client !== "function" && typeof sdk?.UpdateItemCommand !== "function") {
      throw refuse("the second argument", "the module @aws-sdk/client-dynamodb", sdk);
    }
  }

  session() { return new DynamoDBSession(this); }

  /** Send one request, and return its result, which may be a condition that failed (STO-3). */
  async run(api, input, { statementMs }) {
    const abort = new AbortController();
    try {
      const sending = this.#send(api, input, { abortSignal: abort.signal });
      const { $metadata, ...output } = await within(statementMs + GRACE_MS, sending);
      return { output: JSON.parse(JSON.stringify(output)) }; // descriptions of tables contain dates
    } catch (error) {
      abort.abort();
      return this.#refused(error);
    }
  }

  #refused(error) {
    if (error instanceof Fault) throw error;
    const { name } = error;
    if (name === CONDITION) return { error: { type: name, ...item(error) } };
    if (name === CANCELLED) {
      const reasons = (error.CancellationReasons ?? [])
        .map((each) => ({ code: each.Code || "None", ...item(each) }));
      return { error: { type: name, reasons } };
    }
    if (name === "CredentialsProviderError") throw new Fault("UnrecognizedClientException");
    // An attempt that the SDK made before may have been executed.
    const isFirst = !(error.$metadata?.attempts > 1);
    if (error.$fault) throw new Fault(name, { isCertain: isFirst && !UNCLEAR.includes(name) });
    const isUnreached = isFirst && UNREACHED.includes(error.code ?? error.cause?.code);
    throw isUnreached ? new Fault(CONNECT) : lost();
  }
}

/** The steps of one exchange. No transaction is open: what the grant adds to its connection, a list
 * of elements of TransactWriteItems, is written by one request with the claim. */
class DynamoDBSession {
  #store;

  constructor(store) { this.#store = store; }

  async perform(step) {
    const results = [];
    try {
      for (const { api, input } of step.calls) {
        results.push(await this.#store.run(api, input, limitsOf(step)));
      }
      return done(step, results);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      error.isCertain &&= results.length === 0;
      return failed(this.#store.engine, step, error);
    }
  }

  /** Write what the grant adds and the claim, both or neither (STO-21). */
  async grant(step, call) {
    const items = [];
    if (await call(items) === false) return { id: step.id, code: 500 };
    try {
      const found = await this.#store.run("TransactWriteItems",
        { TransactItems: [step.item, ...items] }, limitsOf(step));
      return { id: step.id, code: 200, ...(found.error ? { results: [found] } : {}) };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      failed(this.#store.engine, step, error); // for the log
      return { id: step.id, code: 500 };
    }
  }

  async close() {}
}

module.exports = { DynamoDB };

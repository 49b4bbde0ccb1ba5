"use strict";
// The executor for DynamoDB, over the client of @aws-sdk/client-dynamodb or a function of yours.

const { refuse } = require("../arguments.cjs");
const { CONNECT, CallSession, Fault, GRACE_MS, lost, within } = require("./replies.cjs");

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
  async run({ api, input }, { statementMs }) {
    const abort = new AbortController();
    try {
      const sending = this.#send(api, input, { abortSignal: abort.signal });
      const { $metadata, ...output } = await within(statementMs + GRACE_MS, sending);
      return { output: JSON.parse(JSON.stringify(output)) }; // descriptions of tables contain dates
    } catch (error) {
      abort.abort();
      const { name } = error;
      if (name === CONDITION) return { error: { type: name, ...item(error) } };
      if (name !== CANCELLED) throw error;
      const reasons = (error.CancellationReasons ?? [])
        .map((each) => ({ code: each.Code || "None", ...item(each) }));
      return { error: { type: name, reasons } };
    }
  }

  fault(error) {
    if (error instanceof Fault) return error;
    const { name } = error;
    if (name === "CredentialsProviderError") return new Fault("UnrecognizedClientException");
    // An attempt that the SDK made before may have been executed.
    const isFirst = !(error.$metadata?.attempts > 1);
    if (error.$fault) return new Fault(name, { isCertain: isFirst && !UNCLEAR.includes(name) });
    const isUnreached = isFirst && UNREACHED.includes(error.code ?? error.cause?.code);
    return isUnreached ? new Fault(CONNECT) : lost();
  }
}

/** What the grant adds to its connection, a list of elements of TransactWriteItems, is written by
 * one request with the claim, both or neither (STO-21). */
class DynamoDBSession extends CallSession {
  async grant(step, call) {
    const items = [];
    if (await call(items) === false) return { id: step.id, code: 500 };
    const { code, results: [found] = [] } = await this.perform({ ...step,
      calls: [{ api: "TransactWriteItems", input: { TransactItems: [step.item, ...items] } }] });
    if (code !== 200) return { id: step.id, code: 500 };
    return { id: step.id, code, ...(found.error ? { results: [found] } : {}) };
  }
}

module.exports = { DynamoDB };

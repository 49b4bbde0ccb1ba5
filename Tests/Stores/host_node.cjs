"use strict";
// The ledger of Node.js in a race (races.py --host): reads an operation a line, in the terms of
// models.py, and writes its outcome and result, as the class LedgerBook of book.py does in Python.
//
//   node host_node.cjs STAGE_FILE URL     ASSAY_NODE names the package, NODE_PATH leads to clients
//   node host_node.cjs --ask ENGINE       exit 1, with a word, where the client is not there

const { createHash } = require("node:crypto");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const readline = require("node:readline");

const assay = require(process.env.ASSAY_NODE);
const { Ledger, SQLite, Postgres, MariaDB, DynamoDB, Redis } =
  require(join(process.env.ASSAY_NODE, "ledger.cjs"));
const { sender } = require("../../bindings/node/tests/dynamodb.cjs");

const [stageFile, url] = process.argv.slice(2);
const stage = stageFile === "--ask" ? {} : JSON.parse(readFileSync(stageFile));
const { begin } = stage;
const TABLE = "assay";
// Refusals after which the state of the row is known, as in book.py.
const DEFINITE = ["unavailable.database.row-missing", "unavailable.database.unexpected-reply",
  "unavailable.claim.attempt-id", "unavailable.challenge.collision"];
const SAID = { "unavailable.claim.attempt-id": "attempt-misused" };
// Bounds that no test reaches: revocations of one purchase, and calls until a merge is complete.
const MOST_GENS = 100, MOST_PARTS = 50;

/** Thrown for a grant that could not be written. */
class PaymentError extends Error {
  constructor(outcome, result) {
    super(outcome);
    this.answer = [outcome, result];
  }
}

// ---- the engines ------------------------------------------------------------------

const ignore = () => {};
const ENGINES = {
  sqlite: () => new SQLite(url.replace("sqlite:///", "")),
  postgresql: () => {
    const pool = new (require("pg").Pool)({ connectionString: url, max: 4 });
    pool.on("error", ignore); // the server was killed
    return new Postgres(pool);
  },
  mariadb: ({ hostname: host, port, username: user, pathname }) => new MariaDB(
    require("mysql").createPool({ host, port, user, database: pathname.slice(1),
      charset: "utf8mb4", connectionLimit: 4 })),
  dynamodb: (address) => new DynamoDB(sender(address)),
  async redis() {
    const client = require("redis").createClient({ url, socket: { reconnectStrategy: () => 20 } });
    client.on("error", ignore);
    await client.connect();
    return new Redis(client);
  },
};

// How a grant writes its row on the connection of the claim, and whether it stands there already.
const WRITE = {
  sqlite: (connection, text) => connection.exec(text),
  postgres: (connection, text) => connection.query(text),
  mariadb: (connection, text) => connection.query(text),
};
const isTwice = ({ errcode, code, errno }) =>
  errcode === 1555 || errcode === 2067 || code === "23505" || errno === 1062;

// ---- the book -----------------------------------------------------------------------

const rows = new Map(["purchases", "lines", "keys", "sweptPurchases", "sweptLines", "periods",
  "refunded"].flatMap((kind) => (stage[kind] ?? []).map((row) => [row.key, row])));
const lineOf = new Map([...rows.values()].filter((row) => row.transactionId)
  .map((row) => [row.transactionId, row.key]));
const purchaseOf = new Map([...rows.values()].flatMap((row) =>
  (row.purchaseKeys ?? [row.purchaseKey]).map((key) => [key, row.key])));

let ledger, verifier, granted;
const documents = new Map();

/** Verify the transaction of a version; return its facts. */
function evidence({ key, version }) {
  const name = `${key} ${version}`;
  if (!documents.has(name)) {
    documents.set(name, verifier.verifyTransaction(rows.get(key).versions[version].text,
      { now: begin }));
  }
  return documents.get(name);
}

const challengeOf = (key) => createHash("sha256").update(key).digest("base64url");
const grantIdOf = (key, gen) => createHash("sha256").update(gen ? `${key}#${gen}` : key)
  .digest("hex");

/** Return the number of revocations that leads to a grant id. */
function genOf({ purchaseKey, grantId }) {
  for (let gen = 0; gen < MOST_GENS; gen += 1) {
    if (grantIdOf(purchaseKey, gen) === grantId) return gen;
  }
  throw new Error(`${grantId} is no grant id of ${purchaseKey}`);
}

/** Insert the row of a grant, which is possible only once. */
async function write({ key }, grant) {
  const gen = genOf(grant);
  if (url.startsWith("dynamodb:")) {
    grant.connection.push({ Put: { TableName: TABLE, Item: { PK: { S: `PAID#${key}` },
      SK: { S: String(gen) } }, ConditionExpression: "attribute_not_exists(PK)" } });
    return;
  }
  try {
    await WRITE[ledger.executor.engine](grant.connection,
      `INSERT INTO assay_paid (id, purchase) VALUES ('${key}#${gen}', '${key}')`);
  } catch (error) {
    throw isTwice(error) ? new PaymentError("ok", { outcome: "paid-twice", gen, fresh: false })
      : new PaymentError("unclear", { status: String(error.code ?? error.name) });
  }
}

/** Repeat a merge until no row is left to move. */
async function link(given, now) {
  const request = { from: given.from, to: given.to, attemptId: given.attempt, now };
  const found = await ledger.mergeAccounts(request);
  let last = found;
  for (let part = 0; part < MOST_PARTS && last.ok && last.hasMore; part += 1) {
    last = await ledger.mergeAccounts(request);
  }
  return { status: found.status, outcome: found.outcome, swept: last.ok && !last.hasMore };
}

const CALLS = {
  claim: (given, now) => ledger.claim(evidence(given), { account: given.account,
    attemptId: given.attempt, leaseMs: given.lease, now }),
  pay: (given, now) => ledger.claim(evidence(given), { account: given.account,
    attemptId: given.attempt, leaseMs: given.lease, now, grantMode: "transaction",
    grant: (grant) => write(given, grant) }),
  complete({ key, account, gen, fence }, now) {
    const { purchaseKey } = rows.get(key);
    return ledger.complete({ purchaseKey, account, grantId: grantIdOf(purchaseKey, gen),
      fencingToken: fence, now });
  },
  revoke: (given, now) => ledger.revoke(evidence(given), { now }),
  lookup: (given, now) => ledger.find({ account: given.account, evidence: evidence(given), now }),
  take: ({ account, meter, plan, units }, now) =>
    ledger.consumeQuota({ account, meter, plan, units, now }),
  refund: ({ ticket }, now) => ledger.releaseQuota(ticket, { now }),
  admit: ({ address }, now) => ledger.beginSignup({ address, username: "u_0123456789abcdef",
    passwordBytes: 24, now }),
  settle: ({ ticket }, now) => ledger.finishSignup({ ticket, result: "exists", now }),
  apply: (given, now) => ledger.updateSubscriptions(evidence(given),
    { account: given.account || undefined, now }),
  read: ({ account }, now) => ledger.getPlan(account, { now }),
  clear: ({ account }, now) => ledger.deactivateSubscriptions(account, { now }),
  issue: ({ purpose, subject, key }, now) =>
    ledger.issueChallenge({ purpose, subject, challenge: challengeOf(key), now }),
  consume: ({ purpose, subject, by, key }, now) => ledger.consumeChallenge({ purpose, subject,
    usedBy: by, challenge: challengeOf(key), now }),
  bind({ key, account }, now) {
    const { attestation, keyId, clientData } = rows.get(key);
    return ledger.registerDeviceKey(
      verifier.verifyAttestation(attestation, { keyId, clientData, now: begin }), account, { now });
  },
  advance({ key, account, counter }, now) {
    const row = rows.get(key);
    return ledger.advanceDeviceKeyCounter(verifier.verifyAssertion(
      row.assertions[row.counters.indexOf(counter)], { publicKey: row.public,
        counter: counter - 1, clientData: row.clientData, now: begin }), account, { now });
  },
  once: ({ key, attempt }, now) => ledger.recordEvent(key, { attemptId: attempt, now }),
  link,
  due: ({ attempt, lease }, now) => ledger.resumeExpired({ attemptId: attempt, leaseMs: lease, now }),
  dueLines: ({ attempt }, now) => ledger.leaseDueSubscriptions({ attemptId: attempt, now }),
};

// What the models check of an accepted result, beside its outcome.
const PASSED = {
  claim: ({ claim }) => ({ gen: genOf(claim), fence: claim.fencingToken }),
  pay: ({ claim }) => ({ gen: genOf(claim), fresh: true }),
  due: ({ claims }) => ({ outcome: undefined, claims: Object.fromEntries(claims.map((each) =>
    [purchaseOf.get(each.purchaseKey), { outcome: each.outcome, gen: genOf(each),
      fence: each.fencingToken, account: each.account }])) }),
  dueLines: ({ subscriptions }) => ({ outcome: undefined, keys: subscriptions
    .map((each) => lineOf.get(each.originalTransactionId)).filter(Boolean) }),
  link: ({ swept }) => ({ swept }),
  revoke: ({ revocations: [one] }) => ({ outcome: one.outcome, take: one.take !== null }),
  apply: ({ subscriptions: [one] }) => ({ outcome: one.outcome }),
  take: ({ used, left, ticket }) => ({ used, left, ticket }),
  admit: ({ left, ticket }) => ({ left, ticket }),
  read: ({ subscriptions }) => ({ lines: Object.fromEntries(subscriptions
    .filter((each) => each.isActive)
    .map((each) => [lineOf.get(each.originalTransactionId), each.asOfMs])) }),
};

/** Translate a status and a result into the outcome and result of the models. */
function told(op, status, found) {
  const isAway = /^unavailable\.(database|exchange)\./.test(status);
  if (isAway && !DEFINITE.includes(status)) return ["unclear", { status }];
  // The grant's transaction ended, but its reply was lost (STO-32).
  if (op === "pay" && status === "unavailable.claim.in-progress") return ["unclear", { status }];
  if (op === "lookup" && /^(ok$|rejected\.)/.test(status)) {
    return ["ok", { outcome: found?.rows[0]?.state ?? "absent" }];
  }
  if (status === "ok") return ["ok", { outcome: found.outcome, ...PASSED[op]?.(found) }];
  if (/^(rejected|misuse)\.|^unavailable\.claim\./.test(status) || DEFINITE.includes(status)) {
    return ["refused", { outcome: SAID[status] ?? status.split(".").at(-1) }];
  }
  throw new Error(`${op}: ${status}`);
}

/** Run one statement of the host itself; return undefined if the database is unavailable. */
async function asked(call) {
  const session = ledger.executor.session();
  try {
    const { code, results } = await session.perform({ id: 1, engine: ledger.executor.engine,
      repeatable: true, connection: "any", transaction: null, calls: [call] });
    return code === 200 ? results[0] : undefined;
  } finally {
    await session.close();
  }
}

const OWN = {
  /** Record a grant of a lease, as a row that can be inserted only once. */
  grant({ key, gen }) {
    if (granted === undefined) {
      granted = new (require("node:sqlite").DatabaseSync)(stage.grants, { timeout: 60_000 });
      granted.exec("CREATE TABLE IF NOT EXISTS granted (id TEXT PRIMARY KEY)");
    }
    const { changes } = granted.prepare("INSERT OR IGNORE INTO granted (id) VALUES (?)")
      .run(`${key}#${gen}`);
    return ["ok", { fresh: Number(changes) === 1 }];
  },
  /** Return the grants that stand in the database. */
  async paid({ key }) {
    const isItems = url.startsWith("dynamodb:");
    const found = await asked(isItems ? { api: "Query", input: { TableName: TABLE,
      ConsistentRead: true, KeyConditionExpression: "PK = :key",
      ExpressionAttributeValues: { ":key": { S: `PAID#${key}` } } } }
      : { sql: `SELECT id FROM assay_paid WHERE purchase = '${key}'`, args: [], returnsRows: true });
    if (found === undefined) return ["unclear", {}];
    const gens = isItems ? found.output.Items.map((row) => row.SK.S)
      : found.rows.map(([id]) => id.split("#")[1]);
    return ["ok", { outcome: "paid", gens: gens.map(Number).sort((a, b) => a - b) }];
  },
};

async function perform({ op, args }) {
  if (OWN[op]) return OWN[op](args);
  try {
    const found = await CALLS[op](args, args.now ?? begin);
    return told(op, found.status, found);
  } catch (error) {
    if (error instanceof PaymentError) return error.answer;
    if (!(error instanceof assay.AssayError)) throw error;
    return told(op, error.status, error.document?.facts);
  }
}

async function main() {
  const address = new URL(url);
  const executor = await ENGINES[address.protocol.slice(0, -1)](address);
  const more = address.protocol === "dynamodb:" ? { ledger: { ...stage.config.ledger, table: TABLE } }
    : {};
  ledger = new Ledger(executor, { ...stage.config, ...more });
  ({ verifier } = ledger);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await perform(JSON.parse(line)))}\n`);
  }
  process.exit();
}

/** Say why there is no race over an engine here. */
function ask(engine) {
  const client = { postgres: "pg", mariadb: "mysql", redis: "redis" }[engine];
  try {
    require(client ?? "node:sqlite");
  } catch (error) {
    console.log(error.message.split("\n")[0]);
    process.exit(1);
  }
}

if (stageFile === "--ask") ask(url);
else main();

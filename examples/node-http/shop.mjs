// The shop itself, behind the routes of node:http, Express and Fastify: an answer is a status, a
// body and headers.
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { AssayError, Keyset, UnsupportedError } from "assay";
import { Ledger, SQLite } from "assay/ledger";

/** @typedef {{ [name: string]: string }} Texts */
/** @typedef {{ status: number, body: Texts, headers: Texts }} Answer */

const ledger = new Ledger(new SQLite("./shop.db"), readFileSync("config.json"));
const keys = new Keyset(readFileSync("keys.json"));
/** @type {Answer} */
const DONE = { status: 200, body: {}, headers: {} };

/** Create the tables of the ledger and the shop's own: once, before the first request. */
export async function setup() {
  await ledger.createSchema();
  const database = new DatabaseSync("shop.db");
  database.exec("CREATE TABLE booking (id TEXT PRIMARY KEY, account TEXT NOT NULL," +
    " units INTEGER NOT NULL)");
  database.close();
}

/**
 * Book in the transaction of the claim: both are stored, or neither is.
 * @param {import("assay/ledger").Grant} grant
 */
function payOut({ connection, grantId, account, units }) {
  book(connection, grantId, account, units);
}

/**
 * Book in the transaction of the refund.
 * @param {import("assay/ledger").TakeBack} take
 */
function takeBack({ connection, takeId, account, units }) {
  book(connection, takeId, account, -units);
}

/**
 * Insert a booking. A customer has the sum of these and needs no row before the first; the same id
 * enters once.
 * @param {DatabaseSync} connection
 * @param {string} id
 * @param {string} account
 * @param {number} units
 */
function book(connection, id, account, units) {
  connection.prepare("INSERT INTO booking VALUES (?, ?, ?)").run(id, account, units);
}

/**
 * Return an answer; after "deferred" the app keeps its purchase, and Apple its notification, and
 * both come again.
 * @param {number} status
 * @param {Texts} body
 * @returns {Answer}
 */
function answered(status, body) {
  /** @type {Texts} */
  const headers = body.answer === "deferred" ? { "Retry-After": "5" } : {};
  return { status, body, headers };
}

/**
 * Log status, place and hint, none of them secret; the client gets one text for all refusals.
 * @param {unknown} error
 */
function refused(error) {
  if (!(error instanceof AssayError)) throw error; // a fault of the shop: 500
  console.error(error.message);
  const { httpStatus } = error;
  return answered(httpStatus, httpStatus === 503 ? { answer: "deferred" } : { error: "refused" });
}

/**
 * Pay out what an app bought, once.
 * @param {string | undefined} authorization
 * @param {string} jws
 */
export async function purchase(authorization, jws) {
  try {
    const bearer = (authorization ?? "").replace(/^Bearer /, "");
    const { subject: account } = ledger.verifier.verifyToken(bearer, keys);
    const bought = ledger.verifier.verifyTransaction(jws);
    const claimed = await ledger.claim(bought, { account, grant: payOut });
    if (!claimed.ok) console.error(claimed.status);
    return answered(claimed.httpStatus, { answer: claimed.clientResult ?? "deferred" });
  } catch (error) {
    return refused(error);
  }
}

/**
 * Store what happened at Apple, then answer 200: Apple repeats everything else.
 * @param {string} signedPayload
 */
export async function notify(signedPayload) {
  try {
    const note = ledger.verifier.verifyNotification(signedPayload);
    if (note.transaction === null) return DONE;
    const event = await ledger.applyEvent(note,
      { grantMode: "transaction", grant: payOut, takeBack });
    for (const { at, transactionId, status } of event.refused) { // for good: refused again
      console.error(`${at} of ${transactionId}: ${status}`);
    }
    return event.ok ? DONE : answered(event.httpStatus, { answer: "deferred" });
  } catch (error) {
    if (!(error instanceof UnsupportedError)) return refused(error);
    console.error(error.message); // genuine, and newer than this version
    return DONE;
  }
}

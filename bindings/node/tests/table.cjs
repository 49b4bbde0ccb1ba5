"use strict";
// The package under test, and the shared case table: evidence with its expected documents.
// ASSAY_NODE names the package, ASSAY_CASES the table, which `make check` mints; without them these
// tests fail, because a table that is not run proves nothing.

const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const PACKAGE = process.env.ASSAY_NODE;
if (!PACKAGE) throw new Error("ASSAY_NODE is not set: `make check-node` says it");
const assay = require(PACKAGE);
const inside = (name) => require(join(PACKAGE, "lib", name));
const { native } = inside("load.cjs");
const { made } = inside("document.cjs");

let content;
const made_of = new Map();

function table() {
  if (content === undefined) {
    const path = process.env.ASSAY_CASES;
    if (!path) throw new Error("ASSAY_CASES is not set: run `make check`, which mints the cases");
    content = JSON.parse(readFileSync(path));
    if (content.assayCases !== 1) throw new Error(`${path} is no case table of version 1`);
  }
  return content;
}

function verifier(name) {
  if (!made_of.has(name)) made_of.set(name, new assay.Verifier(table().verifiers[name]));
  return made_of.get(name);
}

/** Return the first case of a call with a status, or one of its family, and with these members. */
function first(call, status = "ok", members = {}) {
  const found = table().cases.find((each) => each.call === call &&
    [each.expect.status, each.expect.status.split(".")[0]].includes(status) &&
    Object.entries(members).every(([name, value]) => each[name] === value));
  if (!found) throw new Error(`the case table has no ${status} ${call}`);
  return found;
}

/** Return a text or bytes of a case, given as itself, as base64, or as a repetition. */
function given(item, name) {
  if (Object.hasOwn(item, name)) return item[name];
  const base64 = item[`${name}Base64`];
  if (base64 !== undefined) return Buffer.from(base64, "base64");
  const { prefix, unit, count, suffix } = item[`${name}Repeat`];
  return prefix + unit.repeat(count) + suffix;
}

const octets = (item, name) => Buffer.from(given(item, name));
const METHODS = {
  transaction: "verifyTransaction", "renewal-info": "verifyRenewalInfo",
  notification: "verifyNotification", "app-transaction": "verifyAppTransaction",
  "realtime-request": "verifyRealtimeRequest",
  "transaction-receipt": "verifyTransactionReceipt", "app-receipt": "verifyAppReceipt",
  "attest-receipt": "verifyAttestReceipt",
};
const SUBJECT = { "app-receipt": "subject", "attest-receipt": "publicKey" };

/** Return method and arguments of a case; undefined if the binding cannot say it. */
function callOf(item) {
  const { call, kind, now } = item;
  const data = { 1: "clientData", 2: "clientDataHash" }[item.clientDataKind];
  const options = data ? { now, [data]: octets(item, "clientData") } : { now };
  const subject = item.subjectBase64 && given(item, "subject");
  if (call === "verify_jws") return [METHODS[kind], given(item, "jws"), { now }];
  if (call === "verify_receipt" && subject && !SUBJECT[kind]) {
    return ["verify", kind, given(item, "receipt"), { now, subject }];
  }
  if (call === "verify_receipt") {
    const more = subject ? { [SUBJECT[kind]]: subject } : {};
    return [METHODS[kind], given(item, "receipt"), { now, ...more }];
  }
  if (call === "read_verify_receipt_response") {
    return ["readVerifyReceiptResponse", given(item, "body"), { now }];
  }
  if (call === "triage") return ["triage", given(item, "blob"), { now }];
  if (call === "verify_attestation" && data) {
    return ["verifyAttestation", octets(item, "attestation"),
      { ...options, keyId: octets(item, "keyId") }];
  }
  if (call === "verify_assertion" && data) {
    return ["verifyAssertion", octets(item, "assertion"),
      { ...options, publicKey: octets(item, "publicKey"), counter: item.counter }];
  }
  return undefined;
}

/** Return the document that a call returned, or with which it was refused. */
function documentOf(call) {
  try {
    const found = call();
    return found instanceof assay.Document ? found : found.document;
  } catch (error) {
    if (!(error instanceof assay.AssayError) || error.document === null) throw error;
    return error.document;
  }
}

/** Return the document of client data of a kind that no method has. */
function unsaid(owner, item) {
  let handle;
  const verifyIt = (operation, ...rest) => {
    handle = native.run(operation, owner, ...rest, item.clientDataKind, octets(item, "clientData"),
      item.now);
  };
  const { verifyAttestation, verifyAssertion } = native.operations;
  if (item.call === "verify_attestation") {
    verifyIt(verifyAttestation, octets(item, "attestation"), octets(item, "keyId"));
  } else {
    verifyIt(verifyAssertion, octets(item, "assertion"), octets(item, "publicKey"), item.counter);
  }
  return made(handle, native.status[0]);
}

/** Verify a piece of evidence of a case, with the case's verifier unless it names another. */
function verified(entry, item) {
  if (entry.kind === "keyset") return documentOf(() => new assay.Keyset(given(entry,
    "jwks")).facts);
  const owner = verifier(entry.verifier ?? item.verifier);
  const now = entry.now ?? item.now;
  if (entry.kind === "attestation" || entry.kind === "assertion") {
    const [method, ...rest] = callOf({ ...entry, call: `verify_${entry.kind}`, now: item.now });
    return documentOf(() => owner[method](...rest));
  }
  const name = { "verify-receipt-response": "body" }[entry.kind] ??
    (entry.kind.endsWith("-receipt") ? "receipt" : "jws");
  return owner.verify(entry.kind, given(entry, name), { now });
}

const evidenceOf = (item) => item.evidence.map((entry) => verified(entry, item));

/** Return the transcript with this text in its name. */
function transcript(name) {
  return table().cases.find((each) => each.call === "transcript" &&
    each.name.endsWith(`: ${name}`));
}

function begun(item, owner = verifier(item.verifier)) {
  return owner.exchange(given(item, "request"), { now: item.now });
}

const replies = (item) => item.steps.map((step) => JSON.parse(given(step, "answer")));

function played(item) {
  const exchange = begun(item);
  replies(item).forEach((reply, at) => exchange.reply(reply, { now: item.steps[at].now }));
  return exchange;
}

module.exports = { PACKAGE, assay, inside, native, made, table, verifier, first, given, octets,
  callOf,
  documentOf, unsaid, verified, evidenceOf, transcript, begun, replies, played };

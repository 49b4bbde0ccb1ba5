"use strict";
// The verifier, where every verification starts, and its calls on the thread pool.

const { inspect } = require("node:util");
const facts = require("../generated/facts.cjs");
const { CLIENT_DATA, CLIENT_DATA_HASH, JWS, RECEIPTS } = require("../generated/constants.cjs");
const { native } = require("./load.cjs");
const { Document, evidenceOf, made } = require("./document.cjs");
const { refusal, refusalOfStatus } = require("./errors.cjs");
const { base64Octets, device, integer, jsonText, milliseconds, nowOf, octets, options, refuse,
  signed, timeOf } = require("./arguments.cjs");
const { CALL, COMMON, RUN, add, define } = require("./operations.cjs");

const PERFORM = Symbol("perform");
const RESPONSE = "verify-receipt-response";
const FUNCTION = native.operations;

/** Return kind and bytes of client data, of which exactly one form is given. */
function clientData({ clientData: data, clientDataHash: hash }) {
  if ((data === undefined) === (hash === undefined)) {
    throw new TypeError("give either clientData or clientDataHash");
  }
  return data === undefined ? [CLIENT_DATA_HASH, octets(hash, "clientDataHash")]
    : [CLIENT_DATA, signed(data, "clientData")];
}

/** What a verifier and its calls on the thread pool have in common. */
class Calls {
  #receipt(reader, kind, receipt, subject, now) {
    return this[PERFORM](reader, FUNCTION.verifyReceipt, RECEIPTS[kind],
      signed(receipt, "receipt"), subject, nowOf(now));
  }

  verifyTransactionReceipt(receipt, given) {
    const { now } = options(given, ["now"]);
    return this.#receipt(facts.TransactionReceipt, "transaction-receipt", receipt, undefined, now);
  }

  verifyAppReceipt(receipt, given) {
    const { subject, now } = options(given, ["subject", "now"]);
    return this.#receipt(facts.AppReceipt, "app-receipt", receipt, device(subject), now);
  }

  verifyAttestReceipt(receipt, given) {
    const { publicKey, now } = options(given, ["publicKey", "now"]);
    const subject = publicKey === undefined ? undefined : base64Octets(publicKey, "publicKey");
    return this.#receipt(facts.AttestReceipt, "attest-receipt", receipt, subject, now);
  }

  readVerifyReceiptResponse(body, given) {
    return this[PERFORM](facts.VerifyReceiptResponse, FUNCTION.readVerifyReceiptResponse,
      signed(body, "body"), timeOf(given));
  }

  verify(kind, evidence, given) {
    const { subject, now } = options(given, ["subject", "now"]);
    if (Object.hasOwn(RECEIPTS, kind)) {
      const owner = kind === "attest-receipt" && subject !== undefined
        ? base64Octets(subject, "subject") : device(subject);
      return this.#receipt(Document, kind, evidence, owner, now);
    }
    if (subject !== undefined) throw new TypeError(`a ${kind} has no subject`);
    signed(evidence, "evidence");
    if (kind === RESPONSE) {
      return this[PERFORM](Document, FUNCTION.readVerifyReceiptResponse, evidence, nowOf(now));
    }
    if (!Object.hasOwn(JWS, kind)) {
      const kinds = [...Object.keys(JWS), ...Object.keys(RECEIPTS), RESPONSE].join(", ");
      throw new TypeError(`kind is one of ${kinds}; not ${inspect(kind)}`);
    }
    return this[PERFORM](Document, FUNCTION.verifyJws, JWS[kind], evidence, nowOf(now));
  }

  triage(blob, given) {
    return this[PERFORM](facts.Triage, FUNCTION.triage, signed(blob, "blob"), timeOf(given));
  }

  verifyAttestation(attestation, given) {
    const { keyId, now, ...data } = options(given,
      ["keyId", "clientData", "clientDataHash", "now"]);
    return this[PERFORM](facts.Attestation, FUNCTION.verifyAttestation,
      base64Octets(attestation, "attestation"), signed(keyId, "keyId"), ...clientData(data),
      nowOf(now));
  }

  verifyAssertion(assertion, given) {
    const { publicKey, counter, now, ...data } = options(given,
      ["publicKey", "counter", "clientData", "clientDataHash", "now"]);
    return this[PERFORM](facts.Assertion, FUNCTION.verifyAssertion,
      base64Octets(assertion, "assertion"), base64Octets(publicKey, "publicKey"),
      integer(counter, "counter", 2 ** 32), ...clientData(data), nowOf(now));
  }

  verifyToken(token, keys, given) {
    const { keysetHandle } = require("./keysets.cjs");
    return this[PERFORM](facts.Token, FUNCTION.verifyToken, keysetHandle(keys),
      signed(token, "token"), timeOf(given));
  }

  decide(evidence, given) {
    const { account, now } = options(given, ["account", "now"]);
    if (account !== undefined && account !== null) signed(account, "account");
    return this[PERFORM](facts.Decision, FUNCTION.decide, evidenceOf(evidence), account,
      nowOf(now));
  }

  [CALL](reader, request, { evidence, now }) {
    return this[PERFORM](reader, FUNCTION.call, jsonText(request, "the request"),
      evidenceOf(evidence), nowOf(now));
  }
}
define(Calls, "verifier", ["call"]);
// One method for each kind of JWS: verifyTransaction, verifyRenewalInfo …
for (const [kind, number] of Object.entries(JWS)) {
  const Class = Object.values(facts).find((each) => each.kind === kind);
  const method = {
    [`verify${Class.name}`](jws, given) {
      return this[PERFORM](Class, FUNCTION.verifyJws, number, signed(jws, "jws"), timeOf(given));
    },
  };
  add(Calls, method);
}

/** The calls of a verifier on Node's thread pool: each returns a promise. */
class AsyncVerifier extends Calls {
  #handle;

  constructor(handle) {
    super();
    this.#handle = handle;
  }

  async [PERFORM](reader, operation, ...given) {
    const [code, handle] = await native.start(operation, this.#handle(), ...given);
    return reader.read(made(handle, code));
  }
}
// A wrong argument rejects the promise, as a refusal does.
for (const name of Object.getOwnPropertyNames(Calls.prototype)) {
  if (name === "constructor") continue;
  add(AsyncVerifier,
    { async [name](...given) { return Calls.prototype[name].apply(this, given); } });
}

/** A part of a verifier with the operations of one task. */
function part(on) {
  const Class = class {
    #verifier;
    constructor(verifier) { this.#verifier = verifier; }
    [CALL](...given) { return this.#verifier[CALL](...given); }
    [RUN](...given) { return this.#verifier[RUN](...given); }
  };
  define(Class, on);
  return Class;
}
class Signer extends part("signer") {}
class Sessions extends part("sessions") {}
class DeviceCheckClient extends part("devicecheck") {}

class AppStore extends part("appstore") {
  #common;
  #options;

  constructor(verifier, given) {
    super(verifier);
    const { environment = "Production", bundleId, ...others } =
      options(given, ["environment", "bundleId", "attempts", "partial", "values"]);
    this.#common = { environment, ...(bundleId === undefined ? {} : { bundleId }) };
    this.#options = Object.fromEntries(
      Object.entries(others).filter(([, value]) => value !== undefined));
  }

  [COMMON](request) {
    const { options: own, ...members } = request;
    const found = { ...this.#options, ...own };
    return { ...members, ...this.#common,
      ...(Object.keys(found).length ? { options: found } : {}) };
  }
}

class Verifier extends Calls {
  #handle;
  #document;
  #parts = new Map();

  constructor(configuration) {
    super();
    const [document, handle] = native.run(FUNCTION.verifierNew,
      jsonText(configuration, "configuration"));
    this.#document = made(document, native.status[0]);
    if (handle === undefined) throw refusal(this.#document);
    this.#handle = handle;
  }

  static fromFile(path) {
    return new Verifier(require("node:fs").readFileSync(path));
  }

  #open() {
    if (this.#handle === undefined) throw new Error("the verifier is closed");
    return this.#handle;
  }

  [PERFORM](reader, operation, a, b, c, d, e, f) {
    const handle = native.run(operation, this.#open(), a, b, c, d, e, f);
    return reader.read(made(handle, native.status[0]));
  }

  async [RUN](request, { evidence, now, sender, ...carried }) {
    const exchange = this.exchange(request, { evidence, now });
    try {
      return await exchange.run(sender, carried);
    } finally {
      exchange.close();
    }
  }

  #part(Class) {
    if (!this.#parts.has(Class)) this.#parts.set(Class, new Class(this));
    return this.#parts.get(Class);
  }

  get async() {
    if (!this.#parts.has(AsyncVerifier)) {
      this.#parts.set(AsyncVerifier, new AsyncVerifier(() => this.#open()));
    }
    return this.#parts.get(AsyncVerifier);
  }

  get signer() { return this.#part(Signer); }
  get sessions() { return this.#part(Sessions); }
  get deviceCheck() { return this.#part(DeviceCheckClient); }
  appStore(given) { return new AppStore(this, given); }

  exchange(request, given) {
    const { Exchange } = require("./exchange.cjs");
    const { evidence, now } = options(given, ["evidence", "now"]);
    return Exchange.start(this.#open(), jsonText(request, "request"), evidenceOf(evidence ?? []),
      nowOf(now));
  }

  /** Return the transaction id that a receipt or a JWS claims: anyone can write it. */
  extractUnverifiedTransactionId(blob, given) {
    const content = this.triage(blob, given).unverified;
    if (content === null) return null;
    // A key is such as "Production/180000900000001".
    return content.transactionId ?? content.originalTransactionId ??
      content.keys[0]?.split("/")[1] ?? null;
  }

  get configuration() { return this.#document.json.configuration; }
  get document() { return this.#document; }
  get closed() { return this.#handle === undefined; }

  checkExpiry(dates, given) { return checkExpiry(dates, given); }

  close() {
    if (this.#handle !== undefined) native.close(this.#handle);
    this.#handle = undefined;
  }

  [inspect.custom]() { return `<assay.Verifier${this.closed ? " (closed)" : ""}>`; }
}

define(Verifier, "verifier", ["http"]);

const DATES = ["expiresAtMs", "graceExpiresAtMs", "revokedAtMs"];

/** Check whether dates that were stored are still in force; Infinity is an end that never comes. */
function checkExpiry(dates, given) {
  if (typeof dates !== "object" || dates === null) throw refuse("dates", "an object", dates);
  const found = options(dates, DATES);
  native.run(FUNCTION.checkExpiry, ...DATES.map((name) => found[name] === undefined ||
    found[name] === null ? undefined : milliseconds(found[name], name)), timeOf(given));
  const code = native.status[0];
  if (code !== 0 && (code & 0xff) !== 1) throw refusalOfStatus(code);
  return code === 0;
}

module.exports = { Verifier, AsyncVerifier, AppStore, Signer, Sessions, DeviceCheckClient,
  checkExpiry };

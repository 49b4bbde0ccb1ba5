"use strict";
// Refusals as errors of a family, and wrong arguments, which never reach the library.

const assert = require("node:assert/strict");
const test = require("node:test");
const { inspect } = require("node:util");
const { assay, callOf, first, given, inside, native, table, verifier } = require("./table.cjs");
const { refusalOfStatus } = inside("errors.cjs");

const CONFIG = { apps: [{ bundleId: "com.example.app", appAppleId: 1 }] };
const FAMILIES = { rejected: "RejectedError", malformed: "MalformedError",
  unsupported: "UnsupportedError", "too-large": "TooLargeError", misuse: "MisuseError",
  config: "ConfigError", unavailable: "UnavailableError", internal: "InternalError",
  pending: "PendingError" };

function accepted(kind = "transaction") {
  const item = first("verify_jws", "ok", { kind });
  return [verifier(item.verifier), item];
}

test("every status has the class of its family, and the library's texts", () => {
  let count = 0;
  for (let code = native.statusNext(0); code !== 0; code = native.statusNext(code)) {
    const error = refusalOfStatus(code);
    const family = FAMILIES[error.status.split(".")[0]];
    assert.equal(error.name, family);
    assert.ok(error instanceof assay[family] && error instanceof assay.AssayError);
    assert.ok(error instanceof Error);
    assert.equal(error.code, code);
    assert.ok(error.message.startsWith(`${error.status}: `), error.message);
    assert.equal(error.httpStatus, native.statusHttp(code));
    assert.ok(error.httpStatus >= 200 && error.httpStatus < 600);
    assert.ok(["never", "later", "same-once", "other-environment", "after-config"]
      .includes(error.retryClass), error.retryClass);
    assert.equal(error.document, null);
    count += 1;
  }
  assert.ok(count > 400, `${count}`);
  assert.equal(refusalOfStatus(0x7fff).name, "InternalError");
});

test("a refusal has what its document says, and no evidence", () => {
  const item = first("verify_jws", "rejected", { kind: "transaction" });
  const [method, jws, options] = callOf(item);
  assert.throws(() => verifier(item.verifier)[method](jws, options), (error) => {
    assert.ok(error instanceof assay.RejectedError);
    const { message, ...members } = error.document.error;
    for (const name of ["check", "rule", "at", "hint", "retryClass"]) {
      assert.equal(error[name], members[name] ?? null, name);
    }
    assert.ok(error.message.includes(message) && error.message.includes(error.hint));
    assert.equal(error.document.facts, null);
    const shown = inspect(error, { depth: 9 }) + JSON.stringify(error) + error.stack;
    assert.ok(!shown.includes(jws.slice(-40)));
    return true;
  });
});

test("verify never throws for a refusal", () => {
  const item = first("verify_jws", "malformed", { kind: "transaction" });
  const document = verifier(item.verifier).verify(item.kind, given(item, "jws"), { now: item.now });
  assert.equal(document.ok, false);
  assert.throws(() => document.throwIfFailed(), assay.MalformedError);
  const [owner, good] = accepted();
  assert.equal(owner.verify("transaction", good.jws, { now: good.now }).throwIfFailed(), undefined);
});

test("a configuration that is refused", () => {
  assert.throws(() => new assay.Verifier({ apps: [] }), (error) =>
    error instanceof assay.ConfigError && error.at === "apps");
  assert.throws(() => new assay.Verifier("{"), assay.ConfigError);
  assert.equal(new assay.Verifier(Buffer.from(JSON.stringify(CONFIG))).configuration.apps.length,
    1);
});

test("wrong types are refused before the library is called", async () => {
  const [owner, { jws, now }] = accepted();
  const transaction = owner.verifyTransaction(jws, { now });
  const TYPES = [
    () => owner.verifyTransaction(5), () => owner.verifyTransaction(null),
    () => owner.verifyTransaction([jws]), () => owner.verifyTransaction(new ArrayBuffer(2)),
    () => owner.verifyTransaction(new Uint16Array(4)), () => owner.verifyTransaction(jws, 5),
    () => owner.verifyTransaction(jws, [now]), () => owner.verifyTransaction(jws, { now: "5" }),
    () => owner.verifyTransaction(jws, { now: NaN }),
    () => owner.verifyTransaction(jws, { now: new Date("x") }),
    () => owner.verifyTransaction(jws, { nowMs: now }),
    () => owner.verify("any", jws), () => owner.verify("toString", jws),
    () => owner.verify("transaction", jws, { subject: Buffer.alloc(16) }),
    () => owner.verifyAppReceipt("x", { subject: "not a UUID" }),
    () => owner.verifyAttestation("x", { clientData: "a" }),
    () => owner.verifyAttestation("x", { keyId: "k" }),
    () => owner.verifyAttestation("x", { keyId: "k", clientData: "a",
      clientDataHash: Buffer.alloc(32) }),
    () => owner.verifyAttestation("x", { keyId: "k", clientDataHash: "text" }),
    () => owner.verifyAssertion("x", { publicKey: "k", counter: "1", clientData: "a" }),
    () => owner.verifyAssertion("x", { publicKey: "k", counter: 1.5, clientData: "a" }),
    () => owner.verifyToken("x", "keys"), () => owner.verifyToken("x", {}),
    () => owner.decide("text"), () => owner.decide([{}]), () =>
      owner.decide({ kind: "transaction" }),
    () => owner.decide([transaction.toJSON()]), () => owner.decide(transaction.chain),
    () => owner.decide(transaction, { account: 5 }),
    () => owner.exchange(5), () => owner.exchange([1]), () => owner.exchange(null),
    () => owner.checkExpiry(5), () => owner.checkExpiry({ expires: now }),
    () => owner.checkExpiry({ expiresAtMs: "soon" }),
    () => owner.assessRisk({ request: "paid" }, 5), () => owner.assessRisk({ request: Symbol("p") }),
    () => owner.assessRisk({ request: "paid", accountAgeMs: NaN }),
    () => owner.assessRisk({ request: "paid", accountAgeMs: () => 5 }),
    () => owner.assessRisk({ request: "paid", accountAgeMs: 5n }),
    () => new assay.Verifier({ ...CONFIG, clockSkewMs: Infinity }),
    () => new assay.Verifier(5), () => new assay.Verifier([]), () => new assay.Keyset(7),
    () => new assay.Document(), () => new assay.Transaction(), () => new assay.Exchange(),
    () => Object.create(assay.Transaction.prototype).productId,
  ];
  for (const call of TYPES) assert.throws(call, TypeError, call.toString());
  for (const wrong of [JSON.parse(transaction.document.text), transaction.document.text, undefined,
    null, [null], [[transaction]]]) {
    assert.throws(() => owner.decide(wrong, { now }), /^TypeError: evidence is .*never JSON/);
  }
  assert.throws(() => owner.verifyAssertion("x", { publicKey: "k", counter: 2 ** 32,
    clientData: "a" }),
    RangeError);
  for (const call of ["verifyTransaction", "decide", "triage", "verify"]) {
    await assert.rejects(owner.async[call](5), TypeError, call);
  }
  assert.throws(() => owner.verifyTransaction(jws, { now: 5 }), assay.MisuseError);
  assert.throws(() => owner.verifyTransaction(jws, { now: Infinity }), assay.MisuseError);
});

test("the addon refuses what is no handle of its own", () => {
  const { verifyJws, decide } = native.operations;
  const keys = native.run(native.operations.keysetNew, JSON.stringify({ keys: [] }))[1];
  for (const wrong of [undefined, null, {}, 5, "x", keys, Symbol("s")]) {
    assert.throws(() => native.run(verifyJws, wrong, 1, "a", 5), { code: "ERR_ASSAY_ADDON" });
    assert.throws(() => native.run(decide, wrong, [], null, 5), { code: "ERR_ASSAY_ADDON" });
    assert.throws(() => native.start(verifyJws, wrong, 1, "a", 5), { code: "ERR_ASSAY_ADDON" });
    if (wrong !== keys) assert.throws(() => native.close(wrong));
  }
  assert.throws(() => native.run(99), { code: "ERR_ASSAY_ADDON" });
  assert.throws(() => native.run(), Error);
  assert.throws(() => native.start(native.operations.verifierNew, "{}"), Error);
});

test("text, bytes, and what is no text", () => {
  const [owner, { jws, now }] = accepted();
  const padded = new Uint8Array(Buffer.from(`..${jws}..`)).subarray(2, jws.length + 2);
  for (const form of [jws, Buffer.from(jws), new Uint8Array(Buffer.from(jws)), padded]) {
    assert.ok(owner.verifyTransaction(form, { now: new Date(now) }).productId);
  }
  for (const wrong of ["", "\ud800", "\0", `${jws}\n`, "ä".repeat(9000), "x".repeat(70000)]) {
    const document = owner.verify("transaction", wrong, { now });
    assert.equal(document.ok, false);
  }
  // A text that fills the addon's buffer exactly, and one around it.
  for (let length = 16 << 10; length > (16 << 10) - 8; length -= 1) {
    for (const unit of ["a", "é", "€", "😀"]) {
      const text = unit.repeat(Math.ceil(length / Buffer.byteLength(unit)));
      assert.equal(owner.verify("transaction", text, { now }).text,
        owner.verify("transaction", Buffer.from(text), { now }).text);
    }
  }
});

/** Give Object.prototype members that have a value, while a call runs. */
function polluted(names, value, call) {
  const more = names.filter((name) => !(name in Object.prototype));
  try {
    for (const name of more) {
      Object.defineProperty(Object.prototype, name,
        { __proto__: null, value, writable: true, configurable: true });
    }
    return call();
  } finally {
    for (const name of more) delete Object.prototype[name];
  }
}

test("a polluted Object.prototype invents nothing", () => {
  const classes = [...Object.values(assay), ...Object.values(inside("../ledger.cjs"))];
  const facts = new Set(classes.filter((each) => each?.shown).flatMap((Class) => Class.names()));
  assert.ok(facts.size > 400, `${facts.size}`);
  const names = ["now", "subject", "account", "payload", "sensitivePaths", "sql", ...facts];
  const items = new Map(table().cases.filter((item) => item.expect.status === "ok" && callOf(item))
    .map((item) => [`${item.call} ${item.kind}`, item]));
  assert.ok(items.size > 9, [...items.keys()].join());
  const [owner, { jws, now }] = accepted();
  for (const item of items.values()) {
    const [method, ...given] = callOf(item);
    const read = () => JSON.stringify(verifier(item.verifier)[method](...given));
    read(); // its chain is proven from here on
    const wanted = read();
    for (const value of [1, "x", true]) assert.equal(polluted(names, value, read), wanted, method);
  }
  const kind = polluted(names, 1, () => owner.verifyTransaction(jws, {}).document.json.kind);
  assert.equal(kind, "transaction");
  const [entitled, revocationDate, rule] = polluted(names, 1, () => {
    const found = owner.verifyTransaction(jws, { now });
    const { error } = owner.verify("transaction", "x", { now });
    return [owner.decide(found, { now }).entitled, found.revocationDate, error.rule];
  });
  assert.deepEqual([entitled, revocationDate, typeof rule], [true, null, "string"]);
});

test("facts are read-only, their JSON is frozen, and no clone is proof", () => {
  const [owner, { jws, now }] = accepted();
  const found = owner.verifyTransaction(jws, { now });
  const { json } = found.document;
  const walk = (value) => {
    if (typeof value !== "object" || value === null) return;
    assert.ok(Object.isFrozen(value));
    Object.values(value).forEach(walk);
  };
  walk(json);
  walk(found.payload);
  assert.throws(() => { found.productId = "x"; }, TypeError);
  assert.throws(() => { json.ok = false; }, TypeError);
  assert.throws(() => owner.decide(structuredClone(found)), TypeError);
  assert.throws(() => owner.decide(structuredClone(found.document)), TypeError);
  assert.equal(JSON.parse(found.document.text).transaction.productId, found.productId);
  assert.equal(found.expiresAt.getTime(), found.expiresDate);
  assert.match(inspect(found), /^Transaction \{/);
  assert.ok(!inspect(found.document).includes(found.transactionId));
  assert.equal(found.document.facts.transactionId, found.transactionId);
});

test("nested facts", () => {
  const [owner, item] = accepted("notification");
  const found = owner.verifyNotification(item.jws, { now: item.now });
  assert.ok(found.transaction instanceof assay.Transaction);
  assert.equal(found.transaction.document, found.document);
  assert.equal(found.data.bundleId, found.payload.data.bundleId);
  assert.ok(owner.decide(found.transaction, { now: item.now }).plan);
});

test("what an operation without steps answers", () => {
  const { assessRisk } = new assay.Verifier(CONFIG);
  const owner = new assay.Verifier(CONFIG);
  assert.equal(assessRisk.call(owner, { request: "paid", attestation: "verified" }).allowed, true);
  const denied = owner.assessRisk({ request: "paid", attestation: "refused" });
  assert.equal(denied.allowed, false);
  assert.equal(denied.status.split(".")[0], "rejected");
  assert.throws(() => owner.assessRisk({ request: "paid", misspelt: 1 }), assay.MalformedError);
  const key = "gi+KkVDDb2zNc0thibwgqi7+jVGS07kF1Ov6raWzMyo=";
  assert.equal(owner.normalizeKeyId(Buffer.from(key, "base64")), key);
  assert.equal(owner.normalizeKeyId(Buffer.from(key, "base64").toString("hex")), key);
  assert.throws(() => owner.normalizeKeyId("x"), assay.MalformedError);
  assert.throws(() => owner.signer.signApiToken(), assay.ConfigError);
  assert.equal(table().assayCases, 1);
});

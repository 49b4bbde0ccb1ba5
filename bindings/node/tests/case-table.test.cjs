"use strict";
// Every case of the shared table: the expected document, its typed facts, and the bytes that C gets
// from the same library (ASSAY_DUMP names the program that prints them).

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const { dirname, join } = require("node:path");
const test = require("node:test");
const { PACKAGE, assay, callOf, documentOf, evidenceOf, given, native, table, unsaid, verifier } =
  require("./table.cjs");

require(join(PACKAGE, "ledger.cjs")); // documents of a ledger have facts then, its results

const MEMBERS = Object.getPrototypeOf(assay.EffectiveDate);
// Members of documents that have no getter: what this version does not know, and those of every
// exchange.
const OPAQUE = new Set(["payload", "unknown", "unknownInReceipt", "operation", "retry",
  "step"]);
// Members that the library writes as a text where there is no such value: the getter has none.
const TEXT_INSTEAD = new Set(["expirationDate", "challenge"]);

/** Return the document of a case, called once, in the way of the binding. */
const RUN = {
  verify(item) {
    const call = callOf(item);
    const owner = verifier(item.verifier);
    if (call) return documentOf(() => owner[call[0]](...call.slice(1)));
    const found = unsaid(handleOf(owner), item);
    return found;
  },
  verify_token(item) {
    const keys = new assay.Keyset(given(item, "jwks"));
    const owner = verifier(item.verifier);
    const verify = (each) => documentOf(() =>
      owner.verifyToken(given(each, "token"), keys, { now: each.now }));
    for (const seen of item.earlier) verify(seen);
    return verify(item);
  },
  keyset_new: (item) => documentOf(() => new assay.Keyset(given(item, "jwks")).facts),
  verifier_new: (item) => documentOf(() => {
    const made = new assay.Verifier(given(item, "config"));
    made.close();
    return made.document;
  }),
  decide: (item) => documentOf(() => verifier(item.verifier)
    .decide(evidenceOf(item), { account: item.account, now: item.now })),
  exchange(item) {
    return documentOf(() => {
      const found = verifier(item.verifier)
        .exchange(given(item, "request"), { evidence: evidenceOf(item), now: item.now });
      assert.equal(found.done, !item.expect.status.startsWith("pending."));
      found.close();
      return found.document;
    });
  },
  transcript(item) {
    let exchange;
    let document = documentOf(() => {
      exchange = verifier(item.verifier)
        .exchange(given(item, "request"), { evidence: evidenceOf(item), now: item.now });
      return exchange.document;
    });
    for (const step of item.steps) {
      checkExpected(document, step.expect);
      if (exchange.done) { // the binding itself refuses a further reply
        assert.throws(() => exchange.reply(given(step, "answer"), { now: step.now }), /is over/);
        assert.equal(item.expect.status, "misuse.exchange.order");
        return undefined;
      }
      document = documentOf(() => exchange.reply(given(step, "answer"), { now: step.now }));
    }
    if (exchange) assert.equal(exchange.done, !item.expect.status.startsWith("misuse."));
    exchange?.close();
    return document;
  },
};
for (const name of ["verify_jws", "verify_receipt", "read_verify_receipt_response", "triage",
  "verify_attestation", "verify_assertion"]) RUN[name] = RUN.verify;

/** Return a verifier's handle: one of its own, made by the addon. */
const handles = new Map();
function handleOf(owner) {
  if (!handles.has(owner)) {
    const name = Object.keys(table().verifiers).find((each) => verifier(each) === owner);
    const text = JSON.stringify(table().verifiers[name]);
    handles.set(owner, native.run(native.operations.verifierNew, text)[1]);
  }
  return handles.get(owner);
}

function checkExpected(document, expect) {
  assert.equal(document.status, expect.status);
  assert.equal(document.json.status.code, document.code);
  assert.equal(document.json.ok, document.ok);
  if ("check" in expect) assert.equal(document.error.check, expect.check);
  if ("at" in expect) assert.equal(document.error.at, expect.at);
  if ("hint" in expect) assert.ok(document.error.hint.startsWith(expect.hint), document.error.hint);
  for (const [path, value] of Object.entries(expect.facts ?? {})) {
    let found = document.json;
    for (const step of path.split(".")) found = found?.[step];
    assert.deepEqual(found ?? null, value, path);
  }
}

/** Check that every member of the JSON has a getter with the same value. */
function checkMembers(found, values, where) {
  const names = found.constructor.names();
  for (const key of Object.keys(values)) {
    assert.ok(names.includes(key) || OPAQUE.has(key), `${where} has no ${key}`);
  }
  for (const name of names) checkMember(found, values, name, `${where}.${name}`);
}

/** Check one member against the facts, or against the signed JSON, which alone may have it. What
 * Apple signed may have members of other types. */
function checkMember(found, values, name, at) {
  const value = found[name];
  const raw = Object.hasOwn(values, name) ? values[name] : values.payload?.[name];
  if (value === null || (Array.isArray(value) && value.length === 0)) {
    const none = Array.isArray(values[name]) ? values[name].length === 0 : values[name] ?? null;
    assert.ok(none === null || none === true ||
      (TEXT_INSTEAD.has(name) && typeof none === "string"), at);
  } else if (raw !== undefined) {
    checkValue(value, raw, at);
  }
}

function checkValue(value, raw, at) {
  if (value instanceof Date) assert.ok(!Number.isNaN(value.getTime()), at);
  else if (value instanceof Uint8Array) assert.equal(Buffer.from(value).toString("base64"), raw,
    at);
  else if (value instanceof MEMBERS) {
    for (const name of value.constructor.names()) checkMember(value, raw, name, `${at}.${name}`);
  } else if (Array.isArray(value)) {
    assert.equal(value.length, raw.length, at);
    value.forEach((each, place) => checkValue(each, raw[place], at));
  } else assert.deepEqual(value, raw, at);
}

/** Return what C prints of a document: without the signatures, each of which is different. */
function repeatable(document) {
  let { text } = document;
  for (const name of ["token", "jws", "signature", "clientSecret"]) {
    const value = document.json.exchange?.[name];
    if (typeof value === "string") {
      text = text.replace(value, value.slice(0, value.lastIndexOf(".") + 1));
    }
  }
  // An offer inside the body of a realtime answer, which is JSON within a text.
  return text.replace(/(promotionalOfferSignatureV2\\":\\"[^"\\]*\.)[^".\\]*/, "$1");
}

function dumped() {
  const program = process.env.ASSAY_DUMP;
  if (!program) return undefined;
  const { status, stdout } = spawnSync(program, [process.env.ASSAY_CASES], { encoding: "utf8",
    maxBuffer: 1 << 30, env: { ...process.env, LD_LIBRARY_PATH: dirname(assay.libraryPath) } });
  assert.equal(status, 0);
  return stdout;
}

test("every case", async (t) => {
  const printed = dumped();
  for (const name of Object.keys(table().verifiers)) verifier(name); // first, as C does
  let at = printed?.indexOf(`\n${table().cases[0].name}\t`) + 1;
  let same = 0;
  const calls = new Map();
  for (const item of table().cases) calls.set(item.call, [...calls.get(item.call) ?? [], item]);
  const failures = new Map([...calls.keys()].map((call) => [call, []]));
  const different = [];
  for (const [place, item] of table().cases.entries()) {
    let document;
    try {
      if (item.call === "check_expiry") checkExpiry(item);
      else {
        document = RUN[item.call](item);
        if (document) {
          checkExpected(document, item.expect);
          if (document.facts) checkMembers(document.facts, document.facts.constructor.payload
            ? { ...valuesOf(document) } : document.facts.payload, document.kind);
        }
      }
    } catch (error) {
      failures.get(item.call).push(`${item.name}: ${error.message}`);
    }
    if (printed !== undefined) {
      const line = document && `${item.name}\t${document.code}\t${repeatable(document)}\n`;
      if (line !== undefined && printed.startsWith(line, at)) same += 1;
      else if (line !== undefined) different.push(`${item.name}: ${printed.slice(at, at + 300)}`);
      const next = table().cases[place + 1];
      if (line !== undefined && printed.startsWith(line, at)) at += line.length;
      else at = next ? printed.indexOf(`\n${next.name}\t`, at) + 1 : printed.length;
    }
  }
  for (const [call, found] of failures) {
    await t.test(`${call}: ${calls.get(call).length} cases`, () =>
      assert.deepEqual(found.slice(0, 10), []));
  }
  await t.test("documents are C's, byte for byte", {
    skip: printed === undefined && "ASSAY_DUMP names no program",
  }, () => {
    assert.deepEqual(different.slice(0, 5), []);
    assert.ok(same > 6000, `only ${same} were compared`);
  });
});

function checkExpiry({ expires, grace, revoked, now, expect }) {
  const ask = () => assay.checkExpiry(
    { expiresAtMs: expires, graceExpiresAtMs: grace, revokedAtMs: revoked }, { now });
  if (expect.status.startsWith("misuse.")) {
    assert.throws(ask, (error) => error instanceof assay.MisuseError &&
      error.status === expect.status);
  } else {
    assert.equal(ask(), expect.status === "ok");
    assert.equal(native.statusText(native.status[0], 1), expect.status);
  }
}

/** Return the JSON of the facts of a document, by the path of their class. */
function valuesOf(document) {
  let found = document.json;
  for (const step of document.facts.constructor.at) found = found[step];
  return found;
}

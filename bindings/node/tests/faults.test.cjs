"use strict";
// Every call of Node-API fails once, in an addon that is built for it (`make check-node-asan`): the
// result is an error or nothing, memory stays whole, and the next call works.

const assert = require("node:assert/strict");
const test = require("node:test");
const { assay, first, native, table } = require("./table.cjs");

const item = first("verify_jws", "ok", { kind: "transaction" });
const config = JSON.stringify(table().verifiers[item.verifier]);
const { verifierNew, verifyJws, decide, exchangeNew, keysetNew } = native.operations;
const [, owner] = native.run(verifierNew, config);
const document = native.run(verifyJws, owner, 1, item.jws, item.now);
const request = JSON.stringify({ operation: "assess-risk",
  observations: { request: "read", attestation: "verified" } });
const MOST = 40; // more than any function makes

/** Call with each call of Node-API failing in turn; return how many of them failed. */
async function fail(call) {
  let failed = 0;
  for (let at = 0; at < MOST; at += 1) {
    native.failAt(at);
    try {
      await call();
    } catch (error) {
      failed += 1;
      assert.ok(error === undefined || error instanceof Error, String(error));
    }
  }
  native.failAt(-1);
  assert.ok(native.text(native.run(verifyJws, owner, 1, item.jws, item.now)).includes('"ok":true'));
  return failed;
}

const CALLS = {
  "a verification": () => native.run(verifyJws, owner, 1, item.jws, item.now),
  "a long text": () => native.run(verifyJws, owner, 1, "x".repeat(200_000), item.now),
  "bytes": () => native.run(verifyJws, owner, 1, Buffer.from(item.jws), item.now),
  "a decision": () => native.run(decide, owner, [document, document], null, item.now),
  "a verifier": () => native.run(verifierNew, config),
  "a key set": () => native.run(keysetNew, first("keyset_new").jwks),
  "an exchange": () => native.run(exchangeNew, owner, request, [], item.now),
  "a text": () => native.text(document),
  "a status": () => native.statusText(0, 1),
  "an HTTP status": () => native.statusHttp(0),
  "opening": () => native.open(assay.libraryPath),
  "closing": () => native.close(native.run(verifyJws, owner, 1, item.jws, item.now)),
  "collecting": () => native.collect(),
};
CALLS["a call on the thread pool"] = () => Promise.race([
  native.start(verifyJws, owner, 1, item.jws, item.now),
  new Promise((resolve) => { setTimeout(resolve, 200); }), // a promise that nobody fulfils
]);

if (native.failAt === undefined) {
  test("faults", { skip: "the addon has no planted ones: make check-node-asan" }, () => {});
} else {
  for (const [name, call] of Object.entries(CALLS)) {
    test(`faults in ${name}`, async () => assert.ok(await fail(call) > 0));
  }
}

"use strict";
// Handles closed in any order, memory over many calls, and calls on the thread pool.

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const { memoryUsage } = require("node:process");
const test = require("node:test");
const { assay, begun, first, native, replies, table, transcript, verifier } =
  require("./table.cjs");

const item = first("verify_jws", "ok", { kind: "transaction" });
const { jws, now } = item;
const owner = verifier(item.verifier);
const fresh = () => new assay.Verifier(table().verifiers[item.verifier]);
// ASSAY_SOAK=1000000 makes it the long one, 0 leaves it out.
const CALLS = Number(process.env.ASSAY_SOAK ?? 60_000);
// A short one ends before V8 has all the memory that it wants.
const GROWTH = (CALLS < 1_000_000 ? 24 : 4) << 20;

test("handles are closed in any order, twice, and are then refused", async () => {
  const own = fresh();
  const [document, other] = [own.verify("transaction", jws, { now }), own.verify("transaction",
    jws, { now })];
  const exchange = own.exchange({ operation: "assess-risk",
    observations: { request: "read", attestation: "verified" } });
  other.close();
  own.close();
  own.close();
  assert.ok(document.ok && document.facts.productId); // valid after its verifier
  assert.throws(() => own.verifyTransaction(jws, { now }), /the verifier is closed/);
  await assert.rejects(own.async.verifyTransaction(jws, { now }), /the verifier is closed/);
  assert.throws(() => own.exchange({ operation: "assess-risk" }), /the verifier is closed/);
  assert.throws(() => owner.decide(other, { now }), /the document is closed/);
  assert.throws(() => other.text, /the document is closed/);
  assert.ok(owner.decide([document, document], { now }).entitled);
  document.close();
  document.close();
  exchange.close();
  const keys = new assay.Keyset(first("keyset_new").jwks);
  keys.close();
  keys.close();
  assert.throws(() => owner.verifyToken("a.b.c", keys), /the key set is closed/);
  assert.equal(own.closed && keys.closed, true);
});

test("what is closed while a call uses it is freed when the call ends", async () => {
  const own = fresh();
  const document = own.verify("transaction", jws, { now });
  const running = [];
  for (let count = 0; count < 40; count += 1) {
    running.push(own.async.verifyTransaction(jws, { now }), own.async.decide(document, { now }));
  }
  own.close();
  document.close();
  const found = await Promise.all(running);
  assert.equal(found.filter((each) => each.productId || each.entitled).length, 80);
  assert.throws(() => own.verifyTransaction(jws), /closed/);
});

test("calls on the thread pool answer as the others do", async () => {
  const one = owner.verifyTransaction(jws, { now }).document.text;
  const found = await Promise.all(Array.from({ length: 300 }, () =>
    owner.async.verifyTransaction(jws, { now })));
  for (const each of found) assert.equal(each.document.text, one);
  await assert.rejects(owner.async.verifyTransaction(`${jws}x`, { now }), assay.AssayError);
  assert.equal((await owner.async.verify("transaction", "x", { now })).ok, false);
  assert.equal((await owner.async.assessRisk({ request: "read",
    attestation: "verified" })).allowed, true);
});

test("an exception in a callback leaves everything usable", async () => {
  const broken = new Error("of the host");
  const played = transcript("a good answer");
  const exchange = begun(played);
  await assert.rejects(exchange.run(() => { throw broken; }), broken);
  await assert.rejects(exchange.run(async () => { throw broken; }), broken);
  await assert.rejects(exchange.run(() => 5), TypeError);
  await assert.rejects(exchange.run(() => replies(played)[0], { clock() { throw broken; } }),
    broken);
  assert.equal(exchange.done, false);
  const evil = { get now() { throw broken; } };
  assert.throws(() => owner.verifyTransaction(jws, evil), broken);
  assert.throws(() => owner.decide({ [Symbol.iterator]() { throw broken; } }), broken);
  assert.throws(() => new assay.Verifier({ get apps() { throw broken; } }), broken);
  assert.throws(() => owner.assessRisk({ get request() { throw broken; } }), broken);
  const document = exchange.reply(replies(played)[0], { now: played.now });
  assert.ok(document.ok, document.text);
});

test("using closes at the end of a block", { skip: !Symbol.dispose && "no Symbol.dispose" }, () => {
  const own = fresh();
  own[Symbol.dispose]();
  assert.ok(own.closed);
  for (const Class of [assay.Document, assay.Exchange, assay.Keyset]) {
    assert.equal(Class.prototype[Symbol.dispose], Class.prototype.close);
  }
});

/** Return how much the process grew over rounds after the first ones, which fill caches. */
async function growth(round) {
  const rounds = 6;
  let most = 0;
  for (let number = 0; number < rounds; number += 1) {
    await round(CALLS / rounds);
    if (number < 3) most = Math.max(most, memoryUsage().rss);
  }
  return memoryUsage().rss - most;
}

const soak = { skip: CALLS === 0 && "ASSAY_SOAK is 0" };

test(`memory is flat over ${CALLS} calls in one turn`, soak, async () => {
  const grown = await growth((count) => {
    for (let call = 0; call < count; call += 1) owner.verifyTransaction(jws, { now }).productId;
  });
  assert.ok(grown <= GROWTH, `${grown} bytes more`);
});

test(`memory is flat over ${CALLS} calls over turns`, soak, async () => {
  const grown = await growth(async (count) => {
    for (let call = 0; call < count; call += 100) {
      for (let each = 0; each < 50; each += 1) owner.verify("transaction", `${jws}x`, { now }).ok;
      await Promise.all(Array.from({ length: 50 }, () => owner.async.verifyTransaction(jws,
        { now })));
    }
  });
  assert.ok(grown <= GROWTH, `${grown} bytes more`);
});

test("documents whose objects are gone are freed", () => {
  const code = `
    const { native, first, verifier } =
      require(${JSON.stringify(require.resolve("./table.cjs"))});
    const item = first("verify_jws", "ok", { kind: "transaction" });
    const owner = verifier(item.verifier);
    const kept = Array.from({ length: 10 }, () => owner.verifyTransaction(item.jws,
      { now: item.now }));
    for (let count = 0; count < 5000; count++) owner.verify("transaction", item.jws,
      { now: item.now });
    setTimeout(() => {
      gc();
      console.log(native.collect(), kept.every((each) => each.productId));
    }, 10);`;
  const done = spawnSync(process.execPath, ["--expose-gc", "-e", code], { encoding: "utf8" });
  assert.equal(done.stderr, "");
  const [left, usable] = done.stdout.trim().split(" ");
  assert.ok(Number(left) >= 10 && Number(left) < 20, done.stdout);
  assert.equal(usable, "true");
  assert.ok(native.collect() >= 0);
});

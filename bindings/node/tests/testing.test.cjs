"use strict";
// The part of the package for tests: what it mints, what it refuses to mint, and Apple as a mock.

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const { existsSync, mkdtempSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const test = require("node:test");
const { PACKAGE, assay } = require("./table.cjs");

if (!process.env.ASSAY_CLI) throw new Error("ASSAY_CLI is not set: run `make check-node`");
process.env.ASSAY_PROGRAM = process.env.ASSAY_CLI;
const { Authority, MintError, MockApple, MockError } = require(join(PACKAGE, "testing.cjs"));

const folder = mkdtempSync(join(tmpdir(), "assay-testing-"));
test.after(() => rmSync(folder, { recursive: true }));
const authority = new Authority(join(folder, "authority"));
const { verifier } = authority;

test("each kind is what its verification takes", () => {
  const jws = authority.transaction({ product: "com.example.app.lifetime",
    type: "non-consumable" });
  assert.equal(verifier.verifyTransaction(jws).productId, "com.example.app.lifetime");
  assert.equal(verifier.verifyRenewalInfo(authority.renewalInfo({ renewalOff: true }))
    .autoRenewStatus, 0);
  assert.equal(verifier.verifyNotification(authority.notification()).type, "SUBSCRIBED");
  assert.equal(verifier.verifyNotification(authority.notification("TEST")).type, "TEST");
  for (const [kind, minted] of Object.entries({
    "app-transaction": authority.appTransaction(),
    "realtime-request": authority.realtimeRequest(),
    "transaction-receipt": authority.transactionReceipt(),
    "app-receipt": authority.appReceipt({ purchases: 2 }),
    "attest-receipt": authority.attestReceipt({ refreshed: true, risk: 3 }),
    "verify-receipt-response": authority.verifyReceiptResponse({ appleStatus: 0 }),
  })) {
    assert.equal(verifier.verify(kind, minted).status, "ok", kind);
  }
});

test("a device attests, and asks", () => {
  const made = authority.attestation("challenge");
  const key = verifier.verifyAttestation(made.object,
    { keyId: made.keyId, clientData: made.clientData });
  const asked = authority.assertion("the request", 7);
  const { publicKey } = asked;
  assert.equal(publicKey, Buffer.from(key.publicKey.x963).toString("base64"));
  assert.equal(verifier.verifyAssertion(asked.object,
    { publicKey, counter: 6, clientData: asked.clientData }).counter, 7);
  assert.throws(() => verifier.verifyAssertion(asked.object,
    { publicKey, counter: 7, clientData: asked.clientData }), assay.RejectedError);
});

test("options: dates, members, and one broken rule", () => {
  const purchased = new Date("2026-03-01T00:00:00Z");
  const jws = authority.transaction({ purchased, expires: Date.parse("2026-04-01T00:00:00Z"),
    account: null, expired: false, set: { price: 1990 }, remove: ["currency"] });
  const found = verifier.verifyTransaction(jws);
  assert.deepEqual([found.purchaseAt, found.price, found.currency], [purchased, 1990, null]);
  const forged = authority.transaction({ forge: "JWS-20" });
  assert.throws(() => verifier.verifyTransaction(forged),
    { status: "rejected.chain.untrusted-root" });
});

test("what Apple could not have signed", () => {
  assert.throws(() => authority.transaction({ quantity: 0 }), MintError);
  assert.throws(() => authority.mint("nothing"), MintError);
  process.env.ASSAY_PROGRAM = join(folder, "absent");
  assert.throws(() => authority.transaction(), MintError);
  process.env.ASSAY_PROGRAM = process.env.ASSAY_CLI;
});

test("a configuration of your own trusts the authority alone", () => {
  const other = new Authority(join(folder, "other"), { bundleId: "com.example.game", appId: 42,
    now: new Date("2026-05-01T00:00:00Z") });
  const own = { apps: [{ bundleId: "com.example.game", appAppleId: 42 }],
    environments: ["Production"], plans: ["free", "gold"],
    products: { "gold.monthly": { plan: "gold", type: "auto-renewable" } } };
  const jws = other.transaction({ product: "gold.monthly", environment: "Production" });
  for (const config of [own, JSON.stringify(own)]) {
    const trusting = other.trusting(config);
    const now = other.now;
    assert.equal(trusting.decide(trusting.verifyTransaction(jws, { now }), { now }).plan, "gold");
  }
  assert.equal(own.storekit, undefined);
  assert.throws(() => verifier.verifyTransaction(jws), assay.RejectedError);
});

test("without a folder the authority ends with the process", () => {
  const done = spawnSync(process.execPath, ["-e", `
    const { Authority } = require(${JSON.stringify(join(PACKAGE, "testing.cjs"))});
    process.stdout.write(new Authority().folder);`], { encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  assert.ok(done.stdout.startsWith(tmpdir()) && !existsSync(done.stdout), done.stdout);
});

test("Apple as a mock: an answer, a fault, the log", async () => {
  const apple = await MockApple.start(authority, { script: [{ nth: 2, fault: { status: 503 } }] });
  try {
    const store = apple.verifier.appStore({ environment: "Sandbox", attempts: 1 });
    const ask = () => store.getTransactionInfo("2000000900000001",
      { sender: apple.sender });
    assert.equal((await ask()).transactions[0].transactionId, "2000000900000001");
    await assert.rejects(ask(), assay.UnavailableError);
    await apple.play("refund", { environment: "Sandbox", transactionId: "2000000900000002" });
    await assert.rejects(apple.play("refund", { transactionId: 1 }), MockError);
    const log = await apple.log();
    assert.deepEqual(log.slice(0, 2).map(({ status }) => status), [200, 503]);
  } finally {
    await apple.close();
    await apple.close();
  }
  await assert.rejects(apple.log());
});

test("a mock that cannot start, and one that a program forgets", async () => {
  await assert.rejects(MockApple.start(authority, { state: folder }), MockError);
  await assert.rejects(MockApple.start(authority, { script: [{ fault: { absent: 1 } }] }),
    MockError);
  const done = spawnSync(process.execPath, ["-e", `
    const { Authority, MockApple } = require(${JSON.stringify(join(PACKAGE, "testing.cjs"))});
    MockApple.start(new Authority()).then((apple) => process.stdout.write(apple.url));`],
  { encoding: "utf8", timeout: 60_000 });
  assert.equal(done.status, 0, done.stderr);
  await assert.rejects(fetch(done.stdout));
});

test("it is imported as a module as well", () => {
  const done = spawnSync(process.execPath, ["--input-type=module", "-e", `
    import testing, * as names from ${JSON.stringify(join(PACKAGE, "testing.mjs"))};
    const found = Object.keys(testing).filter((name) => testing[name] === names[name]);
    process.stdout.write(found.join(" "));`],
  { encoding: "utf8" });
  assert.equal(done.stdout, "Authority MintError MockApple MockError program", done.stderr);
});

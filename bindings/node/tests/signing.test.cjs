"use strict";
// Tokens, offers, sessions, DeviceCheck and risk: the calls, and their typed results.

const assert = require("node:assert/strict");
const test = require("node:test");
const { inspect } = require("node:util");
const { assay, callOf, first, inside, table, transcript, verifier } = require("./table.cjs");
const { MADE } = inside("document.cjs");

const NOW = 1_795_219_200_000;
const APPS = [{ bundleId: "com.example.app", appAppleId: 1234567890, teamId: "ABCDE12345" }];
// PKCS#8 of the P-256 key with the private number 1.
const PKCS8 = Buffer.concat([
  Buffer.from("3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420", "hex"),
  Buffer.alloc(31), Buffer.from([1])]);
const KEY = { keyId: "KEYID12345",
  privateKey: ["-----BEGIN PRIVATE KEY-----", PKCS8.toString("base64"), "-----END PRIVATE KEY-----",
    ""].join("\n") };
const owner = new assay.Verifier({ apps: APPS, deviceCheck: KEY, appleId: KEY,
  appStoreServerApi: { issuerId: "57246542-96fe-1a63-e053-0824d011072a", ...KEY },
  session: { secrets: [{ id: "s1", secret: Buffer.alloc(32, "secret").toString("base64") }] } });

const claims = (token) => token.split(".").slice(0, 2)
  .map((part) => JSON.parse(Buffer.from(part, "base64url")));

test("tokens", () => {
  const token = owner.signer.signApiToken({ now: NOW });
  const [header, body] = claims(token.token);
  assert.deepEqual(header, { alg: "ES256", kid: "KEYID12345", typ: "JWT" });
  assert.equal(body.bid, "com.example.app");
  assert.equal(body.exp * 1000, token.expiresAtMs);
  assert.equal(token.expiresAt.getTime(), token.expiresAtMs);
  assert.deepEqual(claims(owner.signer.signDeviceCheckToken({ now: NOW }).token)[1],
    { iss: "ABCDE12345", iat: NOW / 1000, exp: NOW / 1000 + 1200 });
  const secret = owner.signer.signAppleClientSecret({ ttlMs: 60_000, now: new Date(NOW) });
  assert.equal(claims(secret.clientSecret)[1].exp, NOW / 1000 + 60);
});

test("offers", () => {
  const nonce = "5ff3a6d2-51f6-4b4d-9a8e-4b1f4f1d2c3a";
  const offer = owner.signer.signPromotionalOffer(
    { productId: "p1", offerIdentifier: "o1", transactionId: "7", nonce, now: NOW });
  assert.equal(claims(offer.jws)[1].productId, "p1");
  assert.equal(offer.nonce, nonce);
  const free = owner.signer.signIntroductoryOfferEligibility(
    { productId: "p1", allowIntroductoryOffer: false, transactionId: "7", now: NOW });
  assert.equal(claims(free.jws)[1].allowIntroductoryOffer, false);
  const old = owner.signer.signPromotionalOfferV1(
    { productId: "p1", offerId: "o1", applicationUsername: "User", timestamp: new Date(NOW - 5) });
  assert.equal(old.timestamp, NOW - 5);
  assert.throws(() => owner.signer.signPromotionalOffer({ productId: "", offerIdentifier: "o1" }),
    (error) => error instanceof assay.MisuseError && error.at === "productId");
  assert.throws(() => owner.signer.signPromotionalOffer({ productId: "a", offerIdentifier: "o1",
    misspelt: 1 }), assay.MisuseError);
});

test("no secret result is printed, or written as JSON", () => {
  const document = owner.document;
  for (const [Class, names] of [[assay.AppleTokens, ["accessToken", "refreshToken"]],
    [assay.SignedToken, ["token"]], [assay.IssuedSession, ["text"]],
    [assay.ClientSecret, ["clientSecret"]]]) {
    const secrets = Object.fromEntries(names.map((name) => [name, "eyJh"]));
    const found = new Class(MADE, document, { expiresAtMs: 1, ...secrets });
    const shown = [found, [found], { found }].map((each) => inspect(each, { depth: 9 })).join() +
      JSON.stringify([found]) + `${found}`;
    assert.ok(shown.includes("expiresAtMs") && !shown.includes("eyJh"), shown);
    for (const name of names) assert.equal(found[name], "eyJh");
  }
});

test("a session, issued and verified", () => {
  const item = first("verify_assertion");
  const signing = verifier("signing");
  const [method, ...rest] = callOf(item);
  const proven = signing[method](...rest);
  const issued = signing.sessions.issueSession(proven, "account-1",
    { verdict: "limited", risk: 3, binding: "jti", ttlMs: 60_000, now: item.now });
  assert.equal(issued.expiresAtMs - issued.issuedAtMs, 60_000);
  const ask = (more) => signing.sessions.verifySession({ session: issued.text, purpose: "metered",
    account: "account-1", binding: "jti", now: item.now, ...more });
  const session = ask();
  assert.deepEqual([session.account, session.verdict, session.limited, session.risk, session.keyId],
    ["account-1", "limited", true, 3, issued.keyId]);
  for (const more of [{ purpose: "paid" }, { account: "account-2" }, { binding: undefined }]) {
    assert.throws(() => ask(more), assay.RejectedError);
  }
  assert.throws(() => signing.sessions.issueSession([], "account-1", { now: item.now }),
    assay.MisuseError);
});

test("DeviceCheck: responses, tokens, and an exchange", () => {
  const body = '{"bit0":true,"bit1":false,"last_update_time":"2026-05"}';
  const bits = { bit0: { name: "promo-used", resetAfterMonths: 12 },
    bit1: { name: "abuse", resetAfterMonths: 24 } };
  const device = new assay.Verifier({ apps: APPS, deviceCheck: { ...KEY, bits } });
  for (const form of [body, Buffer.from(body)]) {
    const found = device.readDeviceCheckResponse({ call: "query", status: 200, body: form,
      now: NOW });
    assert.deepEqual([found.outcome, found.month, found.bits.bit0.set, found.bits.bit1.name],
      ["bits", "2026-05", true, "abuse"]);
    const risk = device.assessRisk({ request: "promo", attestation: "verified",
      deviceCheck: found },
      { now: NOW });
    assert.equal(risk.verdict, "deny");
    assert.equal(risk.httpStatus, 403);
  }
  assert.throws(() => device.readDeviceCheckResponse({ call: "query", status: 400,
    body: "Bad Device Token" }), (error) => error.document.facts.outcome === "token-refused");
  const octets = Buffer.from(Array.from({ length: 32 }, (_, place) => (251 - 7 * place) & 255));
  const normal = octets.toString("base64");
  for (const form of [octets, normal]) assert.equal(device.normalizeDeviceToken(form), normal);
  assert.throws(() => device.normalizeDeviceToken(Buffer.alloc(8193)), assay.TooLargeError);
  assert.throws(() => device.normalizeDeviceToken(), TypeError);
  const exchange = owner.exchange({ operation: "query-device-bits", deviceToken: "AQID",
    transactionId: "t" }, { now: NOW });
  assert.match(exchange.step.http.headers[0][1], /^Bearer /);
  exchange.reply({ id: 1, status: 200, body: { text: "Bit State Not Found" } }, { now: NOW });
  assert.equal(exchange.facts.outcome, "no-bits");
});

test("a device's bits by a method", async () => {
  const sender = async ({ id }) => ({ id, status: 200, body: { text: "Bit State Not Found" } });
  const request = { deviceToken: Buffer.from([1, 2, 3]), transactionId: "t", sender, now: NOW,
    clock: () => NOW };
  assert.equal((await owner.deviceCheck.queryDeviceBits(request)).outcome, "no-bits");
  const ok = async ({ id }) => ({ id, status: 200, body: { text: "" } });
  assert.equal((await owner.deviceCheck.updateDeviceBits({ ...request, bit0: true,
    sender: ok })).outcome,
    "updated");
  assert.equal((await owner.deviceCheck.validateDeviceToken({ ...request, sender: ok })).outcome,
    "valid");
});

test("the App Store Server API, by Apple's names", async () => {
  const names = table().cases.filter((each) => / App Store: /.test(each.name) &&
    each.call === "transcript")
    .map((each) => JSON.parse(each.request).operation);
  const camel = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
  const methods = new Set(names.filter((name) => name !== "get-images").map(camel));
  assert.equal(methods.size, 39);
  for (const name of methods) assert.equal(typeof assay.AppStore.prototype[name], "function", name);

  const item = transcript("two pages");
  const signed = verifier(item.verifier);
  const request = JSON.parse(item.request);
  const asked = [];
  const sender = async (http) => {
    asked.push(http);
    return JSON.parse(item.steps[asked.length - 1].answer);
  };
  const store = signed.appStore({ environment: request.environment });
  const found = await store.getTransactionHistory(request.transactionId,
    { pages: 2, sender, now: item.now, clock: () => item.now });
  assert.ok(found instanceof assay.AppStoreResponse);
  const [one, two] = found.transactions;
  assert.ok(one instanceof assay.Transaction && two.transactionId === "180000900000002");
  assert.equal(found.unsigned.revision, "r2");
  assert.equal(found.next, null);
  assert.ok(signed.decide(found, { now: item.now }).entitled);
  assert.equal(asked.length, 2);
});

test("members of requests to Apple, as they are sent", async () => {
  const seen = [];
  const sender = async (http) => { seen.push(http); return { id: http.id, status: 404,
    body: null }; };
  const many = verifier("signing");
  await assert.rejects(many.appStore().getTransactionInfo("1", { sender }),
    (error) => error instanceof assay.MisuseError && error.at === "bundleId");
  const store = many.appStore({ environment: "Sandbox", bundleId: "com.example.second",
    attempts: 1 });
  await assert.rejects(store.getTransactionInfo("1", { sender, maxWaitMs: 0 }), assay.AssayError);
  assert.equal(seen[0].url, "https://api.storekit-sandbox.apple.com/inApps/v1/transactions/1");
  await assert.rejects(store.getTransactionHistory("1", { startDate: new Date(Date.UTC(2026, 0)),
    productId: ["a", "b"], revoked: false, pages: 3, sender, maxWaitMs: 0 }), assay.AssayError);
  const { searchParams } = new URL(seen[1].url);
  assert.equal(searchParams.get("startDate"), "1767225600000");
  assert.deepEqual(searchParams.getAll("productId"), ["a", "b"]);
  assert.equal(searchParams.get("revoked"), "false");
  await assert.rejects(store.sendConsumptionInformation({ transactionId: "1",
    customerConsented: true, sampleContentProvided: false, deliveryStatus: "DELIVERED",
    consumptionPercentage: 0, sender, maxWaitMs: 0 }), assay.AssayError);
  assert.equal(JSON.parse(seen[2].body.text).consumptionPercentage, 0);
  const strict = many.appStore({ bundleId: "com.example.second", values: "strict" });
  await assert.rejects(strict.sendConsumptionInformation({ transactionId: "1",
    customerConsented: true, sampleContentProvided: false, deliveryStatus: "DELIVERD", sender }),
  (error) => error instanceof assay.MisuseError && error.at === "deliveryStatus");
  await assert.rejects(store.getTransactionInfo("x", { sender }), assay.MisuseError);
});

test("an unverified transaction id, from every form", () => {
  const seen = {};
  for (const item of table().cases.filter((each) => each.call === "triage" &&
    each.expect.status === "pending.triage.verify-next")) {
    const [, blob, options] = callOf(item);
    const { format } = verifier(item.verifier).triage(blob, options);
    seen[format] ??= verifier(item.verifier).extractUnverifiedTransactionId(blob, options);
  }
  for (const format of ["transaction-receipt", "app-receipt", "jws"]) assert.match(seen[format],
    /^\d{13,}$/);
  assert.equal(owner.extractUnverifiedTransactionId("hello"), null);
});

"use strict";
// Key sets that are fetched when they are needed, by one request for all callers (KST-10).

const assert = require("node:assert/strict");
const test = require("node:test");
const { assay, first, table, verifier } = require("./table.cjs");

const item = first("verify_token");
const { issuer } = JSON.parse(item.jwks);

/** A played issuer with a clock; it answers when its gate opens. */
class Issuer {
  constructor() {
    this.asked = 0;
    this.status = 200;
    this.now = item.now;
    this.text = item.jwks;
    this.gate = Promise.resolve();
    this.kept = new Map();
  }

  cache() {
    return new assay.KeysetCache(verifier(item.verifier), {
      sender: async (request) => {
        this.asked += 1;
        await this.gate;
        return { id: request.id, status: this.status, headers: [], body: { text: this.text } };
      },
      clock: () => this.now,
      load: (name) => this.kept.get(name),
      save: async (name, text) => { this.kept.set(name, text); },
    });
  }
}

const verify = (cache, played, token = item.token) =>
  cache.verifyToken(token, issuer, { now: played.now });

test("one fetch serves all tokens", async () => {
  const played = new Issuer();
  const cache = played.cache();
  const found = await Promise.all(Array.from({ length: 8 }, () => verify(cache, played)));
  for (const each of found) assert.ok(each.subject && each.document.ok);
  assert.ok((await verify(cache, played)).subject);
  assert.equal(played.asked, 1);
  assert.equal(await cache.keyset(issuer), await cache.keyset(issuer));
});

test("an unknown key is one fetch, and then a cooldown", async () => {
  const played = new Issuer();
  const cache = played.cache();
  const [, body, signature] = item.token.split(".");
  const head = { ...JSON.parse(Buffer.from(item.token.split(".")[0], "base64url")),
    kid: "unknown" };
  const unknown = [Buffer.from(JSON.stringify(head)).toString("base64url"), body,
    signature].join(".");
  await verify(cache, played);
  await assert.rejects(verify(cache, played, unknown), assay.RejectedError);
  assert.equal(played.asked, 1); // the cooldown after the first fetch
  played.now += 61_000;
  for (let count = 0; count < 3; count += 1) {
    await assert.rejects(verify(cache, played, unknown),
      (error) => error.status === "rejected.token.unknown-key");
  }
  assert.equal(played.asked, 2);
  await assert.rejects(verify(cache, played, "a.b.c"), assay.AssayError);
  await assert.rejects(cache.verifyToken(5, issuer), TypeError);
  assert.equal(played.asked, 2);
});

test("no keys and no answer is an error, and the next caller asks no more than is allowed",
  async () => {
  const played = new Issuer();
  played.status = 0;
  const cache = played.cache();
  for (let count = 0; count < 2; count += 1) await assert.rejects(verify(cache, played),
    assay.AssayError);
  assert.equal(played.asked, 1);
  played.status = 200;
  played.now += 61_000;
  assert.ok((await verify(cache, played)).subject);
});

test("a cold start with what was kept", async () => {
  const played = new Issuer();
  await verify(played.cache(), played);
  assert.deepEqual([...played.kept.keys()], [issuer]);
  assert.ok((await verify(played.cache(), played)).subject);
  assert.equal(played.asked, 1);
  const broken = new assay.KeysetCache(verifier(item.verifier),
    { load: () => { throw new Error("of the host"); } });
  await assert.rejects(verify(broken, played), /of the host/);
  await assert.rejects(verify(broken, played), /of the host/);
});

test("what the host's functions throw passes, and the next call works", async () => {
  const broken = new Error("of the host");
  const fail = () => { throw broken; };
  const late = async () => { throw broken; };
  for (const name of ["sender", "load", "save", "clock"]) {
    for (const call of name === "clock" ? [fail] : [fail, late]) {
      let isBroken = true;
      const played = new Issuer();
      const good = { sender: async ({ id }) => ({ id, status: 200, headers: [],
        body: { text: played.text } }), load: () => null, save: () => {}, clock: () => played.now };
      const cache = new assay.KeysetCache(verifier(item.verifier), { ...good,
        [name]: (...given) => (isBroken ? call : good[name])(...given) });
      await assert.rejects(verify(cache, played), broken, name);
      isBroken = false;
      assert.ok((await verify(cache, played)).subject, name);
    }
  }
});

test("a key set by hand", () => {
  const keys = new assay.Keyset(JSON.parse(item.jwks));
  assert.equal(keys.facts.issuer, issuer);
  assert.ok(keys.facts.keys.length > 0);
  assert.ok(verifier(item.verifier).verifyToken(item.token, keys, { now: item.now }).subject);
  assert.throws(() => new assay.Keyset("{"), assay.MalformedError);
});

test("Sign in with Apple takes a key set as its evidence", () => {
  for (const [operation, method, member] of [
    ["verify-apple-identity-token", "verifyAppleIdentityToken", "token"],
    ["verify-sign-in-notification", "verifySignInNotification", "payload"]]) {
    const found = table().cases.find((each) => each.call === "exchange" &&
      each.expect.status === "ok" &&
      each.request?.includes(operation) && each.evidence.length === 1);
    const { nonce, [member]: text } = JSON.parse(found.request);
    const keys = new assay.Keyset(found.evidence[0].jwks);
    const options = nonce === undefined ? { now: found.now } : { nonce, now: found.now };
    const owner = verifier(found.verifier);
    assert.ok(owner[method](keys, text, options));
    assert.throws(() => owner[method](keys, `${text.slice(0, -4)}AAAA`, options), assay.AssayError);
    assert.throws(() => owner[method]({}, text, options), TypeError);
  }
});

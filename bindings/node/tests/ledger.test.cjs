"use strict";
// A shop's ledger, from what the app sent to the row in its wallet, over every engine that is there.

const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const { once } = require("node:events");
const { test } = require("node:test");
const { setTimeout: sleep } = require("node:timers/promises");
const { assay } = require("./table.cjs");
const { MADE, coins, folder, ledgers, mint, missing, open } = require("./shops.cjs");

const MINUTE = 61_000;
const isRefused = (status, more = {}) => (error) => {
  assert.ok(error instanceof assay.AssayError, error);
  assert.equal(error.status, status);
  for (const [name, value] of Object.entries(more)) assert.equal(error[name], value);
  return true;
};

async function has(shop, wanted) {
  assert.deepEqual(await shop.sums(), wanted);
}

async function claims(shop, jws, account, answer, http) {
  const claimed = await shop.purchases.claim(jws, { account, grant: shop.pay });
  assert.deepEqual([claimed.clientResult, claimed.httpStatus], [answer, http], claimed.status);
  return claimed;
}

/** Return the JWS of one purchase, signed so long after it was bought. */
function state(shop, id, after, ...rest) {
  return mint("transaction", "--transaction-id", id, "--original-transaction-id", id,
    "--type", "consumable", "--product", "com.example.app.coins100",
    "--signed", String(shop.now + after - 100_000), ...rest);
}

// ---- what holds on every engine

const PARTS = {
  async "a purchase is granted once"(shop) {
    const jws = coins("--quantity", "2");
    const claimed = await claims(shop, jws, "ann", "granted", 200);
    assert.equal(claimed.changed, true);
    assert.equal(claimed.claims[0].product, "com.example.app.coins100");
    assert.equal(claimed.claim.needsGrant, false);
    assert.equal((await claims(shop, jws, "ann", "already-granted", 200)).changed ?? false, false);
    await claims(shop, jws, "bob", "refused-final", 409);
    await has(shop, { ann: 200 });
  },

  async "a grant that throws, or returns false, leaves nothing"(shop) {
    const jws = coins();
    const closed = new Error("the shop is closed");
    await assert.rejects(shop.purchases.claim(jws, { account: "ann", grant: async (grant) => {
      await shop.pay(grant);
      throw closed;
    } }), closed);
    await has(shop, {});
    const claimed = await shop.purchases.claim(jws, { account: "ann", grant: async (grant) => {
      await shop.pay(grant);
      return false;
    } });
    assert.equal(claimed.clientResult, "deferred");
    await has(shop, {});
    await claims(shop, jws, "bob", "granted", 200);
    await has(shop, { bob: 100 });
  },

  async "a lease: granted after the claim, resumed when nobody completed it"(shop) {
    const { purchases } = shop;
    const lease = { grantMode: "lease", grant: shop.payLater };
    const claimed = await purchases.claim(coins(), { account: "ann", ...lease });
    assert.deepEqual([claimed.clientResult, claimed.outcome, claimed.changed],
      ["granted", "granted", true]);
    await has(shop, { ann: 100 });
    const first = (await purchases.claim(coins(), { account: "ann" })).claim;
    const second = (await purchases.claim(coins(), { account: "bob" })).claim;
    assert.deepEqual([first.clientResult, first.needsGrant, first.fencingToken], [null, true, 1]);
    assert.deepEqual((await purchases.resumeExpired()).claims, []);
    shop.now += MINUTE;
    const resumed = await purchases.resume({ purchaseKey: second.purchaseKey, account: "bob",
      grant: shop.payLater });
    assert.equal(resumed.clientResult, "granted");
    const due = await purchases.resumeExpired();
    assert.deepEqual(due.claims.map((each) => [each.grantId, each.fencingToken]),
      [[first.grantId, 2]]);
    await shop.payLater(due.claims[0].grant());
    for (const [{ purchaseKey, account, grantId, fencingToken }, outcome, changed] of
      [[first, "superseded", false], [due.claims[0], "granted", true]]) {
      const completed = await purchases.complete({ purchaseKey, account, grantId, fencingToken });
      assert.deepEqual([completed.outcome, completed.changed ?? false], [outcome, changed]);
    }
    await has(shop, { ann: 200, bob: 100 });
  },

  async "a grant by resumeExpired"(shop) {
    await shop.purchases.claim(coins(), { account: "ann" });
    shop.now += MINUTE;
    const due = await shop.purchases.resumeExpired({ grant: shop.payLater });
    assert.deepEqual(due.claims.map((each) => each.clientResult), ["granted"]);
    assert.deepEqual((await shop.purchases.resumeExpired()).claims, []);
    await has(shop, { ann: 100 });
  },

  async "eight at once: one has it"(shop) {
    const jws = coins();
    const found = await Promise.all(Array.from({ length: 8 }, () =>
      shop.purchases.claim(jws, { account: "ann", grant: shop.pay })));
    const answers = found.map((each) => each.clientResult).sort();
    assert.equal(answers.filter((each) => each === "granted").length, 1, answers.join());
    assert.ok(answers.every((each) => ["granted", "already-granted", "deferred"].includes(each)));
    await has(shop, { ann: 100 });
  },

  async "one attempt answered twice"(shop) {
    const [jws, attemptId] = [coins(), "a".repeat(22)];
    const claimed = await shop.purchases.claim(jws, { account: "ann", attemptId });
    const again = await shop.purchases.claim(jws, { account: "ann", attemptId });
    assert.deepEqual([again.outcome, again.claim.grantId], ["new", claimed.claim.grantId]);
    await assert.rejects(shop.purchases.claim(coins(), { account: "ann", attemptId: "short" }),
      isRefused("misuse.ledger.attempt-id"));
  },

  async "what was handed out under a lease is held from transactions"(shop) {
    const jws = coins();
    const { claim } = await shop.purchases.claim(jws, { account: "ann" });
    assert.deepEqual([claim.repeat ?? false, claim.units], [false, 1]);
    await shop.payLater(claim.grant());
    shop.now += MINUTE;
    const held = await claims(shop, jws, "ann", "deferred", 202);
    assert.deepEqual([held.outcome, held.claims[0].reason], ["held", "lease"]);
    const again = await shop.purchases.claim(jws, { account: "ann", allowRepeat: true,
      grant: (grant) => { assert.equal(grant.repeat, true); } });
    assert.equal(again.clientResult, "granted");
    await has(shop, { ann: 100 });
  },

  async "support finds a purchase"(shop) {
    const jws = coins();
    const fact = shop.purchases.verifier.verifyTransaction(jws);
    assert.equal((await shop.purchases.find({ evidence: fact })).outcome, "unused");
    await claims(shop, jws, "ann", "granted", 200);
    const { environment, transactionId } = fact;
    for (const request of [{ account: "ann" }, { evidence: [fact] },
      { environment, transactionId, operatorView: true }]) {
      const { rows } = await shop.purchases.find(request);
      assert.deepEqual(rows.map((row) => [row.state, row.transactionId]),
        [["granted", transactionId]]);
      assert.equal(rows[0].operatorView !== null, request.operatorView === true);
    }
  },

  async "a refund is taken back once"(shop) {
    const bought = state(shop, "3000000000000001", 0);
    await claims(shop, bought, "ann", "granted", 200);
    const refund = state(shop, "3000000000000001", 1000, "--refunded");
    const revoked = await shop.purchases.revoke(refund);
    const [revocation] = revoked.revocations;
    assert.deepEqual([revocation.outcome, revocation.account, revocation.take.units],
      ["was-granted", "ann", 1]);
    await claims(shop, bought, "ann", "refused-final", 409);
    const again = (await shop.purchases.revoke(refund)).revocations[0];
    assert.deepEqual([again.outcome, again.take], ["already", null]);
  },

  async "a refund that overtakes its grant"(shop) {
    const id = "3000000000000009";
    const refund = state(shop, id, 1000, "--refunded");
    const claimed = await shop.purchases.claim(state(shop, id, 0), { account: "ann",
      grantMode: "lease", grant: () => shop.purchases.revoke(refund) });
    assert.deepEqual([claimed.outcome, claimed.ok, claimed.httpStatus, claimed.clientResult],
      ["revoked", false, 409, "refused-final"]);
  },

  async "a take-back under a lease is handed out until it is completed"(shop) {
    const { purchases } = shop;
    const id = "3000000000000002";
    await claims(shop, state(shop, id, 0), "ann", "granted", 200);
    const refund = state(shop, id, 1000, "--refunded");
    const away = new Error("the wallet is away");
    await assert.rejects(purchases.revoke(refund, { takeBack: () => { throw away; } }), away);
    assert.deepEqual((await purchases.resumeExpiredRevocations()).takes, []);
    shop.now += MINUTE;
    const due = await purchases.resumeExpiredRevocations({ takeBack: shop.backLater });
    assert.deepEqual(due.takes.map((take) => take.fencingToken), [3]);
    await has(shop, { ann: 0 });
    const { purchaseKey, takeId, fencingToken } = due.takes[0];
    const completed = await purchases.completeRevocation({ purchaseKey, takeId, fencingToken });
    assert.deepEqual([completed.outcome, completed.changed ?? false], ["already", false]);
  },

  async "a take-back in a transaction: both writes or neither"(shop) {
    const { purchases } = shop;
    const [id, away] = ["3000000000000003", new Error("the wallet is away")];
    await claims(shop, state(shop, id, 0), "bob", "granted", 200);
    const refund = state(shop, id, 1000, "--refunded");
    await assert.rejects(purchases.revoke(refund, { grantMode: "transaction",
      takeBack: async (take) => {
        await shop.back(take);
        throw away;
      } }), away);
    await has(shop, { bob: 100 });
    for (let delivery = 0; delivery < 2; delivery += 1) {
      await purchases.revoke(refund, { grantMode: "transaction", takeBack: shop.back });
      await has(shop, { bob: 0 });
    }
    await assert.rejects(purchases.revoke(refund, { grantMode: "transaction" }), TypeError);
  },

  async "the newest state of an event wins, in whatever order it arrives"(shop) {
    const kinds = [{ grant: shop.payLater, takeBack: shop.backLater },
      { grant: shop.pay, takeBack: shop.back, grantMode: "transaction" }];
    for (const [number, event] of kinds.entries()) {
      const [id, account] = [String(3_000_000_000_000_004 + number), `ann${number}`];
      await claims(shop, state(shop, id, 0), account, "granted", 200);
      const refund = state(shop, id, 1000, "--refunded");
      const reversed = state(shop, id, 2000);
      for (const [jws, count] of [[refund, 0], [refund, 0], [reversed, 100], [refund, 100],
        [reversed, 100]]) {
        const applied = await shop.purchases.applyEvent(jws, event);
        assert.deepEqual([applied.ok, applied.httpStatus], [true, 200]);
        assert.equal((await shop.sums())[account], count);
      }
    }
  },

  async "plans of subscriptions"(shop) {
    const { purchases } = shop;
    const plan = async (wanted) => {
      const found = await purchases.getPlan("ann");
      assert.equal(found.plan, wanted);
      return found;
    };
    await plan("free");
    const jws = mint("transaction");
    const applied = await purchases.updateSubscriptions(jws, { account: "ann" });
    assert.deepEqual([applied.changed, applied.subscriptions[0].outcome], [true, "applied"]);
    const found = await plan(applied.plan);
    assert.ok(found.expiresAt > new Date(shop.now));
    await purchases.getPlan("ann", { cachedPlan: found, deadlineMs: new Date(shop.now + 2000) });
    await assert.rejects(purchases.updateSubscriptions(jws, { account: "bob" }),
      isRefused("rejected.subscription.other-account", { httpStatus: 409 }));
    assert.equal((await purchases.deactivateSubscriptions("ann")).deactivated, 1);
    await plan("free");
    await purchases.updateSubscriptions(jws, { account: "ann" });
    shop.now = found.expiresAtMs + 86_400_000;
    await plan("free");
    for (const count of [1, 0]) {
      assert.equal((await purchases.leaseDueSubscriptions()).subscriptions.length, count);
    }
  },

  async "challenges and events"(shop) {
    const { purchases } = shop;
    const issued = await purchases.issueChallenge({ purpose: "login", subject: "ann" });
    assert.equal(issued.challenge.length, 43);
    assert.ok(!issued.document.text.includes(issued.challenge));
    const request = { purpose: "login", subject: "ann", challenge: issued.challenge, usedBy: "x" };
    for (let time = 0; time < 2; time += 1) await purchases.consumeChallenge(request);
    await assert.rejects(purchases.consumeChallenge({ ...request, usedBy: "y" }),
      isRefused("rejected.challenge.used"));
    const attemptId = "a".repeat(22);
    for (const [id, options, ok] of [["NOTE#1", { attemptId }, true], ["NOTE#1", { attemptId }, true],
      ["NOTE#1", undefined, false], ["NOTE#2", {}, true]]) {
      assert.equal((await purchases.recordEvent(id, options)).ok, ok);
    }
  },

  async "expired rows are deleted, and the schema is checked"(shop) {
    assert.equal((await shop.purchases.createSchema()).outcome, "exists");
    assert.ok((await shop.purchases.checkSchema()).version >= 2);
    await shop.purchases.deleteExpiredRows();
  },
};

const WITH = {
  "meters": [{ quotas: { free: { free: 99 }, premium: { free: 99, premium: 2 } } }, async (shop) => {
    const { purchases } = shop;
    const request = { account: "ann", meter: "premium", plan: "premium" };
    const first = await purchases.consumeQuota(request);
    assert.deepEqual([first.used, first.limit, first.left, first.outcome], [1, 2, 1, "consumed"]);
    await purchases.consumeQuota(request);
    await assert.rejects(purchases.consumeQuota(request), (error) => {
      const { facts } = error.document;
      assert.ok(facts.headers["Retry-After"]);
      assert.deepEqual([facts.outcome, facts.fallback], ["exhausted", "free"]);
      return isRefused("rejected.quota.exhausted", { httpStatus: 429 })(error);
    });
    for (const outcome of ["released", "released", "none"]) {
      assert.equal((await purchases.releaseQuota(first.ticket)).outcome, outcome);
    }
    const many = await Promise.allSettled(Array.from({ length: 10 }, () =>
      purchases.consumeQuota({ ...request, account: "bob" })));
    assert.equal(many.filter(({ status }) => status === "fulfilled").length, 2);
  }],
  "sign-ups": [{ ledger: { signup: { limit: 1 } } }, async ({ purchases }) => {
    const request = { address: "192.0.2.1", username: "u_0123456789abcdef", passwordBytes: 24 };
    for (const [result, http] of [["exists", 409], ["created", 200]]) {
      const { ticket } = await purchases.beginSignup(request);
      let status;
      try {
        status = (await purchases.finishSignup({ ticket, result })).httpStatus;
      } catch (error) {
        status = error.httpStatus;
      }
      assert.equal(status, http);
    }
    await assert.rejects(purchases.beginSignup(request), isRefused("rejected.signup.exhausted"));
  }],
  "accounts": [{ ledger: { forgetKey: Buffer.alloc(32).toString("base64") } }, async (shop) => {
    const { purchases } = shop;
    await claims(shop, coins(), "anonymous", "granted", 200);
    await purchases.updateSubscriptions(mint("transaction"), { account: "anonymous" });
    for (const outcome of ["merged", "already"]) {
      const merged = await purchases.mergeAccounts({ from: "anonymous", to: "ann" });
      assert.equal(merged.outcome, outcome);
      if (outcome === "merged") {
        assert.deepEqual([merged.moved.subscriptions, merged.moved.purchases], [1, 1]);
      }
    }
    await assert.rejects(purchases.mergeAccounts({ from: "ann", to: "anonymous" }),
      isRefused("rejected.account.merged"));
    for (const outcome of ["forgotten", "already"]) {
      assert.equal((await purchases.forgetAccount("ann")).outcome, outcome);
    }
  }],
  "kept texts": [{ ledger: { keepEvidence: true } }, async (shop) => {
    const jws = coins();
    const { purchaseKey } = (await claims(shop, jws, "ann", "granted", 200)).claims[0];
    const kept = await shop.purchases.getEvidence({ purchaseKey });
    assert.deepEqual([kept.evidence.map((each) => each.text), kept.missing], [[jws], []]);
  }],
};

// ---- what holds where there are transactions

const OF_SQL = {
  async "a signal ends an exchange between two steps, and nothing stays open"(shop) {
    const controller = new AbortController();
    const jws = coins();
    await assert.rejects(shop.purchases.claim(jws, { account: "ann", signal: controller.signal,
      grant: async (grant) => {
        await shop.pay(grant);
        controller.abort();
      } }), { name: "AbortError" });
    await has(shop, {});
    await claims(shop, jws, "bob", "granted", 200);
  },

  async "a grant that ends the transaction is refused, and the claim undone"(shop) {
    const jws = coins();
    for (const text of ["COMMIT", " /* so */ rollback", "BEGIN", "RELEASE SAVEPOINT assay_grant"]) {
      await assert.rejects(shop.purchases.claim(jws, { account: "ann", grant: async (grant) => {
        await shop.pay(grant);
        await assert.rejects(async () => shop.write(grant.connection, text),
          isRefused("misuse.ledger.transaction"));
      } }), isRefused("misuse.ledger.transaction"));
      await has(shop, {});
    }
    let kept;
    await shop.purchases.claim(jws, { account: "ann", grant: async (grant) => {
      kept = grant.connection;
      await shop.pay(grant);
    } });
    assert.throws(() => kept.query, isRefused("misuse.ledger.transaction"));
    await has(shop, { ann: 100 });
  },

  async "a transaction that the grant ended behind the guard is found out"(shop) {
    for (const ends of [["COMMIT"], ["COMMIT", "BEGIN"], ["ROLLBACK", "BEGIN"]]) {
      // The grant has the client itself, as one that keeps a reference of its own would.
      let real;
      const { begin } = shop.executor;
      shop.executor.begin = function begun(connection, ...given) {
        real = connection;
        return begin.call(this, connection, ...given);
      };
      await assert.rejects(shop.purchases.claim(coins(), { account: "ann", grant: async () => {
        for (const text of ends) await shop.write(real, text);
      } }), isRefused("misuse.ledger.transaction"));
      shop.executor.begin = begin;
    }
    await claims(shop, coins(), "ann", "granted", 200);
  },

  async "a statement that fails is undone with its claim"(shop) {
    const jws = coins();
    await assert.rejects(shop.purchases.claim(jws, { account: "ann", grant: async (grant) => {
      await shop.pay(grant);
      await shop.pay(grant); // the same grant id
    } }));
    await has(shop, {});
    await claims(shop, jws, "ann", "granted", 200);
  },

  async "a grant that cannot be completed is deferred, and completed by the next call"(shop) {
    const request = { account: "ann", grantMode: "lease" };
    const jws = coins();
    const claimed = await shop.purchases.claim(jws, { ...request, grant: async (grant) => {
      await shop.payLater(grant);
      await shop.ask("ALTER TABLE assay_purchase RENAME TO away");
    } });
    assert.deepEqual([claimed.clientResult, claimed.outcome, claimed.httpStatus, claimed.ok,
      claimed.claims[0].clientResult, claimed.claim.needsGrant],
    ["deferred", "resume", 503, false, "deferred", false]);
    await shop.ask("ALTER TABLE away RENAME TO assay_purchase");
    shop.now += MINUTE;
    const again = await shop.purchases.claim(jws, { ...request,
      grant: (grant) => assert.equal(grant.repeat, true) });
    assert.equal(again.clientResult, "granted");
    await has(shop, { ann: 100 });
  },

  async "another database under one name, and a table that is missing"(shop) {
    await shop.purchases.checkSchema();
    await shop.ask("UPDATE assay_schema SET lineage = 'that of another one, of 32 signs.'");
    await assert.rejects(shop.purchases.checkSchema(), isRefused("config.ledger.lineage"));
    await shop.ask("DROP TABLE assay_purchase");
    await assert.rejects(shop.purchases.claim(coins(), { account: "ann", grant: shop.pay }),
      isRefused("unavailable.database.statement-failed", { httpStatus: 503 }));
    await assert.rejects(shop.purchases.createSchema(),
      isRefused("config.ledger.schema", { at: "assay_purchase" }));
  },

  async "accounts that differ in case, accents or signs beyond the first plane"(shop) {
    for (const account of ["Ann", "ann", "änn", "\u{1f600}", "\u{1f601}"]) {
      await claims(shop, coins(), account, "granted", 200);
      assert.equal((await shop.purchases.find({ account })).rows.length, 1);
    }
  },

  async "one exchange at a time for a connection: many at once, each with its own grant"(shop) {
    const accounts = Array.from({ length: 20 }, (_, number) => `many${number}`);
    const found = await Promise.all(accounts.map((account) =>
      shop.purchases.claim(coins(), { account, grant: async (grant) => {
        await sleep(Math.random() * 5);
        await shop.pay(grant);
      } })));
    assert.ok(found.every((each) => each.clientResult === "granted"));
    await has(shop, Object.fromEntries(accounts.map((account) => [account, 100])));
  },
};

// ---- other processes

const PROCESS = `
const { open } = require(${JSON.stringify(require.resolve("./shops.cjs"))});
(async () => {
  const shop = await open(process.argv[1]);
  process.send("ready");
  process.on("message", async ([jws, end]) => {
    const found = await shop.purchases.claim(jws, { account: "ann",
      grantMode: end === "lease" ? "lease" : "transaction",
      grant: async (grant) => {
        if (end === "before") process.kill(process.pid, "SIGKILL");
        await (end === "lease" ? shop.payLater : shop.pay)(grant);
        if (end) process.kill(process.pid, "SIGKILL");
      } }).then((each) => each.clientResult, (error) => error.status ?? error.stack);
    process.send(found);
    process.disconnect();
    shop.purchases.close();
    await shop.end();
    process.exit();
  });
})();`;

/** Return processes with the same shop, when they are ready. */
async function others(shop, name, length) {
  const env = { ...process.env, ASSAY_SHOP: shop.path ?? shop.name,
    ASSAY_AUTHORITY: process.env.ASSAY_AUTHORITY ?? `${folder}/authority` };
  const children = Array.from({ length }, () => spawn(process.execPath,
    ["--no-warnings", "-e", PROCESS, name],
    { env, stdio: ["ignore", "inherit", "inherit", "ipc"] }));
  await Promise.all(children.map((child) => once(child, "message")));
  return children;
}

/** Processes that are killed in their grants: what they did is undone, or resumed. */
async function kills(shop, name) {
  const jws = coins();
  for (const end of ["before", "after", "lease"]) {
    const [child] = await others(shop, name, 1);
    child.send([jws, end]);
    await once(child, "exit");
    assert.equal(child.signalCode, "SIGKILL");
    await has(shop, end === "lease" ? { ann: 100 } : {});
  }
  assert.equal((await shop.purchases.claim(jws, { account: "ann" })).outcome, "in-progress");
  shop.now = Date.now() + MINUTE;
  const calls = [];
  const { claims: [claim] } = await shop.purchases.resumeExpired({
    grant: ({ repeat }) => { calls.push(repeat); } }); // it finds the grant id stored
  assert.deepEqual([claim.clientResult, calls], ["granted", [true]]);
  await claims(shop, jws, "ann", "already-granted", 200);
  await has(shop, { ann: 100 });
}

async function race(shop, name) {
  const jws = coins();
  const children = await others(shop, name, 8);
  const answers = children.map((child) => once(child, "message"));
  for (const child of children) child.send([jws]);
  const found = (await Promise.all(answers)).map(([answer]) => answer).sort();
  assert.equal(found.filter((each) => each === "granted").length, 1, found.join());
  assert.ok(found.every((each) => ["granted", "already-granted", "deferred"].includes(each)),
    found.join());
  await has(shop, { ann: 100 });
}

for (const name of Object.keys(MADE)) {
  test(`a ledger over ${name}`, { skip: missing(name) ?? false }, async (t) => {
    const parts = [...Object.entries(PARTS).map(([what, run]) => [what, undefined, run]),
      ...Object.entries(WITH).map(([what, [more, run]]) => [what, more, run]),
      ...(name.startsWith("dynamodb") ? [] : Object.entries(OF_SQL)
        .map(([what, run]) => [what, undefined, run])),
      ["processes that are killed in their grants", undefined, (shop) => kills(shop, name)],
      ["eight processes: one has it", undefined, (shop) => race(shop, name)]];
    for (const [what, more, run] of parts) {
      await t.test(what, async () => {
        const shop = await open(name, more);
        try {
          await run(shop);
        } finally {
          shop.purchases.close();
          await shop.end();
        }
      });
    }
  });
}

test("evidence that was forged reaches no database", async () => {
  const purchases = new ledgers.Ledger({ engine: "sqlite", session: () => assert.fail() },
    require("./shops.cjs").configuration());
  const jws = coins();
  await assert.rejects(purchases.claim(`${jws.slice(0, -4)}AAAA`, { account: "ann" }),
    (error) => error instanceof assay.RejectedError);
  await assert.rejects(purchases.claim({ transactionId: "1" }, { account: "ann" }), TypeError);
  await assert.rejects(purchases.claim(jws, { account: "ann", grantMode: "transaction" }), TypeError);
  purchases.close();
});

test("a polluted Object.prototype changes no operation", async () => {
  const executor = { engine: "sqlite", session: () => ({
    perform: async ({ id }) => ({ id, code: 0 }), close: async () => {} }) };
  const purchases = new ledgers.Ledger(executor, require("./shops.cjs").configuration());
  const names = ["now", "grant", "takeBack", "signal", "maxWaitMs", "evidence", "grantMode",
    "deadlineMs", "lineage", "options"];
  const calls = [() => purchases.getPlan("ann"), () => purchases.checkSchema(),
    () => purchases.createSchema(), () => purchases.claim(coins(), { account: "ann" })];
  const status = (error) => error.status;
  const wanted = await Promise.all(calls.map((call) => call().catch(status)));
  assert.ok(wanted.every((each) => /^unavailable\.database\./.test(each)), wanted.join());
  try {
    for (const name of names) {
      Object.defineProperty(Object.prototype, name,
        { __proto__: null, value: 1, writable: true, configurable: true });
    }
    for (const [at, call] of calls.entries()) {
      assert.equal(await call().catch(status), wanted[at], String(call));
    }
  } finally {
    for (const name of names) delete Object.prototype[name];
  }
  purchases.close();
});

test("what an executor throws passes, and its session is closed", async () => {
  const broken = new Error("of the host");
  const fail = () => { throw broken; };
  const late = async () => { throw broken; };
  const done = { closed: 0 };
  const session = { perform: async ({ id }) => ({ id, code: 0 }), grant: async () => ({}),
    close: async () => { done.closed += 1; } };
  const executor = { engine: "sqlite", session: () => session };
  const purchases = new ledgers.Ledger(executor, require("./shops.cjs").configuration());
  const asked = () => purchases.getPlan("ann", { maxWaitMs: 0 });
  for (const call of [fail, late]) {
    session.perform = call;
    await assert.rejects(asked(), broken);
  }
  assert.equal(done.closed, 2);
  session.close = late;
  await assert.rejects(asked(), broken);
  executor.session = fail;
  await assert.rejects(asked(), broken);
  await assert.rejects(purchases.checkSchema({ maxWait: 5 }), TypeError);
  Object.assign(executor, { session: () => session });
  Object.assign(session, { perform: async ({ id }) => ({ id, code: 0 }), close: async () => {} });
  await assert.rejects(asked(), (error) => /^(unavailable|pending)\./.test(error.status));
  purchases.close();
});

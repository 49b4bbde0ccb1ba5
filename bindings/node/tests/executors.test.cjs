"use strict";
// What executors do where engines do not perform a step: limits, standbys, lost sessions, servers
// that are not reached, clients that hang. With real servers where they are there.

const assert = require("node:assert/strict");
const { existsSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");
const { setTimeout: sleep } = require("node:timers/promises");
const { promisify } = require("node:util");
const { assay, inside } = require("./table.cjs");
const { MADE, coins, configuration, engine, folder, ledgers, missing, next, open } =
  require("./shops.cjs");

const { Ledger, SQLite, Postgres, MariaDB, DynamoDB, Redis } = ledgers;
const { endsTransaction } = inside("executors/guard.cjs");
const LIMITS = { statementMs: 5000, lockMs: 1000 };
const step = (transaction, ...texts) => ({ id: 7, engine: "", repeatable: true, transaction,
  limits: LIMITS, calls: texts.map((sql) => ({ sql, args: [], returnsRows: false })) });
const shown = ({ code, error }) => error ? `${code} ${error.code} ${error.executed}` : `${code}`;

/** Perform steps in a session of its own, and return the last reply. */
async function performed(executor, ...steps) {
  const session = executor.session();
  let reply;
  for (const each of steps) reply = await session.perform(each);
  await session.close();
  return shown(reply);
}

// ---- servers of SQL

const SQL = {
  postgres: {
    lock: "LOCK TABLE wallet", slow: "SELECT pg_sleep(20)", busy: "55P03", late: "57014",
    isolation: "SHOW transaction_isolation", committed: "read committed",
    serializable: "ALTER ROLE CURRENT_USER SET default_transaction_isolation = 'serializable'",
    plain: "ALTER ROLE CURRENT_USER RESET default_transaction_isolation",
    readOnly: (isOn) => `ALTER ROLE CURRENT_USER SET default_transaction_read_only = ${isOn}`,
    session: "SELECT pg_backend_pid()", end: (id) => `SELECT pg_terminate_backend(${id})`,
    codes: { database: "3D000", user: "28000" },
    over: (shop, more, database) => new Postgres(shop.open(more, database)),
  },
  mariadb: {
    lock: "SELECT * FROM wallet WHERE grant_id = 'x' FOR UPDATE",
    slow: "SELECT SLEEP(20) FROM wallet", busy: "1205", late: "1969",
    isolation: "SELECT @@tx_isolation", committed: "READ-COMMITTED",
    serializable: "SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    plain: "SET GLOBAL TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    readOnly: (isOn) => `SET GLOBAL read_only = ${isOn}`,
    session: "SELECT CONNECTION_ID()", end: (id) => `KILL ${id}`,
    codes: { database: "1049", user: "1045" },
    over: (shop, more, database) => new MariaDB(shop.open({ ...more, ...(database ? { database } : {}) })),
  },
};

/** Return the first value that a statement of the grant gives. */
async function first(connection, text) {
  const found = await connection.query(text);
  return Object.values((found.rows ?? found[0])[0])[0];
}

const OF_SERVERS = {
  async "a standby is refused, and taken when it can be written again"(shop, known) {
    const executor = known.over(shop);
    await shop.ask(known.readOnly("on"));
    try {
      assert.equal(await performed(executor, step(null, "SELECT 1")), "500 standby no");
    } finally {
      await shop.ask(known.readOnly("off"));
    }
    assert.equal(await performed(known.over(shop), step(null, "SELECT 1")), "200");
  },

  async "every step is at READ COMMITTED"(shop, known) {
    await shop.ask(known.serializable);
    try {
      const session = known.over(shop).session();
      for (const mark of [null, "begin"]) {
        const open_ = step(mark, known.isolation);
        open_.calls[0].returnsRows = true;
        const { results } = await session.perform(open_);
        assert.deepEqual(results, [{ rows: [[known.committed]] }]);
      }
      await session.close();
    } finally {
      await shop.ask(known.plain);
    }
  },

  async "a wait for a lock and a statement end at their limits"(shop, known) {
    await shop.ask("INSERT INTO wallet VALUES ('x', 'x', 0)");
    const other = shop.executor.session();
    assert.equal(shown(await other.perform(step("begin", known.lock))), "200");
    for (const [text, code, limits] of [
      ["UPDATE wallet SET coins = 1 WHERE grant_id = 'x'", known.busy, LIMITS],
      [known.slow, known.late, { statementMs: 300, lockMs: 100 }]]) {
      for (const mark of [null, "begin"]) {
        assert.equal(await performed(known.over(shop), { ...step(mark, text), limits }),
          `500 ${code} no`);
      }
    }
    await other.close();
  },

  async "a session that ends in a grant is lost, and the claim repeated"(shop, known) {
    for (const [times, answer, calls] of [[1, "granted", 2], [2, "granted", 3], [99, "deferred", 3]]) {
      let count = 0;
      const claimed = await shop.purchases.claim(coins(), { account: `ann${times}`,
        grant: async (grant) => {
          await shop.pay(grant);
          count += 1;
          if (count > times) return;
          await shop.ask(known.end(await first(grant.connection, known.session)));
          if (count === 1) await sleep(50); // it is noticed while nothing is asked
        } });
      assert.deepEqual([claimed.clientResult, count], [answer, calls]);
      if (times === 99) {
        assert.deepEqual([claimed.httpStatus, claimed.status],
          [503, "unavailable.database.outcome-unknown"]);
      }
    }
    assert.deepEqual(await shop.sums(), { ann1: 100, ann2: 100 });
  },

  async "a grant whose session was lost throws what it throws to nobody"(shop, known) {
    let count = 0;
    const claimed = await shop.purchases.claim(coins(), { account: "ann", grant: async (grant) => {
      count += 1;
      if (count === 1) await shop.ask(known.end(await first(grant.connection, known.session)));
      await shop.pay(grant); // throws the first time
    } });
    assert.deepEqual([claimed.clientResult, count], ["granted", 2]);
  },

  async "a transaction of the host's in its pool is neither joined nor ended"(shop, known) {
    const pool = shop.open(shop.engine === "postgres" ? { max: 1 } : { connectionLimit: 1 });
    const executor = new (shop.engine === "postgres" ? Postgres : MariaDB)(pool);
    assert.equal(await performed(executor, step(null, "SELECT 1")), "200");
    const connection = await new Promise((resolve, reject) => {
      if (shop.engine === "postgres") pool.connect().then(resolve, reject);
      else pool.getConnection((error, found) => error ? reject(error) : resolve(found));
    });
    const ask = (text) => new Promise((resolve, reject) => connection.query(text,
      (error, found) => error ? reject(error) : resolve(found)));
    await ask(shop.engine === "postgres" ? "BEGIN" : "START TRANSACTION");
    connection.release();
    await assert.rejects(performed(executor, step("begin", "SELECT 1")),
      (error) => error.status === "misuse.ledger.transaction");
    if (shop.engine === "postgres") await pool.query("ROLLBACK");
    assert.equal(await performed(executor, step("begin", "SELECT 1")), "200");
    pool.end(() => {});
  },

  async "servers that are not reached, and databases that are not there"(shop, known) {
    for (const [more, database, code] of [[{ port: 1 }, undefined, "connect"],
      [{ host: "assay.invalid" }, undefined, "connect"], [{}, "none", known.codes.database],
      [{ user: "nobody" }, undefined, known.codes.user]]) {
      const executor = known.over(shop, more, database);
      assert.equal(await performed(executor, step(null, "SELECT 1")), `500 ${code} no`);
    }
  },

  async "a pool that has no connection left"(shop, known) {
    const executor = known.over(shop, shop.engine === "postgres" ? { max: 1 } : { connectionLimit: 1 });
    const held = executor.session();
    await held.perform(step("begin"));
    const late = { ...step(null, "SELECT 1"), limits: { statementMs: 100, lockMs: 100 } };
    assert.equal(await performed(executor, late), "500 connect no");
    await held.close();
    assert.equal(await performed(executor, step(null, "SELECT 1")), "200");
  },

  async "a step that fails is undone as a whole, and of single statements the others stay"(shop) {
    const write = (id) => `INSERT INTO wallet VALUES ('${id}', 'ann', 1)`;
    const { executor } = shop;
    assert.match(await performed(executor, step("single", write("a"), write("a"))), /^500 \w+ no$/);
    assert.deepEqual(await shop.sums(), {});
    assert.match(await performed(executor, step(null, write("a"), write("a"))), /^500 \w+ unknown$/);
    assert.deepEqual(await shop.sums(), { ann: 1 });
    await performed(executor, step("begin", write("b")), step("within", write("c")));
    assert.deepEqual(await shop.sums(), { ann: 1 }); // the session ended without a commit
    assert.equal(await performed(executor, step("within", write("d"))), "500 transaction no");
    await performed(executor, step("begin", write("b")), step("commit", write("c")));
    assert.deepEqual(await shop.sums(), { ann: 3 });
  },
};

for (const [name, known] of Object.entries(SQL)) {
  test(`steps over ${name}`, { skip: missing(name) ?? false }, async (t) => {
    for (const [what, run] of Object.entries(OF_SERVERS)) {
      await t.test(what, async () => {
        const shop = await open(name);
        const opened = [];
        const { open: openPool } = shop;
        shop.open = (...given) => {
          opened.push(openPool(...given));
          return opened.at(-1);
        };
        try {
          await run(shop, known);
        } finally {
          shop.purchases.close();
          await shop.end();
          for (const pool of opened) if (!pool.ended && !pool._closed) pool.end(() => {});
        }
      });
    }
  });
}

/** Make a test over MariaDB that gets a pool of its own, and a function that asks by it. */
function withPool(name, settings, run) {
  test(name, { skip: missing("mariadb") ?? false }, async () => {
    const shop = await open("mariadb");
    const pool = shop.open(settings);
    try {
      await run(pool, promisify(pool.query).bind(pool));
    } finally {
      pool.end();
      await shop.end();
    }
  });
}

withPool("MariaDB: another charset would take two accounts for one", { charset: "latin1" },
  async (pool) => {
    await assert.rejects(performed(new MariaDB(pool), step(null, "SELECT 1")), TypeError);
  });

withPool("STO-75: a value stays in its quotes, whatever mode the host set in its pool",
  { connectionLimit: 1 }, async (pool, ask) => {
    const executor = new MariaDB(pool);
    const value = "' AS a -- "; // escaped by a backslash, it would end the value before AS
    const asked = step(null, "SELECT %s");
    Object.assign(asked.calls[0], { args: [value], returnsRows: true });
    for (const mode of ["", "NO_BACKSLASH_ESCAPES"]) {
      await ask(`SET SESSION sql_mode = '${mode}'`);
      const session = executor.session();
      const { results } = await session.perform(asked);
      await session.close();
      assert.deepEqual(results, [{ rows: [[value]] }]);
    }
  });

withPool("STM-5: a pool without autocommit is refused, for nothing would be stored",
  { connectionLimit: 1 }, async (pool, ask) => {
    await ask("SET SESSION autocommit = 0");
    await assert.rejects(performed(new MariaDB(pool), step(null, "SELECT 1")),
      (error) => error.status === "misuse.ledger.transaction");
    assert.equal(await performed(new MariaDB(pool), step(null, "SELECT 1")), "200"); // a new one
  });

// ---- SQLite

const noSqlite = missing("sqlite") ?? false;

test("SQLite: only a setup makes the file", { skip: noSqlite }, async () => {
  const path = join(folder, `absent${next()}.db`);
  const purchases = new Ledger(new SQLite(path), configuration());
  await assert.rejects(purchases.recordEvent("NOTE#1"), (error) => {
    assert.equal(error.status, "unavailable.database.statement-failed");
    assert.ok(!error.document.text.includes("absent"));
    return true;
  });
  assert.equal(existsSync(path), false);
  await purchases.createSchema();
  assert.equal((await purchases.recordEvent("NOTE#1")).ok, true);
  purchases.close();
  for (const wrong of ["shop.db", ":memory:", "", undefined]) {
    assert.throws(() => new SQLite(wrong), TypeError);
  }
  assert.throws(() => new SQLite(path, { create: true }), TypeError);
});

test("SQLite: another writer is waited for, without keeping the process", { skip: noSqlite },
  async () => {
    const shop = await open("sqlite");
    shop.own.exec("BEGIN IMMEDIATE");
    setTimeout(() => shop.own.exec("ROLLBACK"), 300);
    assert.equal(await performed(shop.executor, step("begin", "SELECT 1")), "200");
    shop.own.exec("BEGIN IMMEDIATE");
    const late = { ...step("begin"), limits: { statementMs: 5000, lockMs: 100 } };
    assert.equal(await performed(shop.executor, late), "500 5 no");
    shop.own.exec("ROLLBACK");
    // A claim inside of a grant waits for its own transaction: it ends, and nothing is lost.
    const claimed = await shop.purchases.claim(coins(), { account: "ann", grant: async (grant) => {
      assert.equal(await performed(shop.executor, late), "500 5 no");
      await shop.pay(grant);
    } });
    assert.equal(claimed.clientResult, "granted");
    await shop.end();
  });

test("SQLite: no other code of the process runs while a transaction is open", { skip: noSqlite },
  async () => {
    const shop = await open("sqlite");
    shop.own.exec("PRAGMA busy_timeout = 0"); // it throws if the ledger has the lock
    const accounts = Array.from({ length: 20 }, (_, number) => `a${number}`);
    const lease = accounts.map((account) => shop.purchases.claim(coins(), { account,
      grantMode: "lease", grant: shop.payLater }));
    const inside = accounts.map((account) => shop.purchases.claim(coins(), { account,
      grant: (grant) => { shop.pay(grant); } }));
    const found = await Promise.all([...lease, ...inside]);
    assert.ok(found.every((each) => each.clientResult === "granted"));
    assert.deepEqual(await shop.sums(),
      Object.fromEntries(accounts.map((account) => [account, 200])));
    await shop.end();
  });

test("SQLite: a name with signs of an address", { skip: noSqlite }, async () => {
  const path = join(folder, `a b%20?mode=ro#${next()}.db`);
  const executor = new SQLite(path);
  executor.make();
  assert.ok(existsSync(path));
  assert.equal(await performed(executor, step(null, "CREATE TABLE t (a)")), "200");
  executor.close();
});

// ---- clients that misbehave

/** Return a pool of pg whose one client answers as told. */
function pretendedPool(answer) {
  const log = [];
  const client = {
    query(asked) {
      const text = asked.text ?? asked;
      log.push(text.split(" ")[0]);
      return Promise.resolve(answer(text)).then((found) => found ?? { rows: [[false]] });
    },
    release(isOver) { log.push(isOver ? "destroyed" : "released"); },
  };
  return { log, connect: async () => client, query() {} };
}

test("a connection that cannot roll back is destroyed, not given back", async () => {
  for (const why of ["hangs", "fails"]) {
    const pool = pretendedPool((text) => {
      if (text === "ROLLBACK" && why === "hangs") return sleep(60_000, undefined, { ref: false });
      if (text === "ROLLBACK") throw Object.assign(new Error("no"), { severity: "ERROR", code: "XX000" });
      return undefined;
    });
    const session = new Postgres(pool).session();
    assert.equal(shown(await session.perform(step("begin"))), "200");
    await session.close();
    assert.equal(pool.log.at(-1), "destroyed", why);
    assert.equal(pool.log.filter((each) => /ed$/.test(each)).length, 1);
  }
});

test("a reply that is late is no reply, and its connection is not used again", async () => {
  const pool = pretendedPool((text) => text.startsWith("UPDATE")
    ? sleep(60_000, undefined, { ref: false }) : undefined);
  const late = { ...step("begin", "UPDATE t SET a = 1"), limits: { statementMs: 1, lockMs: 1 } };
  const session = new Postgres(pool).session();
  assert.deepEqual(await session.perform(late), { id: 7, code: 0 });
  await session.close();
  assert.deepEqual(pool.log.slice(-2), ["UPDATE", "destroyed"]);
});

test("a commit whose reply did not come is unclear; one that the server made a rollback is refused",
  async () => {
    const lost = pretendedPool((text) => { if (text === "COMMIT") throw new Error("ECONNRESET"); });
    assert.equal(await performed(new Postgres(lost), step("single", "SELECT 1")), "0");
    const undone = pretendedPool((text) => text === "COMMIT" ? { command: "ROLLBACK" } : undefined);
    assert.equal(await performed(new Postgres(undone), step("single", "SELECT 1")), "500 25P02 no");
  });

test("statements that end a transaction, wherever they stand", () => {
  for (const text of ["COMMIT", "commit;", "-- so\n COMMIT", "/* so */END", "SELECT 1; ROLLBACK",
    "BEGIN", "start transaction", "ABORT", "SET autocommit = 1", "SET @@session.autocommit=0",
    "PREPARE TRANSACTION 'x'", "XA END 'x'", "/*! COMMIT */", "/*M!100100 COMMIT */", "DISCARD ALL",
    "ROLLBACK TO SAVEPOINT assay_grant", "RELEASE assay_grant", "ROLLBACK WORK", "SELECT ';'; COMMIT"]) {
    assert.equal(endsTransaction(text), true, text);
  }
  for (const text of ["SELECT 'COMMIT'", "INSERT INTO t VALUES ('; COMMIT')", "SAVEPOINT mine",
    "ROLLBACK TO mine", "ROLLBACK WORK TO SAVEPOINT mine", "RELEASE mine", "UPDATE commit SET a = 1",
    "SELECT \"; COMMIT\"", "SELECT $$; COMMIT$$", "PREPARE x AS SELECT 1", "SET search_path = a",
    "CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END", "SELECT 1 -- ; COMMIT"]) {
    assert.equal(endsTransaction(text), false, text);
  }
});

// ---- DynamoDB

test("DynamoDB: what its client throws", async () => {
  const call = { api: "UpdateItem", input: {} };
  const asked = { ...step(null), calls: [call] };
  // A TypeError, as fetch throws it.
  const thrown = (error) => new DynamoDB(() => { throw Object.assign(new TypeError("no"), error); });
  for (const [error, wanted] of [
    [{ name: "ThrottlingException", $fault: "client" }, "500 ThrottlingException no"],
    [{ name: "InternalServerError", $fault: "server" }, "500 InternalServerError unknown"],
    [{ name: "CredentialsProviderError" }, "500 UnrecognizedClientException no"],
    [{ name: "ThrottlingException", $fault: "client", $metadata: { attempts: 2 } },
      "500 ThrottlingException unknown"],
    [{ code: "ECONNREFUSED" }, "500 connect no"],
    [{ code: "ECONNREFUSED", $metadata: { attempts: 2 } }, "0"],
    [{ cause: { code: "ENOTFOUND" } }, "500 connect no"],
    [{ code: "ECONNRESET" }, "0"], [{ name: "TimeoutError" }, "0"]]) {
    assert.equal(await performed(thrown(error), asked), wanted);
  }
  const Item = { a: { S: "x" } };
  const session = thrown({ name: "ConditionalCheckFailedException", $fault: "client", Item }).session();
  assert.deepEqual((await session.perform(asked)).results,
    [{ error: { type: "ConditionalCheckFailedException", item: Item } }]);
  const cancelled = thrown({ name: "TransactionCanceledException", $fault: "client",
    CancellationReasons: [{}, { Code: "ConditionalCheckFailed", Item }] }).session();
  const error = { type: "TransactionCanceledException",
    reasons: [{ code: "None" }, { code: "ConditionalCheckFailed", item: Item }] };
  assert.deepEqual((await cancelled.perform(asked)).results, [{ error }]);
  assert.deepEqual(await cancelled.grant({ id: 8, item: {} }, () => {}),
    { id: 8, code: 200, results: [{ error }] });
  assert.deepEqual(await cancelled.grant({ id: 8, item: {} }, () => false), { id: 8, code: 500 });
  let signal;
  const hangs = new DynamoDB((_, __, { abortSignal }) => {
    signal = abortSignal;
    return sleep(60_000, undefined, { ref: false });
  });
  const late = { ...asked, limits: { statementMs: 1, lockMs: 1 } };
  assert.equal(await performed(hangs, late), "0");
  assert.equal(signal.aborted, true);
  assert.throws(() => new DynamoDB({ send() {} }), TypeError);
});

// ---- Redis

/** Return a client with the calls of ioredis, over one of node-redis. */
const pretendedIoredis = (real) => ({
  options: { autoResendUnfulfilledCommands: false },
  get status() { return real.isReady ? "ready" : "connecting"; },
  call: (...words) => real.sendCommand(words),
});

async function redisClients() {
  const redis = require("redis");
  const client = redis.createClient({ url: engine("redis").address.href });
  client.on("error", () => {});
  await client.connect();
  return client;
}

let noRedis = engine("redis").missing ?? false;
try {
  require("redis");
} catch (error) {
  noRedis = error.message.split("\n")[0];
}

for (const [name, wrap] of [["node-redis", (real) => real], ["ioredis pretended", pretendedIoredis]]) {
  test(`a ledger over redis, ${name}`, { skip: noRedis }, async () => {
    const real = await redisClients();
    await real.sendCommand(["FLUSHALL"]);
    const purchases = new Ledger(new Redis(wrap(real)), { ...configuration(),
      quotas: { free: { free: 99, premium: 20 } } });
    await purchases.createSchema();
    await purchases.checkSchema();
    const request = { account: "ann", meter: "premium", plan: "free" };
    const many = await Promise.allSettled(Array.from({ length: 40 }, () =>
      purchases.consumeQuota(request)));
    const taken = many.filter(({ status }) => status === "fulfilled").map(({ value }) => value.used);
    assert.deepEqual(taken.sort((a, b) => a - b), Array.from({ length: 20 }, (_, at) => at + 1));
    assert.ok(many.every(({ status, reason }) => status === "fulfilled" ||
      reason.status === "rejected.quota.exhausted"));
    const issued = await purchases.issueChallenge({ purpose: "login", subject: "ann" });
    const used = { purpose: "login", subject: "ann", challenge: issued.challenge };
    await purchases.consumeChallenge({ ...used, usedBy: "x" });
    await assert.rejects(purchases.consumeChallenge({ ...used, usedBy: "y" }), assay.RejectedError);
    for (const ok of [true, false]) assert.equal((await purchases.recordEvent("NOTE#1")).ok, ok);
    await assert.rejects(purchases.claim(coins(), { account: "ann" }),
      (error) => error.status === "config.ledger.not-durable");
    await real.quit();
    await assert.rejects(purchases.recordEvent("NOTE#2"),
      (error) => error.status === "unavailable.database.unreachable");
    purchases.close();
  });
}

test("Redis: what its client says", async () => {
  const INFO = "maxmemory:0\r\nmaxmemory_policy:noeviction\r\n";
  const asked = (...words) => ({ ...step(null), calls: [{ command: words }] });
  const script = { ...step(null), calls: [{ script: "return 1", sha1: "x", keys: ["k"], args: [1] }] };
  const over = (answer) => {
    const log = [];
    return { log, sendCommand: async (words) => {
      log.push(words[0]);
      const found = answer(words);
      if (found instanceof Error) throw found;
      return found ?? { ROLE: ["master"], INFO }[words[0]] ?? "OK";
    } };
  };
  const says = (text) => over(([word]) => word === "SADD" ? new Error(text) : undefined);
  for (const [client, wanted] of [
    [over(() => undefined), "200"],
    [over(([word]) => word === "ROLE" ? ["slave"] : undefined), "500 standby no"],
    [over(([word]) => word === "INFO" ? "maxmemory:1\r\nmaxmemory_policy:allkeys-lru" : undefined),
      "500 evicting no"],
    [over(([word]) => word === "INFO" ? new Error("NOPERM no") : undefined), "200"],
    [says("READONLY You can't write"), "500 standby no"],
    [says("LOADING Redis is loading"), "500 LOADING no"],
    [says("Socket closed unexpectedly"), "0"]]) {
    assert.equal(await performed(new Redis(client), asked("SADD", "a", "b")), wanted);
  }
  const unknown = over(([word]) => word === "EVALSHA" ? new Error("NOSCRIPT none") : undefined);
  assert.equal(await performed(new Redis(unknown), script), "200");
  assert.deepEqual(unknown.log, ["ROLE", "INFO", "EVALSHA", "EVAL"]);
  const away = new Redis({ ...over(() => undefined), isReady: false });
  assert.equal(await performed(away, asked("SADD", "a", "b")), "500 connect no");
  // It would send again what had no reply: a counter would count twice.
  assert.throws(() => new Redis({ call() {}, options: {} }), TypeError);
  assert.throws(() => new Redis({}), TypeError);
});

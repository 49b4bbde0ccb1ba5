// Ask Apple what a migration left open: ask.py for Node.js, with the same files.
//
//     node ask.mjs migrate-look config.json /var/lib/shop/ledger.db
//
// For another database, another executor of `assay/ledger` in the last lines.
import { constants, createReadStream, existsSync } from "node:fs";
import { open, readFile, rename, writeFile } from "node:fs/promises";
import { AssayError, ConfigError, PendingError, Sender, UnavailableError } from "assay";
import { Ledger, SQLite } from "assay/ledger";

const NAMES = ["answers.ndjson", "unknown-to-apple.ndjson"];
const ENVIRONMENTS = ["Production", "Sandbox"];
const LIMITED = "unavailable.app-store.local-rate-limit";
const UNAUTHORIZED = "rejected.app-store.unauthorized";
// The questions at once, those after which the place is noted, and the most texts of a row.
const AT_ONCE = 8;
const CHUNK = 64;
const TEXTS = 32;

/** Return the signed texts of an answer. */
function signed(value) {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    ["signedTransactionInfo", "signedRenewalInfo", "signedTransactions"].includes(name)
      ? each : signed(each));
}

const payload = (text) => JSON.parse(Buffer.from(text.split(".")[1], "base64url"));

/** Wait for a permit of the ledger. */
async function permit(ledger, appStoreOperation, environment) {
  for (;;) {
    try {
      return await ledger.acquireRatePermit({ appStoreOperation, environment });
    } catch (error) {
      if (error.status !== LIMITED) throw error;
    }
  }
}

/**
 * Return the rows of an answer; or none, and the line with its status. Throws AssayError if Apple is
 * away, or refuses the key.
 */
async function question(ledger, send, line) {
  const { environment, operation } = line;
  const id = line.originalTransactionId ?? line.transactionId;
  if (!ENVIRONMENTS.includes(environment)) {
    return { rows: [], unknown: { ...line, status: "unsupported.app-store.environment" } };
  }
  await permit(ledger, operation, environment);
  const answers = [];
  const exchange = ledger.verifier.exchange({
    operation, environment, transactionId: id,
    ...(operation === "get-transaction-history" ? { options: { pages: 100 } } : {}),
  });
  const document = await exchange.run(async (request) => {
    const reply = await send(request);
    answers.push(reply);
    return reply;
  }, { maxWaitMs: 3_600_000 });
  try {
    document.throwIfFailed();
  } catch (error) {
    if (!(error instanceof AssayError) || error.status === UNAUTHORIZED
      || error instanceof UnavailableError || error instanceof PendingError
      || error instanceof ConfigError) throw error;
    return { rows: [], unknown: { ...line, status: error.status } };
  }
  // Every text was verified. An answer has the customer's other purchases, too, and the line says
  // nothing about whose those are.
  const texts = new Set(answers.filter(({ status }) => status === 200)
    .flatMap(({ body }) => signed(JSON.parse(body.text))));
  const found = [...texts].map((text) => ({ text, ...payload(text) }));
  const of = new Set(found.filter((each) => [each.originalTransactionId, each.transactionId]
    .includes(id)).map((each) => each.originalTransactionId));
  const evidence = found.filter((each) => of.has(each.originalTransactionId))
    .map(({ text }) => text);
  if (evidence.length === 0) return { rows: [], unknown: { ...line, status: document.status } };
  const rows = [];
  for (let at = 0; at < evidence.length; at += TEXTS) {
    rows.push({ account: line.account, environment, originalTransactionId: [...of][0] ?? id,
      evidences: evidence.slice(at, at + TEXTS) });
  }
  return { rows, unknown: undefined };
}

/** Some files, and the place that they have reached: lines that are done, and the bytes of each. */
export class Outcome {
  static async open(place, paths) {
    const outcome = new Outcome();
    outcome.place = place;
    [outcome.done, ...outcome.sizes] = existsSync(place)
      ? JSON.parse(await readFile(place, "utf8")) : [0, ...paths.map(() => 0)];
    outcome.files = await Promise.all(paths.map((path) =>
      open(path, constants.O_RDWR | constants.O_CREAT, 0o600)));
    await Promise.all(outcome.files.map((file, at) => file.truncate(outcome.sizes[at])));
    return outcome;
  }

  /** Write what some lines come to, a list for each file, then note the place, by a rename: a kill
   * before it repeats the lines since the last. */
  async write(count, ...linesOfFiles) {
    for (const [at, file] of this.files.entries()) {
      const text = Buffer.from(linesOfFiles[at].map((line) => `${JSON.stringify(line)}\n`).join(""));
      await file.write(text, 0, text.length, this.sizes[at]);
      await file.sync();
      this.sizes[at] += text.length;
    }
    this.done += count;
    const part = `${this.place}.part-${process.pid}`;
    await writeFile(part, JSON.stringify([this.done, ...this.sizes]));
    await rename(part, this.place);
  }

  async close() {
    await Promise.all(this.files.map((file) => file.close()));
  }
}

/** Return what a function comes to for each of a list, a few at once. */
export async function mapAFew(list, call) {
  const results = [];
  for (let first = 0; first < list.length; first += AT_ONCE) {
    results.push(...await Promise.all(list.slice(first, first + AT_ONCE).map(call)));
  }
  return results;
}

/** Yield the lines of a file. A text in one may have U+2028, which node:readline takes for an end. */
export async function* linesOf(path) {
  let rest = "";
  for await (const piece of createReadStream(path, "utf8")) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    yield* lines;
  }
  if (rest) yield rest;
}

/** Call a function with chunks of the lines of a file, the ones before a place left out. */
export async function inChunks(path, done, chunk, call) {
  let [at, waiting] = [0, []];
  for await (const line of linesOf(path)) {
    at += 1;
    if (at > done) waiting.push({ at, line });
    if (waiting.length === chunk) await call(waiting.splice(0));
  }
  if (waiting.length > 0) await call(waiting);
}

/** Ask Apple every line of ask.ndjson in a folder. Returns how many have been asked. */
export async function ask(folder, ledger, send, chunk = CHUNK) {
  const outcome = await Outcome.open(`${folder}/asked.json`,
    NAMES.map((name) => `${folder}/${name}`));
  try {
    await inChunks(`${folder}/ask.ndjson`, outcome.done, chunk, async (some) => {
      const answers = await mapAFew(some, ({ line }) => question(ledger, send, JSON.parse(line)));
      await outcome.write(some.length, answers.flatMap(({ rows }) => rows),
        answers.flatMap(({ unknown }) => unknown ?? []));
    });
    return outcome.done;
  } finally {
    await outcome.close();
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [folder, config, database] = process.argv.slice(2);
  if (!database) {
    console.error("node ask.mjs FOLDER CONFIGURATION DATABASE");
    process.exit(2);
  }
  const ledger = new Ledger(new SQLite(database), await readFile(config));
  const sender = new Sender();
  try {
    console.log(`asked ${await ask(folder, ledger, (request) => sender.send(request))}`);
  } catch (error) {
    console.error(`${error.message}\nthe same command goes on from here`);
    process.exitCode = 1;
  }
}

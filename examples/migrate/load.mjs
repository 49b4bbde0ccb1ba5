// Load what `assay migrate --out` wrote into a ledger: load.py for Node.js, with the same files.
//
//     node load.mjs ledger.ndjson config.json /var/lib/shop/ledger.db
//
// For DynamoDB, its executor of `assay/ledger` in the last lines.
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { RejectedError, UnavailableError } from "assay";
import { Ledger, SQLite } from "assay/ledger";
import { Outcome, inChunks, linesOf, mapAFew } from "./ask.mjs";

// What the ledger has already is no refusal.
const PRESENT = ["rejected.purchase.already-granted", "rejected.purchase.revoked"];
// The milliseconds before a line is run again.
const WAITS = [100, 1000, 5000, undefined];

const camel = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());

/** Return the configuration as a migration needs it: evidence is old, whose a purchase is follows
 * from the rows, and no owner of the ledger loses it. */
export function configuration(text) {
  const config = JSON.parse(text);
  for (const [name, block] of Object.entries(config)) {
    if (name !== "attest" && typeof block === "object") delete block.maxAgeMs;
  }
  return { ...config, decision: { ...config.decision, accountToken: "ignored" },
    ledger: { ...config.ledger, transfer: "deny" } };
}

/** Run a line. Return what is to be said of it if the ledger refuses it. Throws AssayError if the
 * database is away, or the configuration is another than that of the migration. */
async function run(ledger, number, line) {
  const { operation, nowMs: now, evidence, ...members } = line;
  const verified = evidence.map(({ kind, text }) =>
    ledger.verifier[camel(`verify-${kind}`)](text, { now }));
  if (members.grantMode === "transaction") members.grant = () => {}; // the shop has delivered
  let status;
  for (const wait of WAITS) {
    try {
      const result = await ledger[camel(operation)](verified, { ...members, now });
      if (!PRESENT.includes(result.status)) result.throwIfFailed();
      return [];
    } catch (error) {
      ({ status } = error);
      if (error instanceof RejectedError) break;
      // Another attempt has the purchase and may be at work on it for long.
      if (!(error instanceof UnavailableError)
        || (wait === undefined && !status.startsWith("unavailable.claim."))) throw error;
    }
    await setTimeout(wait ?? 0);
  }
  const { account = null, transactionIds } = members;
  return [{ line: number, operation, account, transactionIds, status }];
}

/** Run some lines, those of one account in their order: of a subscription, the claims of its
 * periods come first, then its state. Return what is to be said. */
async function runAll(ledger, some) {
  const ofAccount = new Map();
  for (const { at, line } of some) {
    const members = JSON.parse(line);
    const key = members.account ?? at;
    if (!ofAccount.has(key)) ofAccount.set(key, []);
    ofAccount.get(key).push({ at, members });
  }
  const said = await mapAFew([...ofAccount.values()], async (lines) => {
    const refused = [];
    for (const { at, members } of lines) refused.push(...await run(ledger, at, members));
    return refused;
  });
  return said.flat().sort((left, right) => left.line - right.line);
}

/** Return the name of the place of a file: another file under the same name has another. */
async function placeOf(path) {
  const { value = "" } = await linesOf(path).next();
  const { size } = await stat(path);
  const digest = createHash("sha256").update(`${value}\n${size}`).digest("hex");
  return `${path}.loaded-${digest.slice(0, 16)}`;
}

/** Run every line of a file. Returns how many have been run. */
export async function load(path, ledger, chunk = 64) {
  const outcome = await Outcome.open(await placeOf(path), [`${path}.refused`]);
  try {
    await inChunks(path, outcome.done, chunk, async (some) => {
      await outcome.write(some.length, await runAll(ledger, some));
    });
    return outcome.done;
  } finally {
    await outcome.close();
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [path, config, database] = process.argv.slice(2);
  if (!database) {
    console.error("node load.mjs FILE CONFIGURATION DATABASE");
    process.exit(2);
  }
  const ledger = new Ledger(new SQLite(database), configuration(await readFile(config)));
  try {
    console.log(`loaded ${await load(path, ledger)}`);
  } catch (error) {
    console.error(`${error.message}\nthe same command goes on from here`);
    process.exitCode = 1;
  }
}

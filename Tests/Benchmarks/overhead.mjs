// Measures a call through the Node.js package; overhead.py describes the protocol.
//
// node overhead.mjs CONFIG_FILE JWS_FILE NOW_MS COUNT   with ASSAY_NODE, the package's folder

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { Verifier } = createRequire(import.meta.url)(process.env.ASSAY_NODE);
const ROUNDS = 7;
const WARM_UP = 2000; // until V8 has compiled what it interprets at first
const [config, file, now, count] = process.argv.slice(2);
const verifier = Verifier.fromFile(config);
const jws = readFileSync(file, "utf8");
const at = { now: Number(now) };

function calls(number) {
  for (let call = 0; call < number; call += 1) {
    const transaction = verifier.verifyTransaction(jws, at);
    transaction.transactionId;
    transaction.originalTransactionId;
    transaction.productId;
    transaction.bundleId;
    transaction.environment;
    transaction.type;
    transaction.purchaseDate;
    transaction.expiresDate;
    transaction.quantity;
    transaction.inAppOwnershipType;
  }
}

calls(WARM_UP);
const ns = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const begin = process.cpuUsage();
  calls(Number(count));
  const { user, system } = process.cpuUsage(begin);
  ns.push((user + system) * 1000 / Number(count));
}
console.log(JSON.stringify({ language: "node", ns }));

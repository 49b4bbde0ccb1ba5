// Frame of docs/tasks/run-exchange.md: an issuer whose key set the cache has.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { KeysetCache, Verifier } from "assay";

const { config, minted } = await import(`${process.env.ASSAY_EVIDENCE}/evidence.mjs`);
const text = minted("token", "--subject", "account-1");
const keyset = JSON.parse(minted("keyset"));
const { issuer } = keyset;
const fetchedAtMs = Date.now();
const tokens = JSON.parse(readFileSync("authority/tokens.json", "utf8"));
const verifier = new Verifier({ ...JSON.parse(config), tokens });
const cache = new Map([[issuer, JSON.stringify(
  { keyset: JSON.stringify({ ...keyset, fetchedAtMs }), state: { fetchedAtMs } })]]);
// SNIPPET
assert.equal(token.subject, "account-1");

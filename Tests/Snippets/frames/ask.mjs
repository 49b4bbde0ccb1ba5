// Frame of docs/tasks/verify-receipt.md: Apple is a function that returns what was minted.
import assert from "node:assert/strict";
import { Verifier } from "assay";

const { config, minted } = await import(`${process.env.ASSAY_EVIDENCE}/evidence.mjs`);
const verifier = new Verifier(config);
const text = minted("app-receipt");
const said = [minted("verify-receipt-response", "--apple-status", "21007"),
  minted("verify-receipt-response")];
const asked = [];
globalThis.fetch = async (url) => {
  asked.push(new URL(url).hostname);
  return new Response(said[asked.length - 1]);
};
// SNIPPET
assert.equal(decision.plan, "premium");
assert.deepEqual(asked, ["buy.itunes.apple.com", "sandbox.itunes.apple.com"]);

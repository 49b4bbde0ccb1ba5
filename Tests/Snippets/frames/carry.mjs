// Frame of docs/tasks/run-exchange.md: Apple is a function that returns what was minted.
// REPLACES new Sender() WITH apple
import assert from "node:assert/strict";
import { Verifier } from "assay";

const { config, minted } = await import(`${process.env.ASSAY_EVIDENCE}/evidence.mjs`);
const verifier = new Verifier(config);
const request = { operation: "call-verify-receipt", receipt: minted("app-receipt") };
const said = minted("verify-receipt-response");
const apple = async ({ id }) => ({ id, status: 200, body: { text: said } });
const queue = (retry) => assert.fail(`${retry} is to be queued`);
// SNIPPET
assert.equal(verifier.decide(document).plan, "premium");

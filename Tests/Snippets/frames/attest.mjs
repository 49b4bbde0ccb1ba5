// Frame of App Attest: what the app sent, the stored device key, the table of keys.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Verifier } from "assay";

const { config, minted } = await import(`${process.env.ASSAY_EVIDENCE}/evidence.mjs`);
const configuration = JSON.parse(config);
configuration.apps[0].teamId = "ABCDE12345";
const verifier = new Verifier(configuration);
const [account, clientData, body] = ["ann", "hello", "hello"];
const sent = { attestation: minted("attestation", "--client-data", "hello") };
const device = JSON.parse(readFileSync("authority/device.json", "utf8"));
sent.keyId = device.keyId;
const headers = {
  "x-key-id": device.keyId.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
  "x-assertion": minted("assertion", "--client-data", "hello", "--counter", "8"),
};
const record = { publicKey: device.publicKey, counter: 7, receipt: minted("attest-receipt") };
const keys = {
  async find(...asked) {
    assert.deepEqual(asked, [device.keyId, account]);
    return record;
  },
};
// SNIPPET
const made = (name) => eval(`typeof ${name} === "undefined" ? undefined : ${name}`);
const found = ["attestation", "assertion", "receipt"].map(made);
assert.ok(found.some((each) => each !== undefined));
assert.equal(found[0]?.keyId ?? device.keyId, device.keyId);
assert.equal(found[1]?.counter ?? 8, 8);
assert.equal(found[2]?.type ?? "ATTEST", "ATTEST");

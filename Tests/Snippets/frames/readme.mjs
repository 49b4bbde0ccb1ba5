// Frame of README.md: a purchase of one app.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { AssayError, Verifier } from "assay";

const jws = execFileSync("assay", ["mint", "transaction", "--authority", "./authority",
  "--environment", "Production"], { encoding: "utf8" }).trim();
const config = readFileSync("authority/config.json");
const printed = [];
console.log = (...words) => printed.push(words.join(" "));
// SNIPPET
assert.match(printed.join("\n"), /^premium active /);

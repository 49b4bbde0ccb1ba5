// What the frames in JavaScript import: evidence of the test authority of the page's folder.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Return what `assay mint` prints. */
export const minted = (kind, ...options) =>
  execFileSync("assay", ["mint", kind, "--authority", "./authority", ...options],
    { encoding: "utf8" }).trim();

minted("transaction"); // the first evidence creates the folder
export const config = readFileSync("authority/config.json", "utf8");

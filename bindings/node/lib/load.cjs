"use strict";
// Loads the addon of this package and libassay beside it, and checks that they fit.

const { closeSync, existsSync, openSync, readSync } = require("node:fs");
const { join } = require("node:path");
const { ABI, OPERATIONS, VERSION, VERSION_NUMBER } = require("../generated/constants.cjs");

const VARIABLE = "ASSAY_LIBRARY";
const FILE_NAME = `libassay.so.${ABI}`;

/** Return "glibc" or "musl" by the loader that a program names in its ELF header. */
function cLibraryOf(program) {
  const file = openSync(program, "r");
  try {
    const read = (size, at) => {
      const octets = Buffer.alloc(size);
      return octets.subarray(0, readSync(file, octets, 0, size, at));
    };
    const head = read(64, 0);
    const [start, size, count] = [Number(head.readBigUInt64LE(32)), head.readUInt16LE(54),
      head.readUInt16LE(56)];
    const table = read(size * count, start);
    for (let at = 0; at < table.length; at += size) {
      if (table.readUInt32LE(at) === 3) { // PT_INTERP
        const place = Number(table.readBigUInt64LE(at + 8));
        const name = read(Number(table.readBigUInt64LE(at + 32)), place).toString("latin1");
        return name.includes("ld-musl-") ? "musl" : "glibc";
      }
    }
    return "glibc";
  } finally {
    closeSync(file);
  }
}

function fail(text, cause) {
  const error = new Error(`assay ${VERSION}: ${text}`, { cause });
  error.code = "ERR_ASSAY_LOAD";
  return error;
}

/** Return the addon in a folder of prebuilt ones; an error says what to do. */
function loadAddon(prebuilds, platform) {
  const path = join(prebuilds, platform, "assay.node");
  if (!existsSync(path)) {
    throw fail(`there is no addon for ${platform}: no file ${path}. assay-${VERSION}.tgz has those ` +
      "of Linux on x64 and arm64, for glibc and for musl, and a tarball named like one has it alone; " +
      "in a checkout `make node` builds this machine's.");
  }
  try {
    return require(path);
  } catch (error) {
    if (error.code === "ERR_DLOPEN_DISABLED") {
      throw fail("Node.js was told to load no addons (--no-addons, or --permission without " +
        "--allow-addons), and verification needs one.", error);
    }
    throw fail(`the addon for ${platform} cannot be loaded: ${error.message}. It needs glibc ` +
      "2.34 or later (Debian 12, Ubuntu 22.04, Amazon Linux 2023), or musl.", error);
  }
}

/** Return the name of the library and why: beside the addon, or as the variable says. */
function chooseLibrary(folder, environment) {
  const named = environment[VARIABLE];
  if (named === "system") return [FILE_NAME, `by the system's loader, as ${VARIABLE} says`];
  if (named) return [named, `named by ${VARIABLE}`];
  return [join(folder, FILE_NAME), "beside the addon"];
}

/** Open the library; return its path, version and build information. */
function openLibrary(addon, folder, environment, needed = [VERSION_NUMBER, ABI]) {
  const [path, why] = chooseLibrary(folder, environment);
  const refuse = (text, cause) => fail(`no usable ${FILE_NAME}: ${path}, ${why}: ${text}`, cause);
  if (path.includes("/") && !existsSync(path)) {
    throw refuse(`no such file. Set ${VARIABLE} to its path, or install the package again.`);
  }
  let buildInfo;
  try {
    buildInfo = JSON.parse(addon.open(path));
  } catch (error) {
    throw refuse(error.message, error);
  }
  const { version } = buildInfo;
  const number = version.split(".").reduce((sum, each) => sum * 100 + Number(each), 0);
  if (number < needed[0]) throw refuse(`it is ${version}, and ${VERSION} or later is needed`);
  if (buildInfo.abi !== needed[1]) {
    throw refuse(`it has ABI ${buildInfo.abi}, and ABI ${needed[1]} is needed`);
  }
  return { path, version, buildInfo: Object.freeze(buildInfo) };
}

const platform = `${process.platform}-${process.arch}` +
  (process.platform === "linux" ? `-${cLibraryOf(process.execPath)}` : "");
const prebuilds = join(__dirname, "..", "prebuilds");
const native = Object.assign(loadAddon(prebuilds, platform), { operations: OPERATIONS });
const library = openLibrary(native, join(prebuilds, platform), process.env);

module.exports = { native, library, platform, loadAddon, chooseLibrary, openLibrary };

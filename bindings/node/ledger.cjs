"use strict";
// The ledger and its executors. ledger.mjs is made of what stands here.

const { Grant, TakeBack } = require("./lib/granting.cjs");
const { Ledger } = require("./lib/ledger.cjs");
if (Symbol.dispose) Ledger.prototype[Symbol.dispose] = Ledger.prototype.close;

module.exports = {
  Ledger, Grant, TakeBack,
  ...require("./lib/results.cjs"),
  ...require("./lib/executors/sqlite.cjs"),
  ...require("./lib/executors/postgres.cjs"),
  ...require("./lib/executors/mariadb.cjs"),
  ...require("./lib/executors/dynamodb.cjs"),
  ...require("./lib/executors/redis.cjs"),
  ...require("./generated/results.cjs"),
};

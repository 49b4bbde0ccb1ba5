// Frame of docs/ledger.md: a purchase of coins and the configuration of its authority.
import Foundation

func text(_ path: String) throws -> String {
  try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
    .trimmingCharacters(in: .newlines)
}

let jws = try text("purchase.jws")
// The authority's configuration has no ledger.
let verifier = try Verifier(
  text("authority/config.json").dropLast() + #","ledger":{"engine":"sqlite"}}"#)
// SNIPPET
let found = try await ledger.find(account: "account-1")
precondition(found.rows.map(\.state) == [.granted])

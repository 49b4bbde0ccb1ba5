// Frame of README.md: a JWS and the configuration of its authority.
import Foundation

func minted(_ arguments: [String]) throws -> String {
  let process = Process()
  let pipe = Pipe()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = ["assay", "mint"] + arguments + ["--authority", "authority"]
  process.standardOutput = pipe
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
}

let jws = try minted(["transaction"])
let configuration = try String(
  contentsOf: URL(fileURLWithPath: "authority/config.json"), encoding: .utf8)
// SNIPPET
let environment = try verifier.verifyTransaction(jws).environment
precondition(environment == .sandbox)

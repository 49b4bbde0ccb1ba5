// Frame of README.md and of the module's first comment: a verifier and one call.
import Foundation

func minted(_ arguments: [String]) throws -> [UInt8] {
  let process = Process()
  let pipe = Pipe()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = ["assay", "mint"] + arguments + ["--authority", "authority"]
  process.standardOutput = pipe
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return [UInt8](data).filter { $0 != 10 }
}

let jws = try minted(["transaction"])
let configuration = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "authority/config.json")))
let now = Int64(Date().timeIntervalSince1970 * 1000)
// SNIPPET
precondition(answer?.status == .ok)

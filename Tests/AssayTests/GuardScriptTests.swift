import AssayAuthority
import Testing

@testable import Assay

/// Tests docs/spec/ledger-statements.md §4.
@Suite("Stores: the guard script")
struct GuardScriptTests {
  @Test("STO-2 the name of the script is the SHA-1 of its text")
  func name() throws {
    let text = Text(stringLiteral: GuardScript.text)
    let name = Text(Hex.encode(Digest.sha1.of(text.utf8)))
    checkEqual(name, Text(stringLiteral: GuardScript.sha1))
    check(text.utf8.first == 0x6c && text.utf8.last == 0x72, "no white space around it")
  }

  private func words(_ call: GuardCall) -> [String] {
    guard case .script(_, let arguments) = call.call else { return [] }
    return arguments.map { $0.string }
  }

  @Test("§4 every list goes behind its length")
  func arguments() {
    let key: Text = "k"
    checkEqual(words(GuardCall(key: key)), ["", "0", "0", "0", "0"])
    let full = GuardCall(
      key: key, expireMs: 5, create: [("a", .text("x")), ("b", .null)],
      tests: [.equal("a", "x"), .atMost("n", 3), .atLeast("n", -1)], set: [("b", .integer(4))],
      add: [("n", .integer(-2))])
    checkEqual(
      words(full),
      [
        "5", "4", "a", "x", "b", "", "1", "9", "eq", "a", "x", "le", "n", "3", "ge", "n", "-1",
        "2", "b", "4", "2", "n", "-2",
      ])
  }
}

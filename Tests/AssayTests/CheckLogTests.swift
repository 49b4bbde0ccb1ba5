import Testing

@testable import Assay

/// Tests the outcome of each check, as a document lists them (DOC-5).
@Suite("Ledger of checks")
struct LedgerTests {
  private enum Step: Int, CheckList {
    case first, second, third

    static let ids: [StaticString] = ["first", "second", "third"]
  }

  private func outcomes(_ checks: Checks<Step>, isRefused: Bool) throws -> [String] {
    var writer = JSONWriter()
    writer.beginObject()
    checks.log.write(isRefused: isRefused, &writer)
    writer.endObject()
    let root = try JSONReader.readObject(writer.bytes).root
    return try require(root.member("checks")).children.map { check in
      check.member("ok")?.boolean.map { "\($0)" } ?? check.string("reason")
    }
  }

  @Test("DOC-5 the check that is open fails under a refusal and passes otherwise")
  func open() throws {
    var checks = Checks<Step>()
    checks.enter(.first)
    checks.enter(.second)
    checkEqual("\(checks.log.failed)", "second")
    try checkEqual(
      outcomes(checks, isRefused: true), ["true", "false", "an earlier check failed"])
    checks.enter(.third)
    try checkEqual(outcomes(checks, isRefused: false), ["true", "true", "true"])
  }

  @Test("DOC-5 a check that is skipped says why, entered or not")
  func skipped() throws {
    var checks = Checks<Step>()
    checks.enter(.first)
    checks.skip(.first, .noInput)
    checkEqual("\(checks.log.failed)", "call")
    checks.enter(.second, where: false, else: .notConfigured)
    checks.enter(.third)
    checks.skip(.second, .doesNotApply)
    checkEqual("\(checks.log.failed)", "call")
    try checkEqual(
      outcomes(checks, isRefused: true),
      [
        "no input for it", "does not apply to this evidence", "true",
      ])
  }

  @Test("DOC-1 every check has an id, and none has that of another")
  func ids() {
    func expect<Check: CheckList>(_ list: Check.Type) {
      let ids = list.ids.map { "\($0)" }
      check(ids.count == list.allCases.count && Set(ids).count == ids.count, "\(list)")
    }
    expect(StoreKitCheck.self)
    expect(TransactionReceiptCheck.self)
    expect(AppReceiptCheck.self)
    expect(AttestReceiptCheck.self)
    expect(AttestationCheck.self)
    expect(AssertionCheck.self)
    expect(ReceiptResponseCheck.self)
    expect(TriageCheck.self)
    expect(DecisionCheck.self)
    expect(ExchangeCheck.self)
    expect(RiskCheck.self)
    expect(ConfigurationCheck.self)
  }

  @Test("DOC-5 a check that was left has passed, whatever comes after it")
  func left() throws {
    var checks = Checks<Step>()
    checks.enter(.first)
    checks.leave()
    checkEqual("\(checks.log.failed)", "call")
    try checkEqual(
      outcomes(checks, isRefused: true),
      [
        "true", "an earlier check failed", "an earlier check failed",
      ])
  }
}

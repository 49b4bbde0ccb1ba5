import CAssay

@testable import Assay
@testable import AssayAuthority
@testable import AssayCases

/// The target for `assess-refund` and `compute-refund-units`.
enum RefundTargets {
  private static let verifiers: [OpaquePointer?] = {
    let cases = FuzzFixture.shared.cases
    return ["refunds", "refunds-own", "refunds-late", "standard"].map { name in
      FuzzFixture.verifier(cases.verifiers.first { $0.name == name }?.config.bytes ?? [])
    }
  }()

  /// Reads any bytes as the members of a request, without its first bracket. The first byte selects
  /// the verifier and the operation.
  static func answer(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let isAssessment = first & 4 == 0
    let operation = isAssessment ? "assess-refund" : "compute-refund-units"
    let request = Array("{\"operation\":\"\(operation)\",".utf8) + input.dropFirst()
    let answer = Calls.call(verifiers[Int(first & 3)], request, evidence: [])
    let asked = try? JSONReader.readObject(request, caps: Answer.caps).root
    if let exchange = answer.tree?.member("exchange"), let asked {
      if let refund = exchange.member("refund") { checkAnswer(refund, asked, answer) }
      if let units = exchange.member("units") { checkUnits(units, asked) }
    }
    answer.free()
  }

  /// Checks that nothing is sent without consent, and that each member has its rule.
  private static func checkAnswer(_ refund: JSONValue, _ asked: JSONValue, _ answer: Answer) {
    let action = refund.member("answer")?.text?.string ?? ""
    demand((action == "send") == answer.isOK, "\(action) under \(answer.status)")
    guard let request = refund.present("request") else {
      return demand(!answer.isOK, "no request to send")
    }
    demand(answer.isOK, "a request that is not to be sent")
    let consent = asked.member("observations")?.member("consent")
    demand(consent?.member("isGiven")?.boolean == true, "a request without consent")
    demand(
      consent?.member("answeredAtMs")?.integer ?? .max <= FuzzFixture.instant,
      "a request by consent of the future")
    demand(
      asked.member("case")?.member("ownership")?.text == "PURCHASED",
      "a request about another's purchase")
    let fields = refund.member("fields").map { Array($0.children) } ?? []
    for member in request.children.dropFirst(4) {
      demand(
        fields.contains {
          $0.member("field")?.text == member.name && $0.member("rule")?.text != nil
        }, "\(member.name.string) has no rule")
    }
    let percentage = request.member("consumptionPercentage")?.integer ?? 0
    demand((0...100_000).contains(percentage), "\(percentage) thousandths of a percent")
    checkExchange(request)
  }

  /// Checks that the exchange that sends the answer takes its request.
  private static func checkExchange(_ request: JSONValue) {
    var exchange: OpaquePointer? = nil
    let begun = Answer { document in
      Array(request.source).asText {
        assay_exchange_new(
          sender, $0, $1, nil, 0, FuzzFixture.instant, &exchange, document)
      }
    }
    let name = begun.text("status.name") ?? ""
    demand(
      begun.status & 0xff == 9 || begun.text("error.at") == "bundleId"
        || name == "unsupported.app-store.environment", "\(name) at \(begun.text("error.at") ?? "")"
    )
    begun.free()
    assay_exchange_free(exchange)
  }

  private static let sender = FuzzFixture.verifier(
    FuzzFixture.shared.cases.standardConfig.setting(
      "appStoreServerApi", FuzzFixture.shared.cases.appStoreServerApiBlock
    ).bytes)

  /// Checks that units are neither lost nor made.
  private static func checkUnits(_ units: JSONValue, _ asked: JSONValue) {
    let promised = asked.member("units")?.integer ?? 0
    let granted = asked.member("grantedUnits")?.integer ?? promised
    let take = units.member("take")?.integer ?? -1
    demand((0...max(0, granted)).contains(take), "takes \(take) of \(granted)")
    guard let refunded = units.member("refunded")?.integer,
      let remaining = units.member("remaining")?.integer
    else { return demand(take == 0, "takes a share that is not known") }
    demand(refunded >= 0 && remaining >= 0 && refunded + remaining == promised, "units are lost")
  }
}

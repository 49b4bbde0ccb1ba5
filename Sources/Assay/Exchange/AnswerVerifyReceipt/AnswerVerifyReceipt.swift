/// `answer-verify-receipt`: answers a request to Apple's deprecated verifyReceipt endpoint in
/// Apple's words, from what Apple signed (docs/spec/verify-receipt-endpoint.md).
///
/// The status that Apple's clients read is 0 or 21006 only if the receipt was verified.
struct AnswerVerifyReceipt {
  /// The request's members (VRE-1).
  private struct Terms {
    let endpoint: Environment
    let isMeasured: Bool
    let isTolerant: Bool
    let refusesStale: Bool
    let isMarked: Bool

    init(_ request: ExchangeRequest, accepted: [Environment]) throws(Refusal) {
      func choice(_ name: StaticString, _ words: [StaticString]) throws(Refusal) -> Bool {
        try request[name]?.choice(words) == 1
      }
      let isSandbox = try request.required("endpoint").choice(["Production", "Sandbox"]) == 1
      endpoint = isSandbox ? .sandbox : .production
      isMeasured = try choice("refusals", ["documented", "measured"])
      isTolerant = try choice("base64", ["apple", "tolerant"])
      refusesStale = try choice("ended", ["expired", "later"])
      isMarked = try request["mark"]?.boolean() ?? true
      try require(
        accepted.contains(endpoint), .misuseExchangeRequest, "VRE-18", at: "endpoint")
    }
  }

  private let terms: Terms
  private var httpStatus: Int64 = 200
  private var appleStatus: Int64? = 0
  private var receipt: AnsweredReceipt? = nil
  private var state: AnsweredState? = nil
  private var passwordIsChecked = false
  private var status = Status.ok
  private var body: [UInt8] = []

  private init(_ terms: Terms) { self.terms = terms }

  static func document(_ context: OperationContext) -> Document {
    var answer: AnswerVerifyReceipt
    var body: [UInt8]
    do throws(Refusal) {
      let terms = try Terms(context.request, accepted: context.configuration.environments)
      let given = try context.request.required("body")
      try require(!given.value.isNull, given, .type)
      body = try ExchangeInput.body(given)
      answer = AnswerVerifyReceipt(terms)
    } catch {
      return context.answer.refused(error)
    }
    // The body may contain the shared secret.
    defer { Secret.wipe(&body) }
    do throws(Refusal) {
      try answer.fill(body, context)
      return context.answer.done(room: answer.body.count &* 2) { answer.write(&$0) }
    } catch {
      answer.refuse(error.status)
      return context.answer.refused(error) { answer.write(&$0) }
    }
  }

  // MARK: a verified receipt

  /// Verifies the receipt and writes the answer about it. The order of the checks is that of
  /// VRE-15: what is not genuine learns nothing of environment and secret.
  private mutating func fill(_ body: [UInt8], _ context: OperationContext) throws(Refusal) {
    let trust = context.receipts
    let asked = try VerifyReceiptBody(
      body, isTolerant: terms.isTolerant, cap: trust.configuration.receipts.inputBytes)
    let receipt = try AnsweredReceipt(
      asked.transport, endpoint: terms.endpoint, trust, nowMs: context.nowMs)
    let state = AnsweredState(receipt, context.evidence, nowMs: context.nowMs)
    try checkPassword(asked.password, receipt, state, trust.configuration.receipts.sharedSecrets)
    try require(
      !terms.refusesStale || state.stale.isEmpty, .unavailableVerifyReceiptStale, "VRE-33",
      at: "evidence")
    self.receipt = receipt
    self.state = state
    writeBody(
      AnswerWriting(
        state: state, nowMs: context.nowMs,
        excludesOldTransactions: asked.excludesOldTransactions), receipt)
  }

  /// Compares the password in constant time with the secret of the verified receipt's app (VRE-13).
  private mutating func checkPassword(
    _ password: SecretBytes?, _ receipt: AnsweredReceipt, _ state: AnsweredState,
    _ secrets: SharedSecrets
  ) throws(Refusal) {
    guard state.hasSubscription, let secret = secrets.password(receipt.bundleId) else { return }
    let isEqual =
      password.map { ConstantTime.areEqual($0.bytes[...], secret.bytes[...]) } ?? false
    try require(isEqual, .rejectedVerifyReceiptPassword, "VRE-13", at: "password")
    passwordIsChecked = true
  }

  private mutating func writeBody(_ writing: AnswerWriting, _ receipt: AnsweredReceipt) {
    // The receipt is written once more in base64, and each purchase as two entries.
    var writer = JSONWriter(
      capacity: 1024 &+ receipt.bytes.count &* 2 &+ writing.state.transactions.count &* 2048)
    writer.beginObject()
    switch receipt {
    case .app(let receipt):
      writer.member("status", integer: 0)
      writing.write(receipt, &writer)
    case .transaction(let transaction):
      appleStatus = writing.isExpired ? 21006 : 0
      writing.write(transaction, bundleId: receipt.bundleId, &writer)
      writer.member("status", integer: appleStatus)
    }
    writeMark(&writer)
    writer.endObject()
    body = writer.bytes
  }

  // MARK: a refusal

  /// Writes the answer of a refusal: `status`, and nothing of the receipt (VRE-4, VRE-14).
  private mutating func refuse(_ refusal: Status) {
    status = refusal
    if refusal == .tooLargeVerifyReceiptRequest {
      httpStatus = 413
      appleStatus = nil
      return
    }
    appleStatus = number(of: refusal)
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("status", integer: appleStatus)
    writeMark(&writer)
    writer.endObject()
    body = writer.bytes
  }

  /// Returns Apple's number of a refusal (VRE-14). Apple answers 21002 to whatever it cannot
  /// verify, although it documents 21003.
  private func number(of refusal: Status) -> Int64 {
    switch refusal {
    case .rejectedVerifyReceiptPassword: return 21004
    case .unavailableVerifyReceiptStale: return 21005
    case .rejectedVerifyReceiptEnvironment: return terms.endpoint == .production ? 21007 : 21008
    case .rejectedKindMismatch: return 21002
    default: break
    }
    switch refusal.family {
    case .malformed, .tooLarge: return 21002
    case .internal: return 21009
    default: return terms.isMeasured ? 21002 : 21003
    }
  }

  // MARK: writing

  /// Writes the member by which the answer is known as the library's own (VRE-40).
  private func writeMark(_ writer: inout JSONWriter) {
    guard terms.isMarked else { return }
    writer.name("assay")
    writer.beginObject()
    writer.member("version", integer: 1)
    if let state {
      writer.member("source", state.isMerged ? "merged" : "receipt")
      writer.member("asOf", integer: state.asOfMs)
      writer.member("complete", boolean: state.missing.isEmpty)
      writeMissing(state, &writer)
      writer.name("stale")
      writer.beginArray()
      for line in state.stale { writer.string(line) }
      writer.endArray()
      writer.member("password", passwordIsChecked ? "checked" : "not-checked")
    }
    writer.member("status", status.name)
    writer.endObject()
  }

  private func writeMissing(_ state: AnsweredState?, _ writer: inout JSONWriter) {
    writer.name("missing")
    writer.beginArray()
    for name in state?.missing ?? [] { writer.string(name) }
    writer.endArray()
  }

  /// Writes the value of `answer`, and the path of what must not be logged (VRE-3, VRE-6).
  private func write(_ writer: inout JSONWriter) {
    writer.name("answer")
    writer.beginObject()
    writer.member("httpStatus", integer: httpStatus)
    writer.member("contentType", "application/json")
    writer.name("body")
    writer.string(utf8: body)
    writer.member("appleStatus", integer: appleStatus)
    writer.member("style", receipt.map { Text(stringLiteral: $0.style.name) })
    writer.member("environment", Text(stringLiteral: terms.endpoint.name))
    writer.member("bundleId", receipt?.bundleId)
    writer.name("originalTransactionIds")
    writer.beginArray()
    var last: Text? = nil
    for transaction in (state?.transactions ?? []).ordered(by: {
      Text.precedesAsNumber($0.line, $1.line)
    }) where transaction.line != last {
      writer.string(transaction.line)
      last = transaction.line
    }
    writer.endArray()
    writeMissing(state, &writer)
    writer.name("leftOut")
    writer.beginArray()
    for place in state?.leftOut ?? [] { writer.string(place) }
    writer.endArray()
    writer.endObject()
    writer.name("sensitivePaths")
    writer.beginArray()
    writer.string("answer.body")
    writer.endArray()
  }
}

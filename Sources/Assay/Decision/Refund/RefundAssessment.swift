/// The answer to Apple's question about a refund, decided by the table of rules: a pure function of
/// case, observations, policy and time (RFA-12). Without the customer's consent it has no request.
struct RefundAssessment {
  /// What the host does.
  let answer: RefundAction
  /// What the rules say, also in record mode (RFA-14).
  let decided: RefundAction
  /// The answer, and the members of Apple's body.
  private(set) var fields: [RefundField] = []
  /// The ids of all rules that matched, in the order of the table.
  private(set) var fired: [StaticString] = []
  private(set) var warnings: [Warning] = []
  private let facts: RefundFacts

  /// - Parameter nowMs: milliseconds since 1970 UTC.
  init(
    _ asked: RefundCase, _ observations: RefundObservations, _ policy: RefundPolicy, nowMs: Int64
  ) {
    var facts = RefundFacts(
      asked: asked, observations: observations, policy: policy, nowMs: nowMs)
    var fired: [StaticString] = []
    let refusal = RefundAssessment.first(RefundRules.answers, facts, &fired)
    let delivery = RefundAssessment.first(RefundRules.deliveries, facts, &fired)
    let sample = RefundAssessment.first(RefundRules.samples, facts, &fired)
    facts.delivery = delivery?.value
    var body = RefundBody(facts)
    body.add(delivery, sample)
    var action = refusal
    if facts.delivery == nil {
      action = action ?? delivery?.giving(.wait)
    } else {
      let percentage = RefundAssessment.first(RefundRules.percentages, facts, &fired)
      let preference = RefundAssessment.first(
        RefundRules.preferences(policy), facts, &fired)
      body.add(percentage, preference)
      if preference?.value == .silent { action = action ?? preference?.giving(.silent) }
    }
    let decided = action?.value ?? .send
    let answer: RefundAction = policy.isRecording && decided == .send ? .silent : decided
    let rule = answer == decided ? action?.rule ?? "RFA-13" : "RFA-14"
    let inputs = answer == decided ? action?.inputs ?? [] : ["refunds.mode"]
    fields = [RefundField(name: "answer", value: .word(answer.name), rule: rule, inputs: inputs)]
    fields += body.fields
    warnings = body.warnings
    self.answer = answer
    self.decided = decided
    self.fired = fired
    self.facts = facts
  }

  /// Returns the first row that matches; `nil` if none does. Adds all that match to `fired`.
  private static func first<Value>(
    _ rows: [RefundRule<Value>], _ facts: RefundFacts, _ fired: inout [StaticString]
  ) -> RefundChoice<Value>? {
    var found: RefundChoice<Value>? = nil
    for row in rows {
      guard row.condition?(facts) ?? (found == nil) else { continue }
      if found == nil {
        found = RefundChoice(value: row.value(facts), rule: row.id, inputs: row.inputs)
      }
      let isListed = fired.last.map { $0.hasSameBytes(as: row.id) } ?? false
      if !isListed { fired.append(row.id) }
    }
    return found
  }

  // MARK: document

  /// Writes the value of the member `refund`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("answer", answer.name)
    writer.name("would")
    if facts.policy.isRecording { writer.string(decided.name) } else { writer.null() }
    writer.name("request")
    if answer == .send { writeRequest(&writer) } else { writer.null() }
    writer.name("fields")
    writer.beginArray()
    for field in fields { field.write(&writer) }
    writer.endArray()
    writer.name("fired")
    writer.beginArray()
    for rule in fired { writer.string(rule) }
    writer.endArray()
    writer.member("dueAtMs", integer: facts.asked.dueAtMs)
    writer.member("notBeforeMs", integer: answer == .wait ? facts.deliverByMs : nil)
    writer.endObject()
  }

  /// Writes the request of the exchange that sends the answer (RFA-13).
  private func writeRequest(_ writer: inout JSONWriter) {
    let asked = facts.asked
    writer.beginObject()
    writer.member(
      "operation",
      asked.isAdvancedCommerce ? "send-consumption-data" : "send-consumption-information")
    writer.member("environment", asked.environment.name)
    writer.member("bundleId", asked.bundleId)
    writer.member("transactionId", asked.transactionId)
    for field in fields.dropFirst() where !field.isAbsent {
      writer.name(field.name)
      field.value.write(&writer)
    }
    writer.endObject()
  }
}

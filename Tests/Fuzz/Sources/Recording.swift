import AssayAuthority
import CAssay

@testable import Assay
@testable import AssayCases

/// An exchange of the case table, from which a target takes its beginning.
final class Recording {
  let operation: Operation
  let verifier: OpaquePointer
  let request: [UInt8]
  let now: Int64
  private let proofs: [EvidenceCase.Evidence.Proof]
  private let steps: [EvidenceCase.Step]
  /// The verified evidence, which is kept.
  private(set) lazy var evidence = proofs.map { verified($0) }

  private init(
    _ operation: Operation, _ verifier: OpaquePointer, _ request: [UInt8],
    _ proofs: [EvidenceCase.Evidence.Proof], _ steps: [EvidenceCase.Step], now: Int64
  ) {
    (self.operation, self.verifier) = (operation, verifier)
    (self.request, self.proofs, self.steps, self.now) = (request, proofs, steps, now)
  }

  /// Reads a case; `nil` if it is no exchange that had a step, or has evidence of several verifiers.
  ///
  /// - Parameter verifier: Returns the verifier of a name.
  convenience init?(_ entry: EvidenceCase, _ verifier: (String) -> OpaquePointer?) {
    guard case .transcript(let name, let request, let evidence, let now, let steps) = entry.call,
      !steps.isEmpty, evidence.allSatisfy({ $0.verifier == nil }),
      let form = try? JSONReader.readObject(request.bytes, caps: Answer.caps).root,
      let asked = form.member("operation")?.text,
      let operation = Operation.allCases.first(where: {
        asked == Text(stringLiteral: $0.row.name)
      }),
      let verifier = verifier(name)
    else { return nil }
    self.init(operation, verifier, request.bytes, evidence.map(\.proof), steps, now: now)
  }

  /// Begins the exchange.
  ///
  /// - Parameter deadlineMs: The deadline to add to the request; `nil` for none.
  func begin(deadlineMs: Int64? = nil) -> (exchange: OpaquePointer?, answer: Answer) {
    var request = request
    if let deadlineMs, request.last == UInt8(ascii: "}") {
      request.removeLast()
      request += Array(",\"deadlineMs\":\(deadlineMs)}".utf8)
    }
    return Calls.begin(verifier, request, evidence: evidence, now: now)
  }

  /// Returns the recorded reply to the step of a number, beginning again after the last one.
  ///
  /// - Parameter id: The id of the step that gets the reply.
  func reply(_ number: Int, to id: Int64) -> JSONText {
    let bytes = steps[number % steps.count].answer.bytes
    guard let form = try? JSONReader.readObject(bytes, caps: Self.caps).root else { return [:] }
    var reply: JSONText = [:]
    for member in form.children {
      let name = member.name.string
      reply = reply.setting(name, name == "id" ? .integer(id) : .raw(Array(member.source)))
    }
    return reply
  }

  private static let caps = JSONCaps(elements: 16_384, values: 1 << 18)

  /// Returns a text of the request; `nil` if it has none of that name.
  func asks(_ name: StaticString) -> String? {
    let form = try? JSONReader.readObject(request, caps: Answer.caps).root
    return form?.member(name)?.text?.string
  }

  private func verified(_ proof: EvidenceCase.Evidence.Proof) -> OpaquePointer? {
    let answer: Answer
    switch proof {
    case .jws(let kind, let jws):
      answer = FuzzFixture.shared.verify(verifier, kind.library.rawValue, jws, now: now)
    case .receipt(let kind, let receipt):
      answer = ReceiptFixture.shared.verify(verifier, kind.library.rawValue, receipt, now: now)
    case .attestation(let object, let keyId, let data):
      answer = AttestFixture.shared.verifyAttestation(
        verifier, object, keyId: keyId, clientData: data, now: now)
    case .assertion(let object, let key, let counter, let data):
      answer = AttestFixture.shared.verifyAssertion(
        verifier, object, key: key, counter: counter, clientData: data, now: now)
    case .keyset(let jwks):
      let (keys, found) = Calls.keyset(jwks)
      assay_keyset_free(keys)
      answer = found
    case .answer(let body):
      answer = Answer { document in
        body.asText { assay_read_verify_receipt_response(verifier, $0, $1, now, document) }
      }
    }
    demand(answer.isOK, "evidence of the case table was refused")
    return answer.handle
  }
}

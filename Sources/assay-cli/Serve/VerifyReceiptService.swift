import Assay
import AssayAuthority

/// Answers HTTP requests in the words of Apple's verifyReceipt endpoint (VRE-50 … VRE-54).
final class VerifyReceiptService: HTTPService {
  private let verifier: Verifier
  private let clock: MockClock
  /// The folder with newer evidence; `nil` if there is none.
  private let evidence: String?
  private let options: JSONText
  /// The environments that the configuration accepts, among Production and Sandbox.
  let environments: [String]

  /// - Throws: `Problem` for an option that the library refuses, and for a configuration that
  ///   accepts neither environment.
  init(verifier: Verifier, clock: MockClock, evidence: String?, options: JSONText) throws {
    self.verifier = verifier
    self.clock = clock
    self.evidence = evidence
    self.options = options
    var accepted: [String] = []
    for environment in ["Production", "Sandbox"] {
      let probe = VerifyReceiptService.request(environment, [], options)
      let document = verifier.call(probe.bytes, nowMs: clock.now)
      if document.status.family != .misuse {
        accepted.append(environment)
      } else if let place = document.text("error.at"), place != "endpoint" {
        throw Problem("--\(place): see assay serve-verify-receipt --help for its values")
      }
    }
    guard !accepted.isEmpty else {
      throw Problem("environments of the configuration has neither Production nor Sandbox")
    }
    environments = accepted
  }

  private static func request(
    _ environment: String, _ body: [UInt8], _ options: JSONText
  ) -> JSONText {
    options.setting([
      ("operation", "answer-verify-receipt"), ("endpoint", .string(environment)),
      ("body", ["base64": .string(utf8: Base64Text.encode(body))]),
    ])
  }

  func answer(_ request: HTTPRequest) -> (HTTPResponse, MockFault) {
    let environment: String
    switch request.path {
    case "/verifyReceipt", "/production/verifyReceipt": environment = "Production"
    case "/sandbox/verifyReceipt": environment = "Sandbox"
    default: return (.empty(404), MockFault())
    }
    guard environments.contains(environment) else { return (.empty(404), MockFault()) }
    guard request.method == "POST" else {
      return (.json(["status": 21_000]), MockFault())
    }
    let started = FileSystem.now
    let document = answered(request.body, environment)
    log(document, environment, ms: FileSystem.now - started)
    guard let status = document.integer("exchange.answer.httpStatus"),
      let body = document.text("exchange.answer.body")
    else { return (.json(["status": 21_009]), MockFault()) }
    return (
      HTTPResponse(
        status: Int(status), contentType: "application/json", body: Array(body.utf8)),
      MockFault()
    )
  }

  /// Answers from the receipt, and once more if there is newer evidence of its purchases (VRE-23).
  private func answered(_ body: [UInt8], _ environment: String) -> Document {
    let request = VerifyReceiptService.request(environment, body, options).bytes
    let now = clock.now
    guard let evidence else { return verifier.call(request, nowMs: now) }
    // The first answer says which purchases the receipt has, whatever it lacks.
    let first = VerifyReceiptService.request(
      environment, body, options.setting("ended", "expired"))
    let known = verifier.call(first.bytes, nowMs: now)
    guard known.status == .ok else { return known }
    var documents: [Document] = []
    var place = 0
    while documents.count < 64,
      let id = known.text("exchange.answer.originalTransactionIds.\(place)")
    {
      documents += found(in: "\(evidence)/\(environment)/\(id)", now)
      place += 1
    }
    return verifier.call(request, evidence: Array(documents.prefix(64)), nowMs: now)
  }

  /// Returns the newer evidence of one purchase. What does not verify is passed over.
  private func found(in path: String, _ now: Int64) -> [Document] {
    ProofKind.nameList.compactMap { name in
      let file = path + "." + name
      guard FileSystem.exists(file), let kind = try? ProofKind(name),
        let bytes = try? Input.readEvidence(file),
        let document = try? kind.verify(bytes, by: verifier, subject: nil, nowMs: now),
        document.status == .ok
      else { return nil }
      return document
    }
  }

  /// Writes a line of JSON about a request, without receipt, secret and ids (VRE-54).
  private func log(_ document: Document, _ environment: String, ms: Int64) {
    func text(_ path: String) -> JSONText { document.text(path).map { .string($0) } ?? .null }
    let answer = "exchange.answer."
    let line: JSONText = [
      "time": .integer(FileSystem.now), "endpoint": .string(environment),
      "appleStatus": document.integer(answer + "appleStatus").map { .integer($0) } ?? .null,
      "status": .string("\(document.status.name)"), "style": text(answer + "style"),
      "bundleId": text(answer + "bundleId"), "ms": .integer(ms),
    ]
    Terminal.complain(String(decoding: line.bytes, as: UTF8.self))
  }
}

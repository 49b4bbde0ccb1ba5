import AssayAuthority
import AssayCases
import Testing

@testable import Assay

/// Replaces each number that the library reads by hostile ones: every result is a JSON document and
/// no internal fault of the library.
@Suite("Hostile numbers")
struct HostileNumbersTests {
  private let table: CaseTable

  init() throws { table = try Table.made.get() }

  private static let now: Int64 = 1_795_219_200_000
  /// The number of steps of an exchange whose replies are told apart.
  private static let distinctSteps = 8

  /// A number of a JSON text: its range, and its path without indexes.
  private struct Place {
    let range: Range<Int>
    let path: String
  }

  private static func numbers(_ text: [UInt8]) -> [Place] {
    guard let root = try? JSONReader.readValue(text).root else { return [] }
    var found: [Place] = []
    func walk(_ value: JSONValue, _ path: String) {
      if value.kind == .number {
        found.append(Place(range: value.source.startIndex..<value.source.endIndex, path: path))
      }
      for child in value.children { walk(child, path + "." + child.name.string) }
    }
    walk(root, "")
    return found
  }

  private static func putting(_ number: String, _ place: Place, _ text: [UInt8]) -> [UInt8] {
    Array(text[..<place.range.lowerBound]) + Array(number.utf8)
      + Array(text[place.range.upperBound...])
  }

  private func expectSound(_ document: Document, _ what: @autoclosure () -> String) {
    check(document.status.family != .internal, "\(what()): \(document.status.name)")
    let caps = JSONCaps(members: 1 << 20, elements: 1 << 20, values: .max)
    check((try? JSONReader.readObject(document.json, caps: caps)) != nil, "\(what())")
  }

  /// Calls `ask` with every number of the text replaced by each hostile one; skips paths that were
  /// tested before.
  private func replace(
    _ text: [UInt8], _ kind: String, _ seen: inout Set<String>, _ numbers: [String],
    _ ask: ([UInt8]) -> Document?
  ) {
    for place in Self.numbers(text) where seen.insert(kind + place.path).inserted {
      for number in numbers {
        guard let document = ask(Self.putting(number, place, text)) else { continue }
        expectSound(document, "\(kind)\(place.path) \(number)")
      }
    }
  }

  @Test("CNF-1 numbers of a configuration")
  func configurations() {
    var seen: Set<String> = []
    for entry in table.cases {
      guard case .verifierNew(let config) = entry.call, config.bytes.count < 20_000 else {
        continue
      }
      replace(config.bytes, "configuration", &seen, HostileNumbers.json + HostileNumbers.notJSON) {
        Verifier.alone($0).document
      }
    }
    for (_, config) in table.verifiers {
      replace(config.bytes, "configuration", &seen, HostileNumbers.json) {
        Verifier.alone($0).document
      }
    }
    check(seen.count > 40, "\(seen.count)")
  }

  @Test("VRR-15 JWK-1 numbers of answers of verifyReceipt and of key sets")
  func answers() throws {
    var seen: Set<String> = []
    for entry in table.cases {
      switch entry.call {
      case .readVerifyReceiptResponse(let name, let body, let now) where body.bytes.count < 20_000:
        let verifier = try require(Table.verifiers[name])
        replace(
          body.bytes, "answer", &seen, HostileNumbers.json + HostileNumbers.notJSON
        ) { verifier.readVerifyReceiptResponse($0, nowMs: now) }
      case .keysetNew(let jwks) where jwks.bytes.count < 20_000:
        replace(jwks.bytes, "keys", &seen, HostileNumbers.json) { Keyset.make($0).document }
      default: continue
      }
    }
    check(seen.count > 5, "\(seen.count)")
  }

  @Test("EXC-1 EXC-5 numbers of requests, and of what hosts answer")
  func machines() throws {
    var seen: Set<String> = []
    for entry in table.cases {
      switch entry.call {
      case .exchange(let name, let request, let evidence, let now) where evidence.isEmpty:
        let verifier = try require(Table.verifiers[name])
        replace(request.bytes, kind(request.bytes), &seen, HostileNumbers.json) {
          verifier.startExchange($0, evidence: [], nowMs: now).document
        }
      case .transcript(let name, let request, let evidence, let now, let steps)
      where evidence.isEmpty:
        let verifier = try require(Table.verifiers[name])
        let what = kind(request.bytes)
        replace(request.bytes, what, &seen, HostileNumbers.json) {
          verifier.startExchange($0, evidence: [], nowMs: now).document
        }
        for (place, step) in steps.enumerated() where step.answer.bytes.count < 20_000 {
          let after = place + 1 < steps.count ? steps[place + 1].expect : entry.expect
          // The steps of a long run are alike, and each is reached by all those before it.
          let turn = min(place, Self.distinctSteps)
          replace(step.answer.bytes, "\(what) \(turn)", &seen, HostileNumbers.json) { answer in
            let (exchange, _) = verifier.startExchange(request.bytes, evidence: [], nowMs: now)
            for step in steps[..<place] {
              _ = exchange?.step(step.answer.bytes, nowMs: step.now)
            }
            let document = exchange?.step(answer, nowMs: step.now)
            // A misuse changes nothing, and the step is still open (EXC-5).
            if let document, document.status.family == .misuse,
              after.status != "misuse.exchange.order"
            {
              let next = exchange?.step(step.answer.bytes, nowMs: step.now)
              check(next?.status != .misuseExchangeOrder, "\(what) \(place)")
            }
            return document
          }
        }
      default: continue
      }
    }
    check(seen.count > 100, "\(seen.count)")
  }

  private func kind(_ request: [UInt8]) -> String {
    (try? JSONReader.readObject(request).root.member("operation")?.text?.string) ?? "no operation"
  }

  @Test("JWS-103 PAY-6 numbers of signed payloads, and the decision from them")
  func payloads() throws {
    let authority = try Authority(now: Self.now)
    let purchase = Purchase(now: Self.now)
    let config: JSONText = [
      "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]],
      "environments": ["Production", "Sandbox"], "plans": ["free", "premium"],
      "products": [
        "com.example.app.premium.monthly": ["plan": "premium", "type": "auto-renewable"]
      ],
      "storekit": ["anchors": [.string(authority.anchor)]],
    ]
    let verifier = try require(Verifier.alone(config.bytes).verifier)
    var seen: Set<String> = []
    for kind in EvidenceKind.allCases {
      let payload = try authority.payload(kind, purchase).bytes
      let library = kind.library
      replace(payload, kind.rawValue, &seen, HostileNumbers.json) { payload in
        let template = JWSTemplate(payload: payload, chain: authority.chain)
        guard let jws = try? template.signed() else { return nil }
        let document = verifier.verifyJWS(jws, kind: library, nowMs: Self.now)
        if document.status == .ok {
          expectSound(verifier.decide([document], account: nil, nowMs: Self.now), kind.rawValue)
        }
        return document
      }
    }
    check(seen.count > 15, "\(seen.count)")
  }

  @Test("JWS-41 EXC-17 any time as now, any counter, any date of an expiry")
  func calls() throws {
    let numbers = HostileNumbers.integers
    for entry in table.cases {
      guard entry.expect.status == "ok" else { continue }
      switch entry.call {
      case .verifyJWS(let name, let kind, let jws, _):
        let verifier = try require(Table.verifiers[name])
        guard jws.bytes.count < 5000 else { continue }
        for now in numbers {
          expectSound(verifier.verifyJWS(jws.bytes, kind: kind.library, nowMs: now), "now \(now)")
        }
      case .verifyReceipt(let name, let kind, let receipt, let subject, _):
        let verifier = try require(Table.verifiers[name])
        guard receipt.bytes.count < 10_000 else { continue }
        for now in numbers {
          expectSound(
            verifier.verifyReceipt(
              receipt.bytes, kind: kind.library, subject: subject, nowMs: now), "now \(now)")
        }
      case .verifyAssertion(let name, let assertion, let key, _, let kind, let data, let at):
        let verifier = try require(Table.verifiers[name])
        for now in numbers {
          let document = verifier.verifyAssertion(
            assertion.bytes, publicKey: key, counter: UInt32(truncatingIfNeeded: now),
            clientData: ClientDataInput(kind: kind, bytes: data.bytes), nowMs: at)
          expectSound(document, "counter \(now)")
        }
      case .triage(let name, let blob, _):
        let verifier = try require(Table.verifiers[name])
        for now in numbers { expectSound(verifier.triage(blob.bytes, nowMs: now), "now \(now)") }
      default: continue
      }
    }
    for expires in numbers {
      for other in numbers {
        for now in [Self.now, .min, .max] {
          _ = checkExpiry(
            expiresAtMs: expires, gracePeriodMs: other, revokedAtMs: noDate, nowMs: now)
          _ = checkExpiry(
            expiresAtMs: expires, gracePeriodMs: noDate, revokedAtMs: other, nowMs: now)
        }
      }
    }
  }
}

import Assay
import CAssay

@testable import AssayAuthority
@testable import AssayCases

/// The fixture of every target: a test authority whose keys are made at start-up, verifiers of
/// several configurations, and signing.
final class FuzzFixture {
  static let shared = FuzzFixture()

  /// The time of all evidence: 2026-11-21 UTC, in milliseconds since 1970.
  static let instant: Int64 = 1_795_219_200_000

  /// The fixture of the case table, without its cases.
  let cases: CaseFixture
  var authority: Authority { cases.authority }
  /// The verifiers of the case table that differ in what they accept.
  private(set) var verifiers: [(name: String, handle: OpaquePointer)] = []
  /// The header segments over the authority's chain and over Xcode's certificate.
  let storeHeader: [UInt8]
  let xcodeHeader: [UInt8]

  static let names = [
    "standard", "production-only", "sandbox-without-app-id", "root-entry-ignored",
    "environment-from-id", "undated-nested", "nested-omitted", "fresh", "account-required",
    "no-cache", "xcode", "local-testing",
  ]

  private init() {
    do {
      cases = try CaseFixture(now: FuzzFixture.instant)
    } catch {
      fatalError("no test authority: \(error)")
    }
    let authority = cases.authority
    storeHeader = Base64Text.encodeURL(
      JWSTemplate.storeHeader(authority.chain.certificates).bytes)
    xcodeHeader = Base64Text.encodeURL(
      JWSTemplate(
        xcodePayload: [], certificate: authority.xcodeCertificate, key: authority.xcodeKey
      ).header.bytes)
    for name in FuzzFixture.names {
      let config = cases.verifiers.first { $0.name == name }?.config
      verifiers.append((name, FuzzFixture.verifier(config?.bytes ?? [])))
    }
  }

  /// Makes everything, by making the fixture.
  func prepare() { demand(verifiers.count == FuzzFixture.names.count, "verifiers") }

  func verifier(_ name: String) -> OpaquePointer? {
    verifiers.first { $0.name == name }?.handle
  }

  /// Returns the verifier and the kind that the first byte of an input selects.
  func choice(_ selector: UInt8) -> (verifier: Int, kind: Int32) {
    let number = Int(selector)
    return (number / 5 % verifiers.count, Int32(number % 5 + 1))
  }

  static func verifier(_ config: [UInt8]) -> OpaquePointer {
    let (made, answer) = Calls.verifier(config)
    defer { answer.free() }
    guard let made else {
      let said = String(decoding: answer.json, as: UTF8.self)
      fatalError("a verifier of the bench was refused: \(said)")
    }
    return made
  }

  /// Returns a compact JWS over that payload, signed as by the App Store or Xcode.
  func signed(_ payload: [UInt8], asXcode: Bool = false) -> [UInt8] {
    signed(
      asXcode ? xcodeHeader : storeHeader, payload,
      asXcode ? authority.xcodeKey : authority.leafKey)
  }

  func signed(_ headerSegment: [UInt8], _ payload: [UInt8], _ key: SigningKey) -> [UInt8] {
    let input = headerSegment + [0x2e] + Base64Text.encodeURL(payload)
    guard let signature = try? key.signES256(input) else { fatalError("signing failed") }
    return input + [0x2e] + Base64Text.encodeURL(signature)
  }

  /// Calls `assay_verify_jws` and checks the document, which the caller frees.
  func verify(
    _ verifier: OpaquePointer?, _ kind: Int32, _ jws: [UInt8], now: Int64 = FuzzFixture.instant
  ) -> Answer {
    Answer { document in
      jws.asText { assay_verify_jws(verifier, kind, $0, $1, now, document) }
    }
  }
}

/// Replaces control characters by longer texts that no mutation would find: certificates, segments,
/// whole JWS.
func expand(_ bytes: ArraySlice<UInt8>, _ texts: [UInt8: [UInt8]]) -> [UInt8] {
  var out: [UInt8] = []
  out.reserveCapacity(bytes.count)
  for byte in bytes {
    if byte < 0x20, let text = texts[byte] {
      if out.count < 1 << 18 { out += text }
    } else {
      out.append(byte)
    }
  }
  return out
}

/// Reads any bytes as a configuration, in which bytes are replaced by texts. A verifier must exist
/// if and only if the status is ok, and must work.
func configure(
  _ input: [UInt8], _ texts: [UInt8: [UInt8]],
  _ use: (_ verifier: OpaquePointer?, _ config: [UInt8], _ answer: Answer) -> Void
) {
  let config = expand(input[...], texts)
  let (verifier, answer) = Calls.verifier(config)
  use(verifier, config, answer)
  assay_verifier_free(verifier)
  answer.free()
}

/// The choices of an input's first byte: verifier (3 bits), mode (2 bits), route (2 bits), and one
/// further bit.
struct Selector {
  let verifier: (name: String, handle: OpaquePointer)
  let mode: Int
  let route: Route
  let lastBit: Bool

  init(_ byte: UInt8, _ verifiers: [(name: String, handle: OpaquePointer)]) {
    verifier = verifiers[Int(byte & 7)]
    mode = Int(byte >> 3 & 3)
    route = Route(rawValue: Int(byte >> 5 & 3)) ?? .raw
    lastBit = byte & 0x80 != 0
  }
}

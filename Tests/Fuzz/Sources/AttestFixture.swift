import CAssay
import CReference

@testable import AssayAuthority
@testable import AssayCases

/// The fixture of the targets for App Attest: an authority of their own, a device, verifiers that
/// accept both, and the calls.
final class AttestFixture {
  static let shared = AttestFixture()

  let authority: AttestAuthority
  let device: AttestedDevice
  private(set) var verifiers: [(name: String, handle: OpaquePointer)] = []

  /// Client data in which every path of a challenge finds it.
  static let clientData = Array("{\"challenge\":\"AAECAwQFBgcICQoLDA0ODw\",\"n\":1}".utf8)
  static let clientHash = AttestDigest.sha256(clientData)
  static let madeMs = FuzzFixture.instant - 60_000

  private init() {
    let cases = FuzzFixture.shared.cases
    authority = cases.attest
    device = cases.device
    for (name, config) in configurations {
      verifiers.append((name, FuzzFixture.verifier(config.bytes)))
    }
  }

  /// The configurations, which differ in what they accept. An input selects one of the first eight.
  private var configurations: [(name: String, config: JSONText)] {
    let standard = FuzzFixture.shared.cases.standardConfig
    func changed(_ name: String, _ changes: [(String, JSONText)]) -> (String, JSONText) {
      (name, standard.setting(changes))
    }
    return [
      ("standard", standard),
      changed("stored", [("attest.time", "stored")]),
      changed(
        "strict",
        [
          ("attest.environments", ["production"]),
          ("attest.category", ["accept": [4], "missing": "refuse"]),
          ("attest.bundleVersion", ["minimum": "1000.2"]),
        ]),
      changed("ignore", [("attest.receipt", "ignore")]),
      changed("no-cache", [("storekit.cache", ["chains": 0])]),
      changed("whole", [("attest.challenge", ["mode": "whole"])]),
      changed(
        "json",
        [
          (
            "attest.challenge",
            ["mode": "json", "path": "challenge", "encoding": "base64url"]
          )
        ]),
      changed("mac", [("attest.platform", "macos")]),
    ]
  }

  func verifier(_ name: String) -> OpaquePointer? {
    verifiers.first { $0.name == name }?.handle
  }

  // MARK: calls

  static let receiptKind = Int32(ASSAY_RECEIPT_ATTEST)
  static let data = Int32(ASSAY_CLIENT_DATA)
  static let hash = Int32(ASSAY_CLIENT_DATA_HASH)

  /// Calls `assay_verify_attestation`; the caller frees the document.
  func verifyAttestation(
    _ verifier: OpaquePointer?, _ object: [UInt8], keyId: [UInt8], kind: Int32 = data,
    clientData: [UInt8] = clientData, now: Int64 = FuzzFixture.instant
  ) -> Answer {
    Answer { document in
      object.withUnsafeBytes { object in
        keyId.withUnsafeBytes { key in
          clientData.withUnsafeBytes { data in
            assay_verify_attestation(
              verifier, object.baseAddress, object.count, key.baseAddress, key.count, kind,
              data.baseAddress, data.count, now, document)
          }
        }
      }
    }
  }

  func verifyAssertion(
    _ verifier: OpaquePointer?, _ object: [UInt8], key: [UInt8], counter: UInt32 = 0,
    kind: Int32 = data, clientData: [UInt8] = clientData, now: Int64 = FuzzFixture.instant
  ) -> Answer {
    Answer { document in
      object.withUnsafeBytes { object in
        key.withUnsafeBytes { key in
          clientData.withUnsafeBytes { data in
            assay_verify_assertion(
              verifier, object.baseAddress, object.count, key.baseAddress, key.count, counter,
              kind, data.baseAddress, data.count, now, document)
          }
        }
      }
    }
  }

  /// Starts an exchange that must be done at once.
  func exchange(
    _ verifier: OpaquePointer?, _ request: [UInt8], evidence: [OpaquePointer?] = []
  ) -> Answer {
    let (exchange, answer) = Calls.begin(verifier, request, evidence: evidence)
    demand(
      (exchange != nil) == (answer.status & 0xff == 9),
      "an exchange that is done is still open")
    assay_exchange_free(exchange)
    return answer
  }

  // MARK: minted evidence

  func attestation(_ change: (inout AttestationTemplate) throws -> Void = { _ in }) -> [UInt8] {
    do {
      var template = try authority.attestation(
        of: device, clientDataHash: AttestFixture.clientHash, madeMs: AttestFixture.madeMs)
      try change(&template)
      return try template.signed()
    } catch { fatalError("no attestation: \(error)") }
  }

  /// Returns an assertion over any authenticator data and client data.
  func assertion(over data: [UInt8], _ clientData: [UInt8] = clientData) -> [UInt8] {
    let nonce = AttestDigest.sha256(data + AttestDigest.sha256(clientData))
    guard let signature = try? device.key.sign(nonce, .sha256) else { fatalError("not signed") }
    return AttestFixture.assertion(signature, data)
  }

  static func assertion(_ signature: [UInt8], _ data: [UInt8]) -> [UInt8] {
    CBORText.map([
      .init("signature", .bytes(signature)), .init("authenticatorData", .bytes(data)),
    ]).encoded
  }
}

extension Answer {
  /// Requires good evidence to be accepted, without which a target could find nothing.
  func demandAccepted() {
    demand(isOK, "good evidence is refused: \(text("status.name") ?? "")")
    free()
  }
}

/// CBOR as the second reader decodes it; `nil` if it does not.
struct OtherCBOR {
  let bytes: [UInt8]
  let items: [reference_cbor_item]

  init?(_ bytes: [UInt8]) {
    self.bytes = bytes
    var found = [reference_cbor_item](
      repeating: reference_cbor_item(), count: Int(REFERENCE_CBOR_ITEMS))
    let count = reference_cbor(bytes, bytes.count, &found)
    guard count > 0 else { return nil }
    items = Array(found.prefix(count))
  }

  func slice(_ item: reference_cbor_item) -> [UInt8] { Array(bytes[item.content..<item.end]) }

  /// Returns the items directly inside an item.
  func children(_ place: Int) -> [Int] {
    var found: [Int] = []
    var at = place + 1
    while at < items.count, items[at].start < items[place].end {
      found.append(at)
      let end = items[at].end
      repeat { at += 1 } while at < items.count && items[at].start < end
    }
    return found
  }

  /// Returns the pairs of a map: texts of their keys, and values.
  func pairs(_ place: Int) -> [(key: Int, value: Int)] {
    let inside = children(place)
    return stride(from: 0, to: inside.count - 1, by: 2).map { (inside[$0], inside[$0 + 1]) }
  }

  /// Returns the value under a name in a map.
  func value(_ name: String, in place: Int = 0) -> Int? {
    pairs(place).first { items[$0.key].major == 3 && slice(items[$0.key]) == Array(name.utf8) }?
      .value
  }

  func string(_ name: String, in place: Int = 0) -> [UInt8]? {
    value(name, in: place).map { slice(items[$0]) }
  }
}

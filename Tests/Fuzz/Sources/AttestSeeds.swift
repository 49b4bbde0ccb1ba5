@testable import Assay
@testable import AssayAuthority

/// Inputs from which the corpora of App Attest and exchanges grow. Every one is
/// minted.
extension Seeds {
  static func writeAttest() {
    writeAttestations()
    writeAssertions()
    writeAttestReceipts()
    for request in ExchangeTargets.requests {
      add("exchange", [0] + Array(request.utf8))
      add("exchange", [2] + Array(request.utf8))
    }
  }

  // MARK: from the case table

  static func writeAttestation(_ object: [UInt8]) {
    add(
      "attestation",
      [Selector.byte(mode: 0)] + ReceiptBench.marked(object, AttestTargets.pieces))
    add("cbor", Array(object.prefix(512)))
    guard let data = OtherCBOR(object)?.string("authData") else { return }
    writeAttested(data)
  }

  static func writeAssertion(_ object: [UInt8]) {
    add(
      "assertion",
      [Selector.byte(mode: 0)] + ReceiptBench.marked(object, AttestTargets.assertionPieces))
    add("cbor", Array(object.prefix(512)))
    guard let data = OtherCBOR(object)?.string("authenticatorData") else { return }
    add(
      "assertion",
      [Selector.byte(mode: 1)] + ReceiptBench.marked(data, AttestTargets.assertionPieces))
    add("auth-data", [1] + data)
    if data.count > 37 { add("cbor", Array(data[37...])) }
  }

  static func writeAttestReceipt(_ receipt: [UInt8]) {
    let pieces = AttestReceiptTargets.pieces
    let bytes = OtherTransport.base64(receipt) ?? receipt
    add("attest-receipt", [Selector.byte(mode: 2)] + ReceiptBench.marked(bytes, pieces))
    guard let content = OtherMessage(bytes)?.payload else { return }
    add("attest-receipt", [Selector.byte(mode: 0)] + ReceiptBench.marked(content, pieces))
  }

  private static func writeAttested(_ data: [UInt8]) {
    add(
      "attestation",
      [Selector.byte(mode: 1)] + ReceiptBench.marked(data, AttestTargets.pieces))
    add("auth-data", [0] + data)
    if data.count > 164 { add("cbor", Array(data[164...])) }
  }

  // MARK: minted here

  private static func writeAttestations() {
    for parts in AttestTargets.good {
      writeAttestation(parts.whole)
      for verifier in 0..<8 {
        for route in Route.allCases {
          add(
            "attestation",
            [Selector.byte(verifier, mode: 0, route: route)]
              + ReceiptBench.marked(parts.whole, AttestTargets.pieces))
        }
        add(
          "attestation",
          [Selector.byte(verifier, mode: 1)]
            + ReceiptBench.marked(parts.authData, AttestTargets.pieces))
        let data = AttestBench.clientData
        for form in clientDataForms(data) {
          add("attestation", [Selector.byte(verifier, mode: 2)] + form)
          add("assertion", [Selector.byte(verifier, mode: 3)] + form)
        }
        for seed in HostileNames.seeds {
          add("assertion", [Selector.byte(verifier, mode: 3, lastBit: true), 1] + seed)
        }
      }
    }
    let device = AttestBench.shared.device
    let facts = [
      AttestLeafExtensions.keyFacts(appId: device.appId),
      AttestLeafExtensions.systemFacts(device.system), AttestLeafExtensions.systemFacts(.macOS),
    ]
    for (number, fact) in facts.enumerated() {
      add(
        "attestation", [Selector.byte(mode: 3, lastBit: number == 0)] + fact.value)
    }
  }

  /// Kind and client data: the right ones, and the mistakes of DIA-1.
  private static func clientDataForms(_ data: [UInt8]) -> [[UInt8]] {
    let hash = AttestDigest.sha256(data)
    return [
      [1] + data, [2] + hash, [1] + hash, [2] + AttestDigest.sha256(hash),
      [1] + Base64Text.encode(data), [1] + Base64Text.encodeURL(data),
      [1] + Array(AttestDigest.hex(data).utf8), [1] + data + [0x0a], [0] + data,
      [3] + data, [2] + Array(hash.prefix(20)),
    ]
  }

  private static func writeAssertions() {
    for parts in AttestTargets.goodAssertions {
      writeAssertion(parts.whole)
      for verifier in 0..<8 {
        for isLast in [false, true] {
          add(
            "assertion",
            [Selector.byte(verifier, mode: 0, route: .base64, lastBit: isLast)]
              + ReceiptBench.marked(parts.whole, AttestTargets.assertionPieces))
        }
        add(
          "assertion",
          [Selector.byte(verifier, mode: 2)]
            + ReceiptBench.marked(parts.signature, AttestTargets.assertionPieces))
      }
      add("assertion", [Selector.byte(mode: 2)] + parts.signature)
    }
  }

  private static func writeAttestReceipts() {
    let pieces = AttestReceiptTargets.pieces
    for (receipt, content) in zip(AttestReceiptTargets.good, AttestReceiptTargets.contents) {
      writeAttestReceipt(receipt)
      for mode in 0..<4 {
        let rest = mode == 2 ? receipt : content
        for route in Route.allCases {
          for isLast in [false, true] {
            add(
              "attest-receipt",
              [Selector.byte(mode: mode, route: route, lastBit: isLast)]
                + ReceiptBench.marked(rest, pieces))
          }
        }
      }
    }
  }
}

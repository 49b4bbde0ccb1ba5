import CAssay

@testable import AssayAuthority
@testable import AssayCases

/// The fixture of the targets for receipts: an RSA authority of their own, verifiers that accept
/// it, and the calls.
final class ReceiptFixture {
  static let shared = ReceiptFixture()

  let authority: ReceiptAuthority
  private(set) var verifiers: [(name: String, handle: OpaquePointer)] = []
  let purchase = Purchase(now: FuzzFixture.instant)

  /// The purchase in the years of version 2 receipts.
  var oldPurchase: Purchase { purchase.moved(by: 1_400_000_000_000 - FuzzFixture.instant) }

  var production: Purchase {
    purchase.with {
      $0.environment = "Production"
      $0.transactionId = "180000900000001"
      $0.originalTransactionId = "180000900000001"
      $0.webOrderLineItemId = "180000090000001"
    }
  }

  private init() {
    authority = FuzzFixture.shared.cases.receipts
    for (name, config) in configurations {
      verifiers.append((name, FuzzFixture.verifier(config.bytes)))
    }
  }

  /// The configurations, which differ in what they accept. `fresh` does not cache.
  private var configurations: [(name: String, config: JSONText)] {
    let standard = FuzzFixture.shared.cases.standardConfig
      .setting("receipts", authority.configuration)
    let environments: JSONText = ["Xcode", "Sandbox"]
    return [
      ("standard", standard),
      ("production-only", standard.setting("environments", ["Production"])),
      (
        "lenient",
        standard.setting([
          ("receipts.unknownEnvironment", "allow"), ("receipts.deviceIds", "report"),
        ])
      ),
      (
        "strict",
        standard.setting([
          ("receipts.version2", "refuse"), ("receipts.signedAfterPurchase", "refuse"),
        ])
      ),
      (
        "fresh",
        standard.setting([
          ("receipts.maxAgeMs", 2_592_000_000), ("storekit.cache", ["chains": 0]),
        ])
      ),
      ("no-cache", standard.setting("storekit.cache", ["chains": 0])),
      (
        "xcode",
        standard.setting([
          ("environments", environments),
          ("storekit.xcodeCertificates", [.string(authority.xcodeFingerprint)]),
        ])
      ),
      (
        "small",
        standard.setting(
          "receipts.caps",
          [
            "inputBytes": 8192, "transactionReceiptBytes": 3072, "purchaseInfoBytes": 1024,
            "appReceiptBytes": 6144, "purchases": 2,
          ])
      ),
    ]
  }

  func verifier(_ name: String) -> OpaquePointer? {
    verifiers.first { $0.name == name }?.handle
  }

  // MARK: calls

  static let transactionKind = Int32(ASSAY_RECEIPT_TRANSACTION)
  static let appKind = Int32(ASSAY_RECEIPT_APP)

  /// Calls `assay_verify_receipt`; the caller frees the document.
  func verify(
    _ verifier: OpaquePointer?, _ kind: Int32, _ receipt: [UInt8], subject: [UInt8]? = nil,
    now: Int64 = FuzzFixture.instant
  ) -> Answer {
    Answer { document in
      (subject ?? []).asText { device, length in
        receipt.asText {
          assay_verify_receipt(
            verifier, kind, $0, $1, subject == nil ? nil : device, length, now, document)
        }
      }
    }
  }

  func triage(_ verifier: OpaquePointer?, _ blob: [UInt8]) -> Answer {
    let answer = Answer { document in
      blob.asText { assay_triage(verifier, $0, $1, FuzzFixture.instant, document) }
    }
    demand(!answer.isOK, "triage accepted something")
    return answer
  }

  func read(_ verifier: OpaquePointer?, answer body: [UInt8]) -> Answer {
    Answer { document in
      body.asText {
        assay_read_verify_receipt_response(verifier, $0, $1, FuzzFixture.instant, document)
      }
    }
  }

  // MARK: pieces

  /// The byte that, followed by a piece's number, is replaced by the piece.
  static let mark: UInt8 = 0xff

  /// Returns the bytes with the pieces inserted; 0xFF twice gives one 0xFF.
  static func assemble(_ bytes: ArraySlice<UInt8>, _ pieces: [[UInt8]]) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var isMarked = false
    for byte in bytes {
      if isMarked {
        isMarked = false
        if Int(byte) < pieces.count {
          if out.count < 1 << 18 { out += pieces[Int(byte)] }
        } else {
          out.append(byte)
        }
      } else if byte == mark {
        isMarked = true
      } else {
        out.append(byte)
      }
    }
    return out
  }
}

/// The encodings of an input, selected by two bits.
enum Route: Int {
  case raw, base64, doubled, wrapped

  func carry(_ bytes: [UInt8]) -> [UInt8] {
    switch self {
    case .raw: TransportForm.raw.encode(bytes)
    case .base64: TransportForm.base64.encode(bytes)
    case .doubled: TransportForm.doubled.encode(bytes)
    case .wrapped: TransportForm.wrapped.encode(bytes)
    }
  }
}

import Testing

@testable import Assay

/// JWS-5: the length of a signature.
@Suite("Compact JWS")
struct CompactJWSTests {
  /// Status and place of a refusal of the form; nil: there is none.
  private func form(_ text: String) -> String? {
    do throws(Refusal) {
      _ = try CompactJWS(utf8(text)).decodedSignature()
      return nil
    } catch {
      return "\(error.status.name) \(error.place)"
    }
  }

  private static let signature = String(repeating: "A", count: 86)

  @Test("JWS-5 86 characters of signature, judged before their spelling")
  func signatureLengths() {
    for count in [1, 2, 84, 85, 87, 88, 96, 128] {
      #expect(
        form("e30.e30." + String(repeating: "A", count: count))
          == "malformed.jws.signature-length signature")
    }
    #expect(
      form("e30.e30." + String(repeating: "A", count: 85) + "B")
        == "malformed.jws.base64 signature")
  }
}

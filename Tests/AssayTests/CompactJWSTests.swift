import AssayAuthority
import Testing

@testable import Assay

/// Tests the form of the text and of its header beyond the case table (JWS-2, JWS-11, JWS-14).
@Suite("Compact JWS")
struct CompactJWSTests {
  /// Returns the status and location of a refusal of the form; `nil` if there is none.
  private func form(_ text: String) -> String? {
    do throws(Refusal) {
      _ = try CompactJWS(utf8(text)).decodedSignature()
      return nil
    } catch {
      return "\(error.status.name) \(error.place)"
    }
  }

  private static let signature = String(repeating: "A", count: 86)

  @Test("JWS-2 two dots, three segments, base64url characters and nothing else")
  func segments() {
    let good = Self.signature
    check(form("e30.e30.\(good)") == nil)
    for (text, place) in [
      ("", "byte 0"), ("e30", "byte 3"), ("e30.e30", "byte 3"), (".e30.\(good)", "header"),
      ("e30..\(good)", "payload"), ("e30.e30.", "signature"), ("..", "header"),
      (" e30.e30.\(good)", "byte 0"), ("e30.e30.\(good)\n", "byte 94"),
      ("e3=.e30.\(good)", "byte 2"),
      ("e3+.e30.\(good)", "byte 2"), ("e3/.e30.\(good)", "byte 2"), ("{\"a\":1}", "byte 0"),
      ("e30.e\u{e9}0.\(good)", "byte 5"),
    ] {
      checkEqual(form(text), "malformed.jws.form \(place)", "\(text.prefix(12))")
    }
    checkEqual(form("e30.e30.\(good).x")?.hasPrefix("malformed.jws.form"), true)
    checkEqual(form("e30.e30.\(good).")?.hasPrefix("malformed.jws.form"), true)
  }

  @Test("JWS-5 86 characters of signature, judged before their spelling")
  func signatureLengths() {
    for count in [1, 2, 84, 85, 87, 88, 96, 128] {
      checkEqual(
        form("e30.e30." + String(repeating: "A", count: count)),
        "malformed.jws.signature-length signature")
    }
    checkEqual(
      form("e30.e30." + String(repeating: "A", count: 85) + "B"), "malformed.jws.base64 signature")
  }

  private func header(_ header: JSONText) -> String? {
    let text = Base64Text.encodeURL(header.bytes) + utf8(".e30.")
    do throws(Refusal) {
      _ = try JWSHeader(CompactJWS(text))
      return nil
    } catch {
      return "\(error.status.name) \(error.place)"
    }
  }

  @Test(
    "JWS-11 members that could steer a verification, with an escaped name",
    arguments: ["crit", "b64", "zip", "enc", "jwk", "jku", "x5u"])
  func forbidden(name: String) {
    check(header(["alg": "ES256", "x5c": []]) == nil)
    let escaped = name.utf8.map { "\\u00" + String($0, radix: 16) }.joined()
    checkEqual(
      header(.text("{\"alg\":\"ES256\",\"x5c\":[],\"\(escaped)\":1}")),
      "rejected.jws.header-member header.\(name)")
  }

  @Test("JWS-14 entries of 8,192 characters are read, longer ones are not")
  func entries() throws {
    let trust = try Minted.trust()
    let good = try Minted.authority().chain.certificates.map { Base64.encodeStandard($0) }
    func open(_ entries: [[UInt8]]) -> String? {
      do throws(Refusal) {
        _ = try HeaderChain(
          entries.map { Text($0) }, trust.chains.anchors, rootIsSought: false)
        return nil
      } catch {
        return "\(error.status.name) \(error.place)"
      }
    }
    check(open(good) == nil)
    let long = [UInt8](repeating: 0x41, count: 8192)
    for index in 0..<3 {
      var entries = good
      entries[index] = long
      checkEqual(open(entries), (index == 2 ? "rejected.chain.untrusted-root x5c[2]" : nil))
      entries[index] = long + utf8("AAAA")
      checkEqual(open(entries), "too-large.chain.certificate x5c[\(index)]")
    }
  }
}

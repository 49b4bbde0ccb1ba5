import AssayAuthority
import Testing

@testable import Assay

/// JWS-1 … JWS-5 and JWS-10 … JWS-14: the form of the text and of its header.
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

  @Test("JWS-2 two dots, three segments, base64url characters and nothing else")
  func segments() {
    let good = Self.signature
    #expect(form("e30.e30.\(good)") == nil)
    for (text, place) in [
      ("", "byte 0"), ("e30", "byte 3"), ("e30.e30", "byte 3"), (".e30.\(good)", "header"),
      ("e30..\(good)", "payload"), ("e30.e30.", "signature"), ("..", "header"),
      (" e30.e30.\(good)", "byte 0"), ("e30.e30.\(good)\n", "byte 94"),
      ("e3=.e30.\(good)", "byte 2"),
      ("e3+.e30.\(good)", "byte 2"), ("e3/.e30.\(good)", "byte 2"), ("{\"a\":1}", "byte 0"),
      ("e30.e\u{e9}0.\(good)", "byte 5"),
    ] {
      #expect(form(text) == "malformed.jws.form \(place)", "\(text.prefix(12))")
    }
    #expect(form("e30.e30.\(good).x")?.hasPrefix("malformed.jws.form") == true)
    #expect(form("e30.e30.\(good).")?.hasPrefix("malformed.jws.form") == true)
  }

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

  private func header(_ header: JSONText) -> String? {
    let text = Base64Text.encodeURL(header.bytes) + utf8(".e30.")
    do throws(Refusal) {
      _ = try JWSHeader(CompactJWS(text))
      return nil
    } catch {
      return "\(error.status.name) \(error.place)"
    }
  }

  @Test("JWS-3 a header of 16,384 characters is read, a longer one is not")
  func headerLength() throws {
    func padded(_ count: Int) -> String? {
      // Spaces inside the object fill it up.
      let bytes = utf8("{\"alg\":\"ES256\",\"x5c\":[]")
      let whole = bytes + [UInt8](repeating: 0x20, count: count - bytes.count - 1) + utf8("}")
      return header(.raw(whole))
    }
    #expect(padded(12_288) == nil)
    #expect(padded(12_289) == "too-large.jws.header header")
  }

  @Test("JWS-10 alg is ES256, byte for byte")
  func algorithm() {
    #expect(header(["alg": "ES256", "x5c": []]) == nil)
    for value in [1, .null, true, ["ES256"], [:]] as [JSONText] {
      #expect(header(["alg": value, "x5c": []]) == "malformed.jws.alg header.alg")
    }
    #expect(header(["x5c": []]) == "malformed.jws.alg header.alg")
    for value in ["none", "es256", "ES384", "HS256", "RS256", "", "ES256 ", "ES256K"] {
      #expect(
        header(["alg": .string(value), "x5c": []]) == "rejected.jws.algorithm header.alg",
        "\(value)")
    }
  }

  @Test(
    "JWS-11 members that could steer a verification, with any value",
    arguments: ["crit", "b64", "zip", "enc", "jwk", "jku", "x5u"])
  func forbidden(name: String) {
    for value in [.null, true, false, "", [], [:], 0] as [JSONText] {
      #expect(
        header(["alg": "ES256", "x5c": [], name: value])
          == "rejected.jws.header-member header.\(name)")
    }
    let escaped = name.utf8.map { "\\u00" + String($0, radix: 16) }.joined()
    #expect(
      header(.text("{\"alg\":\"ES256\",\"x5c\":[],\"\(escaped)\":1}"))
        == "rejected.jws.header-member header.\(name)")
  }

  @Test("JWS-12 other members are ignored, whatever they hold")
  func ignored() {
    for name in ["kid", "typ", "cty", "x5t", "x5t#S256", "Crit", "new"] {
      for value in [.null, 1, "x", [], ["a": 1]] as [JSONText] {
        #expect(header(["alg": "ES256", "x5c": [], name: value]) == nil, "\(name)")
      }
    }
  }

  @Test("JWS-13 x5c is an array of strings")
  func chains() {
    for value in [.null, "x", 1, [:], true] as [JSONText] {
      #expect(header(["alg": "ES256", "x5c": value]) == "malformed.jws.x5c header.x5c")
    }
    #expect(header(["alg": "ES256"]) == "malformed.jws.x5c header.x5c")
    for value in [.null, 1, [], [:]] as [JSONText] {
      #expect(header(["alg": "ES256", "x5c": ["a", value]]) == "malformed.jws.x5c x5c[1]")
    }
  }

  @Test("JWS-13 JWS-14 three entries of canonical base64, each at most 8,192 characters")
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
    #expect(open(good) == nil)
    for count in [0, 1, 2, 4, 5] {
      let entries = (0..<count).map { good[$0 % 3] }
      #expect(open(entries) == "rejected.chain.length x5c")
    }
    for index in 0..<3 {
      func changed(_ change: ([UInt8]) -> [UInt8]) -> [[UInt8]] {
        var entries = good
        entries[index] = change(good[index])
        return entries
      }
      for change in [
        { $0 + utf8("=") }, { utf8(" ") + $0 }, { $0 + utf8("\n") }, { $0.dropLast() },
        { $0 + utf8("-_-_") },
      ] as [([UInt8]) -> [UInt8]] {
        #expect(open(changed(change)) == "malformed.chain.base64 x5c[\(index)]")
      }
      let long = [UInt8](repeating: 0x41, count: 8192)
      #expect(
        open(changed { _ in long }) == (index == 2 ? "rejected.chain.untrusted-root x5c[2]" : nil))
      #expect(
        open(changed { _ in long + utf8("AAAA") }) == "too-large.chain.certificate x5c[\(index)]")
    }
  }

  @Test("JWS-1 the longest text that is looked at is configured")
  func length() throws {
    for cap in [8192, 65_536, 262_144] {
      let verifier = try Minted.verifier([("storekit.caps", ["jwsBytes": .integer(Int64(cap))])])
      #expect(verifier.jwsByteCap == cap)
      func status(_ count: Int) -> String {
        verifier.verifyJWS(
          [UInt8](repeating: 0x41, count: count), kind: .transaction, nowMs: Minted.now
        ).name
      }
      #expect(status(cap) == "malformed.jws.form")
      #expect(status(cap + 1) == "too-large.jws.input")
    }
  }
}

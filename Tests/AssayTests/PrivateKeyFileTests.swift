import AssayAuthority
import Testing

@testable import Assay

/// Changes every part of the `.p8` file in turn (DVC-1, DVC-2).
@Suite("Private key files")
struct PrivateKeyFileTests {
  private typealias Writer = AssayAuthority.DER

  private let scalar: [UInt8]
  private let point: [UInt8]

  init() throws {
    let key = try SigningKey.generate(.p256)
    point = try key.publicKey()
    let body = String(decoding: try key.pem(), as: UTF8.self)
      .split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
    let der = try require(Base64.decodeStandard(utf8(body)[...]))
    // 30 81 87 02 01 00 30 13 … 04 6d 30 6b 02 01 01 04 20 and the scalar.
    scalar = Array(der[36..<68])
  }

  private func oid(_ text: String) -> [UInt8] { Writer.oid(text) }

  private func algorithm(_ curve: String = "1.2.840.10045.3.1.7") -> [UInt8] {
    Writer.sequence(oid("1.2.840.10045.2.1"), oid(curve))
  }

  private func tagged(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0xa0 | number, UInt8(content.count)] + content
  }

  private func ecKey(
    version: [UInt8] = [1], scalar: [UInt8]? = nil, more: [[UInt8]] = []
  ) -> [UInt8] {
    Writer.sequence(
      Writer.unsigned(version), Writer.octetString(scalar ?? self.scalar), more.flatMap { $0 })
  }

  private func file(
    version: [UInt8] = [0], algorithm: [UInt8]? = nil, key: [UInt8], tail: [UInt8] = []
  ) -> [UInt8] {
    let version = version == [0] ? [2, 1, 0] : Writer.unsigned(version)
    let der =
      Writer.sequence(version, algorithm ?? self.algorithm(), Writer.octetString(key)) + tail
    return pem(der)
  }

  private func pem(_ der: [UInt8], lineEnd: String = "\n") -> [UInt8] {
    let digits = String(decoding: Base64.encodeStandard(der), as: UTF8.self)
    var lines = ["-----BEGIN PRIVATE KEY-----"]
    var rest = Substring(digits)
    while !rest.isEmpty {
      lines.append(String(rest.prefix(64)))
      rest = rest.dropFirst(64)
    }
    return utf8((lines + ["-----END PRIVATE KEY-----", ""]).joined(separator: lineEnd))
  }

  private func isGood(_ pem: [UInt8]) -> Bool { PrivateKeyFile.read(pem) != nil }

  private var publicPart: [UInt8] { tagged(1, Writer.bitString(point)) }

  @Test("DVC-2 with and without curve and public key inside, in every line end")
  func good() {
    check(isGood(file(key: ecKey())))
    check(isGood(file(key: ecKey(more: [publicPart]))))
    let curve = tagged(0, oid("1.2.840.10045.3.1.7"))
    check(isGood(file(key: ecKey(more: [curve]))))
    check(isGood(file(key: ecKey(more: [curve, publicPart]))))
    let text = file(key: ecKey())
    check(isGood(utf8(" \n") + text + utf8("\r\n ")))
    let crlf = String(decoding: text, as: UTF8.self).replacing("\n", with: "\r\n")
    check(isGood(utf8(crlf)))
    check(isGood(text.filter { $0 != 0x0a }))
  }

  @Test("DVC-2 what is not of that form")
  func bad() {
    let good = ecKey()
    check(!isGood(file(version: [1], key: good)))
    check(!isGood(file(algorithm: algorithm("1.3.132.0.34"), key: good)))
    check(!isGood(file(key: good, tail: [5, 0])))
    check(!isGood(file(key: good + [5, 0])))
    check(!isGood(file(key: ecKey(version: [2]))))
    check(!isGood(file(key: ecKey(scalar: Array(scalar.dropLast())))))
    check(!isGood(file(key: ecKey(scalar: [0] + scalar))))
    check(!isGood(file(key: ecKey(more: [tagged(0, oid("1.3.132.0.34"))]))))
    check(!isGood(file(key: ecKey(more: [publicPart, [5, 0]]))))
    check(!isGood(file(key: ecKey(more: [[5, 0]]))))
    check(!isGood(file(key: ecKey(more: [tagged(1, Writer.bitString(point) + [5, 0])]))))
    check(!isGood(file(key: ecKey(more: [tagged(1, [3, 2, 1, 4])]))))
    check(isGood(file(key: ecKey(more: [tagged(1, [3, 66, 0] + point)]))))
    check(!isGood(file(key: ecKey(more: [tagged(1, [3, 66, 1] + point)]))))
    let text = String(decoding: file(key: good), as: UTF8.self)
    check(!isGood(utf8(text.replacing("-----BEGIN", with: "----BEGIN"))))
    check(!isGood(utf8(text.replacing("-----END", with: "----END"))))
    check(!isGood(utf8(text.replacing("\n", with: "\\n"))))
    check(!isGood(utf8(text) + [UInt8](repeating: 0x0a, count: 8192)))
    check(!isGood([]))
  }

  @Test("DVC-2 a file in good form around no key is refused where it is configured")
  func configured() throws {
    let zero = file(key: ecKey(scalar: [UInt8](repeating: 0, count: 32)))
    let block = try Exchanges.deviceCheck().setting("privateKey", .string(utf8: zero))
    let document = Verifier.alone(try Minted.config([("deviceCheck", block)]).bytes).document
    Exchanges.expect(document, "config.device-check.key", at: "deviceCheck.privateKey")
  }

  @Test("DVC-2 libcrypto is asked whether it is a key")
  func numbers() {
    check(!isGood(file(key: ecKey(scalar: [UInt8](repeating: 0, count: 32)))))
    check(!isGood(file(key: ecKey(scalar: Curve.p256.order))))
    var below = Curve.p256.order
    below[31] -= 1
    check(isGood(file(key: ecKey(scalar: below))))
    // The public key of another scalar, and bytes that are no point.
    check(!isGood(file(key: ecKey(scalar: below, more: [publicPart]))))
    var off = point
    off[64] ^= 1
    check(!isGood(file(key: ecKey(more: [tagged(1, Writer.bitString(off))]))))
    // Compressed; and the hybrid form, which RFC 5480 forbids.
    let sign = point[64] & 1
    func part(_ first: UInt8, _ rest: ArraySlice<UInt8>) -> [UInt8] {
      file(key: ecKey(more: [tagged(1, Writer.bitString([first] + rest))]))
    }
    check(isGood(part(2 + sign, point[1..<33])))
    check(!isGood(part(3 - sign, point[1..<33])))
    check(!isGood(part(6 + sign, point[1...])))
  }
}

import Testing

@testable import Assay

/// Tests single DER values: each form that only BER allows is beside its DER form (JWS-21).
@Suite("DER")
struct DERTests {
  @Test(
    "JWS-21 canonical values",
    arguments: [
      [0x05, 0x00], [0x30, 0x00], [0x31, 0x00], [0x02, 0x01, 0x00], [0x02, 0x01, 0x7f],
      [0x02, 0x02, 0x00, 0x80], [0x02, 0x01, 0x80], [0x02, 0x02, 0xff, 0x7f], [0x01, 0x01, 0x00],
      [0x01, 0x01, 0xff], [0x03, 0x01, 0x00], [0x03, 0x02, 0x00, 0x01], [0x03, 0x02, 0x07, 0x80],
      [0x03, 0x02, 0x04, 0xf0], [0x04, 0x00], [0x06, 0x01, 0x2a], [0x06, 0x03, 0x55, 0x1d, 0x13],
      [0x06, 0x02, 0x81, 0x00], [0x0c, 0x02, 0xc3, 0xa9], [0x80, 0x00],
      [0xa0, 0x03, 0x02, 0x01, 0x02],
      [0x31, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x02],
      [0x31, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01],
      [0x0a, 0x01, 0x00], [0x30, 0x04, 0x30, 0x02, 0x05, 0x00],
    ] as [[UInt8]])
  func canonical(bytes: [UInt8]) {
    check(DER.isCanonical(bytes))
    for end in 0..<bytes.count { check(!DER.isCanonical(Array(bytes[..<end]))) }
    check(!DER.isCanonical(bytes + [0]))
    check(!DER.isCanonical(bytes + bytes))
  }

  @Test(
    "JWS-21 what DER forbids",
    arguments: [
      [], [0x30], [0x30, 0x80, 0x00, 0x00], [0x30, 0x81, 0x00], [0x04, 0x81, 0x01, 0x00],
      [0x04, 0x82, 0x00, 0x01, 0x00], [0x04, 0xff], [0x04, 0x84, 0x00, 0x00, 0x00, 0x01, 0x00],
      [0x04, 0x85, 0xff, 0xff, 0xff, 0xff, 0xff],
      [0x04, 0x88, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
      [0x02, 0x00], [0x02, 0x02, 0x00, 0x7f], [0x02, 0x02, 0xff, 0x80], [0x01, 0x00],
      [0x01, 0x01, 0x01],
      [0x01, 0x02, 0xff, 0xff], [0x03, 0x00], [0x03, 0x01, 0x01], [0x03, 0x02, 0x08, 0x00],
      [0x03, 0x02, 0x01, 0x01], [0x03, 0x02, 0x04, 0xf1], [0x05, 0x01, 0x00], [0x06, 0x00],
      [0x06, 0x01, 0x80], [0x06, 0x02, 0x80, 0x01], [0x06, 0x02, 0x2a, 0x80], [0x0c, 0x01, 0xff],
      [0x1f, 0x01, 0x00], [0x3f, 0x01, 0x00], [0x24, 0x00], [0x23, 0x03, 0x03, 0x01, 0x00],
      [0x10, 0x00],
      [0x11, 0x00], [0x00, 0x00], [0x30, 0x02, 0x00, 0x00], [0x30, 0x01, 0x05],
      [0x30, 0x03, 0x05, 0x00],
      [0x31, 0x06, 0x02, 0x01, 0x02, 0x02, 0x01, 0x01], [0xa0, 0x02, 0x02, 0x00],
      [0x22, 0x03, 0x02, 0x01, 0x01],
      [0x2c, 0x03, 0x0c, 0x01, 0x41], [0x30, 0x03, 0x04, 0x02, 0x00],
    ] as [[UInt8]])
  func refused(bytes: [UInt8]) {
    check(!DER.isCanonical(bytes))
  }

  @Test("JWS-21 lengths in their shortest form, at every border")
  func lengths() {
    for (count, header) in [
      (127, [0x7f]), (128, [0x81, 0x80]), (255, [0x81, 0xff]), (256, [0x82, 0x01, 0x00]),
      (65_535, [0x82, 0xff, 0xff]), (65_536, [0x83, 0x01, 0x00, 0x00]),
    ] as [(Int, [UInt8])] {
      let content = [UInt8](repeating: 0x41, count: count)
      check(DER.isCanonical([0x04] + header + content))
      check(!DER.isCanonical([0x04] + header + content.dropLast()))
      let longer = header.count == 1 ? [0x81, header[0]] : [header[0] + 1, 0] + header.dropFirst()
      check(!DER.isCanonical([0x04] + longer + content))
    }
    // No certificate needs lengths of four bytes.
    check(
      !DER.isCanonical(
        [0x04, 0x84, 0x01, 0x00, 0x00, 0x00] + [UInt8](repeating: 0, count: 1 << 24)))
  }

  /// Returns `count` nested containers.
  private func nested(_ count: Int) -> [UInt8] {
    var value: [UInt8] = [0x30, 0x00]
    for _ in 1..<count { value = [0x30, UInt8(value.count)] + value }
    return value
  }

  @Test("JWS-21 nesting and the number of elements are limited")
  func caps() {
    check(DER.isCanonical(nested(DER.depthCap)))
    check(!DER.isCanonical(nested(DER.depthCap + 1)))
    func list(_ count: Int) -> [UInt8] {
      let content = [UInt8]((0..<count).flatMap { _ in [0x05, 0x00] as [UInt8] })
      let length = [0x82, UInt8(content.count >> 8), UInt8(content.count & 255)] as [UInt8]
      return [0x30] + length + content
    }
    check(DER.isCanonical(list(DER.elementCap - 1)))
    check(!DER.isCanonical(list(DER.elementCap)))
  }

  @Test("JWS-21 a cursor never leaves its range")
  func cursor() {
    let bytes: [UInt8] = [0x30, 0x06, 0x02, 0x01, 0x05, 0x04, 0x01, 0x09, 0x05, 0x00]
    var outer = DER.Cursor(bytes)
    let sequence = outer.next(DER.sequence)
    checkEqual(sequence?.whole, 0..<8)
    checkEqual(sequence?.content, 2..<8)
    check(!outer.isAtEnd)
    check(outer.next(DER.integer) == nil)
    checkEqual(outer.nextTag, DER.null)
    checkEqual(outer.next()?.whole, 8..<10)
    check(outer.next() == nil)
    var inner = DER.Cursor(bytes, 2..<8)
    checkEqual(inner.next(DER.integer)?.content, 4..<5)
    checkEqual(inner.next(DER.octetString)?.content, 7..<8)
    check(inner.isAtEnd)
    // The element reaches past the end of the range.
    var short = DER.Cursor(bytes, 5..<7)
    check(short.next() == nil)
    var beyond = DER.Cursor(bytes, 8..<100)
    check(beyond.next() != nil)
    check(beyond.next() == nil)
  }

  @Test("JWS-31 an ECDSA-Sig-Value is one clean value with 1 ≤ r, s < n")
  func signatures() {
    for curve in [Curve.p256, .p384] {
      let n = curve.order
      var less = n
      less[less.count - 1] -= 1
      var more = n
      more[more.count - 1] += 1
      func integer(_ content: [UInt8]) -> [UInt8] {
        let body = (content.first ?? 0) >= 0x80 ? [0] + content : content
        return [0x02, UInt8(body.count)] + body
      }
      func value(_ r: [UInt8], _ s: [UInt8]) -> [UInt8] {
        let body = r + s
        return [0x30, UInt8(body.count)] + body
      }
      func isGood(_ bytes: [UInt8]) -> Bool { Assay.ECDSASignature(der: bytes[...], curve) != nil }
      check(isGood(value(integer([1]), integer([1]))))
      check(isGood(value(integer(less), integer(less))))
      for bad in [n, more, [UInt8](repeating: 0xff, count: n.count), [1] + n] {
        check(!isGood(value(integer(bad), integer([1]))))
        check(!isGood(value(integer([1]), integer(bad))))
      }
      for bad in [
        [0x02, 0x01, 0x00], [0x02, 0x00], [0x02, 0x01, 0x80], [0x02, 0x02, 0x00, 0x01],
        [0x0a, 0x01, 0x01],
      ] as [[UInt8]] {
        check(!isGood(value(bad, integer([1]))))
        check(!isGood(value(integer([1]), bad)))
      }
      let good = value(integer([1]), integer([2]))
      check(!isGood(good + [0]))
      check(!isGood(value(integer([1]), integer([2]) + [0x05, 0x00])))
      check(!isGood([0x30, 0x81, UInt8(good.count - 2)] + good.dropFirst(2)))
      check(!isGood(Array(good.dropLast())))
      check(!isGood([]))
      check(!isGood(value(integer([1]), [])))
    }
  }

  @Test("JWS-100 r ‖ s has the length of the curve and both numbers lie in 1 … n−1")
  func concatenated() {
    let n = Curve.p256.order
    var less = n
    less[31] -= 1
    let one = [UInt8](repeating: 0, count: 31) + [1]
    let zero = [UInt8](repeating: 0, count: 32)
    func isGood(_ bytes: [UInt8]) -> Bool {
      Assay.ECDSASignature(concatenated: bytes, .p256) != nil
    }
    check(isGood(one + one))
    check(isGood(less + less))
    for bad in [zero, n, [UInt8](repeating: 0xff, count: 32)] {
      check(!isGood(bad + one))
      check(!isGood(one + bad))
    }
    for count in [0, 32, 63, 65, 96] { check(!isGood([UInt8](repeating: 1, count: count))) }
  }
}

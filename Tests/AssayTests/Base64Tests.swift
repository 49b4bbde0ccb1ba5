import AssayAuthority
import Foundation
import Testing

@testable import Assay

@Suite("Base64")
struct Base64Tests {
  private static let url = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  private static let standard = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  @Test("JWS-4 JWS-14 every length comes back, spelt as Foundation spells it")
  func roundTrips() {
    for count in 0...200 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
      let text = Array(Data(bytes).base64EncodedString().utf8)
      checkEqual(Base64.encodeStandard(bytes), text)
      checkEqual(Base64.decodeStandard(text[...]), bytes)
      let segment = Base64Text.encodeURL(bytes)
      checkEqual(Base64.decodeURL(segment[...]), bytes)
      // A slice that does not begin at 0.
      checkEqual(Base64.decodeURL((utf8("..") + segment)[2...]), bytes)
    }
  }

  @Test("JWS-4 a length of 4n + 1 is impossible")
  func impossibleLengths() {
    for count in stride(from: 1, through: 41, by: 4) {
      check(Base64.decodeURL([UInt8](repeating: 0x41, count: count)[...]) == nil)
    }
  }

  @Test("JWS-4 unused bits of the last character are zero: one spelling for one value")
  func unusedBits() {
    for (count, used) in [(2, 4), (3, 2)] {
      let unused = 6 - used
      var good = 0
      for (value, last) in Self.url.enumerated() {
        let text = [UInt8](repeating: 0x41, count: count - 1) + [last]
        let isClean = value % (1 << (count == 2 ? 4 : 2)) == 0
        checkEqual(Base64.decodeURL(text[...]) != nil, isClean)
        checkEqual((Base64.decodeURL((utf8("AAAA") + text)[...]) != nil), isClean)
        if isClean { good += 1 }
      }
      checkEqual(good, (count == 2 ? 4 : 16), "\(unused)")
    }
  }

  @Test("JWS-14 unused bits under padding are zero")
  func unusedBitsPadded() {
    for (value, last) in Self.standard.enumerated() {
      checkEqual(
        (Base64.decodeStandard(([0x41, last] + utf8("=="))[...]) != nil), (value % 16 == 0))
      checkEqual(
        (Base64.decodeStandard(([0x41, 0x41, last] + utf8("="))[...]) != nil), (value % 4 == 0))
    }
  }

  @Test("JWS-4 only the characters of the alphabet, at every place of every length")
  func alphabet() {
    for byte in UInt8.min...UInt8.max {
      let isURL = Self.url.contains(byte)
      let isStandard = Self.standard.contains(byte)
      for count in 4...7 where count != 5 {
        for place in 0..<4 {
          var text = [UInt8](repeating: 0x41, count: count)
          text[place] = byte
          if !isURL { check(Base64.decodeURL(text[...]) == nil, "\(byte) at \(place)") }
          if isURL, count == 4 { check(Base64.decodeURL(text[...]) != nil) }
        }
        var text = [UInt8](repeating: 0x41, count: count)
        text[count - 1] = byte
        if !isURL { check(Base64.decodeURL(text[...]) == nil, "\(byte) last of \(count)") }
      }
      var text = [UInt8](repeating: 0x41, count: 8)
      text[3] = byte
      checkEqual(Base64.decodeStandard(text[...]) != nil, isStandard)
    }
  }

  @Test(
    "JWS-4 no padding in a segment",
    arguments: ["QQ==", "QUI=", "QUJD=", "QUJD====", "=", "==", "QQ=", "Q=Q="])
  func paddedSegments(text: String) {
    check(Base64.decodeURL(utf8(text)[...]) == nil)
  }

  @Test(
    "JWS-14 padding exactly where it is needed, no white space, no other alphabet",
    arguments: [
      ("", true), ("QQ==", true), ("QUI=", true), ("QUJD", true), ("QUJDRA==", true), ("QQ", false),
      ("QQ=", false), ("QUI", false), ("QUJD=", false), ("QUJD====", false), ("====", false),
      ("A===", false), ("=QQ=", false), ("QQ==QUJD", false), ("Q=Q=", false), ("QUJD\n", false),
      ("QUJD QUJ", false), ("QUJDQU\r\n", false), ("-_-_", false), ("+/+/", true), ("QR==", false),
      ("QUJ=", false), ("Q===", false), ("QUJDQQ=Q", false),
    ])
  func standardForms(text: String, isGood: Bool) {
    checkEqual((Base64.decodeStandard(utf8(text)[...]) != nil), isGood, "\(text)")
  }

  @Test("JWS-2 segments are found, and the first stranger")
  func segments() {
    checkEqual(Base64.segments(utf8("ab.c-_.d9")).dots, [2, 6])
    check(Base64.segments(utf8("ab.c-_.d9")).stranger == nil)
    check(Base64.segments(utf8("")).dots.isEmpty)
    checkEqual(Base64.segments(utf8("a.b.c.d.e")).dots.count, 3)
    for (text, place) in [("a+.b.c", 1), ("a.b.c\n", 5), (" a.b.c", 0), ("a.b=.c", 3), ("{\"", 0)] {
      checkEqual(Base64.segments(utf8(text)).stranger, place)
    }
  }
}

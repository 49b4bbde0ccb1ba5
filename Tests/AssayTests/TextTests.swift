import Testing

@testable import Assay

@Suite("Text")
struct TextTests {
  @Test("JWS-73 equality is of bytes, where String has Unicode equivalence")
  func equality() {
    for (left, right) in [
      ("caf\u{e9}", "cafe\u{301}"), ("\u{212b}", "\u{c5}"),
      ("\u{1e9b}\u{323}", "\u{1e9b}\u{323}\u{0}"),
    ] {
      let stringsAgree = left == right
      check(Text(left) != Text(right), "String says \(stringsAgree)")
    }
    checkEqual("caf\u{e9}", "cafe\u{301}")
    checkEqual(Text("com.example.app"), "com.example.app")
    check(Text("com.example.app") != "com.example.App")
    checkEqual(Set([Text("caf\u{e9}"), Text("cafe\u{301}"), "caf\u{e9}"]).count, 2)
  }

  @Test("JWS-90 the UUID form is 8-4-4-4-12 hex digits")
  func uuid() {
    let good = "0f8fad5b-d9cb-469f-a165-70867728950E"
    check(Text(good).isUUID)
    checkEqual(Text(good).asciiLowercased, "0f8fad5b-d9cb-469f-a165-70867728950e")
    for place in good.indices {
      var other = good
      other.replaceSubrange(place...place, with: good[place] == "-" ? "0" : "-")
      check(!Text(other).isUUID, "\(other)")
      other = good
      other.replaceSubrange(place...place, with: "g")
      check(!Text(other).isUUID, "\(other)")
    }
    for text in ["", String(good.dropLast()), good + "0", "{\(good)}", good.filter { $0 != "-" }] {
      check(!Text(text).isUUID)
    }
  }

  @Test("JWS-92 only the letters A to Z are lowered")
  func lowering() {
    for byte in UInt8.min...UInt8.max {
      let isUpper = byte >= 0x41 && byte <= 0x5a
      checkEqual(Text([byte]).asciiLowercased.utf8, [isUpper ? byte + 32 : byte])
    }
  }

  @Test("JWS-71 decimal is one or more digits")
  func decimal() {
    check(Text("0123456789").isDecimal)
    for text in ["", "-1", "1.0", " 1", "1a", "\u{0661}"] { check(!Text(text).isDecimal) }
  }
}

import Testing

@testable import Assay

@Suite("Hex")
struct HexTests {
  @Test("CNF-4 every byte comes back, in either case")
  func roundTrips() {
    let all = Array(UInt8.min...UInt8.max)
    let lower = Hex.encode(all)
    checkEqual(String(decoding: lower.prefix(8), as: UTF8.self), "00010203")
    checkEqual(String(decoding: lower.suffix(6), as: UTF8.self), "fdfeff")
    checkEqual(Hex.decode(lower), all)
    let upper = Hex.encode(all, upper: true)
    check(upper.allSatisfy { !($0 >= 0x61 && $0 <= 0x66) })
    checkEqual(Hex.decode(upper), all)
  }

  @Test("CNF-4 odd lengths and other characters are no hex")
  func refused() {
    check(Hex.decode(utf8("0")) == nil)
    check(Hex.decode(utf8("abc")) == nil)
    checkEqual(Hex.decode([]), [])
    for byte in UInt8.min...UInt8.max {
      let value = Int(String(decoding: [byte], as: UTF8.self), radix: 16)
      let isDigit = byte != 0x2b && byte != 0x2d && value != nil
      checkEqual(Hex.value(byte) != nil, isDigit)
      checkEqual(Hex.value(byte).map { Int($0) }, (isDigit ? value : nil))
      checkEqual(Hex.decode([0x30, byte]) != nil, isDigit)
    }
  }
}

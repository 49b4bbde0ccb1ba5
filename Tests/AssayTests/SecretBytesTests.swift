import Testing

@testable import Assay

@Suite("Secret octets")
struct SecretBytesTests {
  @Test("EXC-22 what somebody else holds is not wiped: a request is sent again as it was")
  func shared() {
    let octets = Array("{\"customerConsented\":true}".utf8)
    for _ in 0..<2 { #expect(SecretBytes(octets).bytes == octets) }
    #expect(octets.first == 0x7b)
  }

  @Test("EXC-22 the only holder's octets are wiped where they are")
  func alone() {
    var octets = Array(repeating: UInt8(7), count: 64)
    Secret.wipe(&octets)
    #expect(octets == Array(repeating: 0, count: 64))
  }
}

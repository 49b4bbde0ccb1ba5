// A stub of CryptoKit without SHA-256: 32 bytes that depend on the input.
import Foundation

public struct SHA256Digest: Sequence, Sendable {
  let octets: [UInt8]
  public func makeIterator() -> IndexingIterator<[UInt8]> { octets.makeIterator() }
}

public enum SHA256 {
  public static func hash<Bytes: DataProtocol>(data: Bytes) -> SHA256Digest {
    var octets = [UInt8](repeating: 0, count: 32)
    for (place, octet) in data.enumerated() {
      octets[place % 32] = octets[place % 32] &* 31 &+ octet
    }
    return SHA256Digest(octets: octets)
  }
}

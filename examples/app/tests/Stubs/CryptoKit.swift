// A stub of CryptoKit without SHA-256: 32 bytes that depend on the input, which is recorded.
import Foundation

public struct SHA256Digest: Sequence, Sendable {
  let octets: [UInt8]
  public func makeIterator() -> IndexingIterator<[UInt8]> { octets.makeIterator() }
}

/// The inputs of the digests.
public enum MockDigest {
  nonisolated(unsafe) public static var inputs: [Data: Data] = [:]
}

public enum SHA256 {
  public static func hash<Bytes: DataProtocol>(data: Bytes) -> SHA256Digest {
    var octets = [UInt8](repeating: 0, count: 32)
    for (place, octet) in data.enumerated() {
      octets[place % 32] = octets[place % 32] &* 31 &+ octet
    }
    MockDigest.inputs[Data(octets)] = Data(data)
    return SHA256Digest(octets: octets)
  }
}

/// gzip (RFC 1952) for responses with `{"gzip":…}`, which compresses nothing but zeros.
enum Gzip {
  /// Returns the bytes in stored blocks.
  static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var out = header
    var at = 0
    repeat {
      let count = min(65_535, bytes.count - at)
      let isLast = at + count == bytes.count
      out += [isLast ? 1 : 0] + octets(UInt32(count), 2) + octets(~UInt32(count), 2)
      out += bytes[at..<at + count]
      at += count
    } while at < bytes.count
    return out + octets(checksum(bytes), 4) + octets(UInt32(truncatingIfNeeded: bytes.count), 4)
  }

  /// Returns 1 GiB of zeros in about 1 MiB: one block with the codes `0` for a length of 258 bytes,
  /// `10` for a zero, `11` for the end, and `0` for a distance of one byte.
  static func bomb() -> [UInt8] {
    var bits = BitWriter(header)
    bits.write(1, 1)  // the last block
    bits.write(2, 2)  // its own codes
    bits.write(29, 5)  // 286 literal and length codes
    bits.write(0, 5)  // one distance code
    bits.write(14, 4)  // 18 code length codes: 1 and 2 in two bits, 18 in one
    for place in 0..<18 { bits.write([2: 1, 15: 2, 17: 2][place] ?? 0, 3) }
    writeLengths(&bits)
    bits.writeCode(0b10, 2)
    let matches = ((1 << 30) - 1) / 258
    for _ in 0..<matches / 16 { bits.write(0, 32) }
    for _ in 0..<matches % 16 { bits.write(0, 2) }
    for _ in 0..<((1 << 30) - 1) % 258 { bits.writeCode(0b10, 2) }
    bits.writeCode(0b11, 2)
    return bits.finished() + octets(checksumOfZeros, 4) + octets(1 << 30, 4)
  }

  /// Writes the code lengths: 2 for a zero, 2 for the end, 1 for a length of 258, 1 for distance 1.
  private static func writeLengths(_ bits: inout BitWriter) {
    func zeros(_ count: UInt32) {
      bits.writeCode(0, 1)
      bits.write(count - 11, 7)
    }
    // The code of 18 is 0, that of 1 is 10, that of 2 is 11.
    bits.writeCode(0b11, 2)
    zeros(138)
    zeros(117)
    bits.writeCode(0b11, 2)
    zeros(28)
    bits.writeCode(0b10, 2)
    bits.writeCode(0b10, 2)
  }

  private static let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
  /// CRC-32 of 2^30 zeros.
  private static let checksumOfZeros: UInt32 = 0x5b64_c2b0

  private static func octets(_ number: UInt32, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
  }

  static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var value: UInt32 = ~0
    for byte in bytes {
      value ^= UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
    }
    return ~value
  }

  /// Writes bits from the lowest of each byte on.
  private struct BitWriter {
    private var bytes: [UInt8]
    private var held: UInt64 = 0
    private var count: UInt64 = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func write(_ value: UInt32, _ width: UInt64) {
      held |= UInt64(value) << count
      count += width
      while count >= 8 {
        bytes.append(UInt8(truncatingIfNeeded: held))
        held >>= 8
        count -= 8
      }
    }

    /// Writes a code, highest bit first.
    mutating func writeCode(_ code: UInt32, _ width: UInt64) {
      for place in (0..<width).reversed() { write(code >> UInt32(place) & 1, 1) }
    }

    func finished() -> [UInt8] {
      count == 0 ? bytes : bytes + [UInt8(truncatingIfNeeded: held)]
    }
  }
}

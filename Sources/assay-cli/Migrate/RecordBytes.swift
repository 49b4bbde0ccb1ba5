/// A record of the work folder while it is written: texts with their length, numbers as variable
/// lengths. Records are compared by their bytes, so a key comes first and ends with a zero byte.
struct RecordBytes {
  private(set) var bytes: [UInt8] = []

  /// Begins a record with its key, which contains no zero byte.
  init(key: String) {
    bytes += key.utf8
    bytes.append(0)
  }

  mutating func put(_ byte: UInt8) { bytes.append(byte) }

  mutating func put(_ number: Int64) {
    var rest = UInt64(bitPattern: number &<< 1 ^ number &>> 63)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  mutating func put(_ number: Int64?) {
    put(number == nil ? 0 : 1 as UInt8)
    if let number { put(number) }
  }

  mutating func put(_ text: String) {
    put(Int64(text.utf8.count))
    bytes += text.utf8
  }
}

/// A record while it is read. The work folder is the command's own: what is not of its form is a
/// fault of the disk, and reads as zeros and empty texts.
struct RecordCursor {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads the key, which ends with a zero byte.
  mutating func key() -> String {
    let start = place
    while place < bytes.count, bytes[place] != 0 { place += 1 }
    defer { place += 1 }
    return String(decoding: bytes[start..<place], as: UTF8.self)
  }

  mutating func byte() -> UInt8 {
    guard place < bytes.count else { return 0 }
    defer { place += 1 }
    return bytes[place]
  }

  mutating func number() -> Int64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while place < bytes.count, shift < 64 {
      let byte = byte()
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { break }
      shift += 7
    }
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  mutating func numberIfAny() -> Int64? { byte() == 0 ? nil : number() }

  mutating func text() -> String {
    let count = Int(max(0, min(number(), Int64(bytes.count - min(place, bytes.count)))))
    defer { place += count }
    return String(decoding: bytes[place..<place + count], as: UTF8.self)
  }
}

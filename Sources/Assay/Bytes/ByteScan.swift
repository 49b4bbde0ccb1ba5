/// Searches bytes eight at a time.
enum ByteScan {
  /// Returns the first index from `start` on that has one of two bytes below 0x80; `bytes.count`
  /// if there is none.
  static func first(
    _ one: UInt8, or other: UInt8, in bytes: Span<UInt8>, from start: Int
  ) -> Int {
    // Most texts are short; in a long one whole blocks are skipped.
    let near = firstByWords(one, or: other, in: bytes, from: start, to: start &+ blockSize)
    guard near < 0 else { return near }
    var at = start &+ blockSize
    while at &+ blockSize <= bytes.count, !hasEither(one, other, in: bytes, from: at) {
      at &+= blockSize
    }
    let far = firstByWords(one, or: other, in: bytes, from: at, to: bytes.count)
    return far < 0 ? bytes.count : far
  }

  private static let blockSize = 64

  /// Returns the first index from `start` on of a byte that JSON escapes: a quotation mark, a
  /// backslash or a control character below 0x20; `bytes.count` if there is none.
  static func firstEscaped(in bytes: Span<UInt8>, from start: Int) -> Int {
    let raw = unsafe bytes.bytes
    var at = start
    while at &+ 8 <= bytes.count {
      let word = unsafe UInt64(
        littleEndian: raw.unsafeLoadUnaligned(fromByteOffset: at, as: UInt64.self))
      let low = (word &- everyByte(0x20)) & ~word & everyByte(0x80)
      let hits = low | zeroBytes(word ^ everyByte(0x22)) | zeroBytes(word ^ everyByte(0x5c))
      if hits != 0 { return at &+ hits.trailingZeroBitCount / 8 }
      at &+= 8
    }
    while at < bytes.count {
      let byte = bytes[at]
      if byte < 0x20 || byte == 0x22 || byte == 0x5c { return at }
      at &+= 1
    }
    return bytes.count
  }

  /// Returns the first index from `start` on that has one of two bytes; a negative number if
  /// there is none before `end`. The result may exceed `end` within a word that begins before it.
  @inline(__always)
  private static func firstByWords(
    _ one: UInt8, or other: UInt8, in bytes: Span<UInt8>, from start: Int, to end: Int
  ) -> Int {
    let raw = unsafe bytes.bytes
    var at = start
    while at < end, at &+ 8 <= bytes.count {
      let word = unsafe UInt64(
        littleEndian: raw.unsafeLoadUnaligned(fromByteOffset: at, as: UInt64.self))
      let hits = zeroBytes(word ^ everyByte(one)) | zeroBytes(word ^ everyByte(other))
      // A borrow can falsely mark only a byte above a true mark: the lowest mark is always true.
      if hits != 0 { return at &+ hits.trailingZeroBitCount / 8 }
      at &+= 8
    }
    while at < end, at < bytes.count {
      if bytes[at] == one || bytes[at] == other { return at }
      at &+= 1
    }
    return -1
  }

  /// Whether one block contains one of two bytes. The loop has no branches, so that the compiler
  /// vectorizes it.
  private static func hasEither(
    _ one: UInt8, _ other: UInt8, in bytes: Span<UInt8>, from start: Int
  ) -> Bool {
    guard start >= 0, start &+ blockSize <= bytes.count else { return true }
    return unsafe bytes.withUnsafeBufferPointer { bytes in
      var hits: UInt8 = 0
      for at in start..<start &+ blockSize {
        let byte = unsafe bytes[at]
        hits |= (byte == one ? 1 : 0) | (byte == other ? 1 : 0)
      }
      return hits != 0
    }
  }

  /// Whether every byte is in 0x01 … 0x7f.
  static func isASCIIWithoutNUL(_ bytes: Span<UInt8>) -> Bool {
    let raw = unsafe bytes.bytes
    var at = 0
    var marks: UInt64 = 0
    while at &+ 8 <= bytes.count {
      let word = unsafe raw.unsafeLoadUnaligned(fromByteOffset: at, as: UInt64.self)
      // A byte of 0x80 or above has its top bit set; a NUL sets its own by the borrow.
      marks |= word | (word &- everyByte(1))
      at &+= 8
    }
    while at < bytes.count {
      if bytes[at] == 0 || bytes[at] >= 0x80 { return false }
      at &+= 1
    }
    return marks & everyByte(0x80) == 0
  }

  /// Returns a word in which the lowest zero byte of `word` has its top bit set, and no byte
  /// below it. Bytes above it may be marked falsely.
  @inline(__always)
  private static func zeroBytes(_ word: UInt64) -> UInt64 {
    (word &- everyByte(1)) & ~word & everyByte(0x80)
  }

  @inline(__always)
  private static func everyByte(_ value: UInt8) -> UInt64 {
    UInt64(value) &* 0x0101_0101_0101_0101
  }
}

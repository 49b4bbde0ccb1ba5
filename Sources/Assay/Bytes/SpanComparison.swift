import CLibCrypto

extension [UInt8] {
  /// Whether `slice` has the same bytes. Compares many bytes at once, and not in constant time.
  func equals(_ slice: ArraySlice<UInt8>) -> Bool {
    guard slice.count == count else { return false }
    return unsafe withUnsafeBytes { mine in
      unsafe slice.withUnsafeBytes { theirs in
        guard let mine = mine.baseAddress, let other = theirs.baseAddress else { return true }
        return unsafe memcmp(mine, other, theirs.count) == 0
      }
    }
  }
}

extension Span<UInt8> {
  /// Whether the bytes at `part` are `literal`. False if `part` exceeds the span.
  @inline(__always)
  func equals(_ literal: StaticString, _ part: Range<Int>) -> Bool {
    guard part.count == literal.utf8CodeUnitCount, part.lowerBound >= 0,
      part.upperBound <= count
    else { return false }
    return hasBytes(of: literal, from: part.lowerBound)
  }

  /// Whether these bytes begin with the literal.
  func begins(with literal: StaticString) -> Bool { has(literal, at: 0) }

  /// Whether `literal` begins at the offset `start`. False if it would exceed the span.
  @inline(__always)
  func has(_ literal: StaticString, at start: Int) -> Bool {
    start >= 0 && start <= count && literal.utf8CodeUnitCount <= count &- start
      && hasBytes(of: literal, from: start)
  }

  @inline(__always)
  private func hasBytes(of literal: StaticString, from start: Int) -> Bool {
    let theirs = unsafe literal.utf8Start
    for offset in 0..<literal.utf8CodeUnitCount
    where unsafe self[start &+ offset] != theirs[offset] {
      return false
    }
    return true
  }
}

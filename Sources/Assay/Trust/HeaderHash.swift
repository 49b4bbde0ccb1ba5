/// A cheap hash of a header's bytes. A collision costs a cache miss and nothing else, because the
/// bytes are compared in full.
enum HeaderHash {
  static func of(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    // Uses four lanes, because each multiplication waits for the previous one of its lane.
    var lanes = SIMD4<UInt64>(repeating: UInt64(truncatingIfNeeded: bytes.count))
    unsafe bytes.withUnsafeBytes { raw in
      var offset = 0
      while offset &+ 32 <= raw.count {
        for lane in 0..<4 {
          let word = unsafe raw.loadUnaligned(
            fromByteOffset: offset &+ lane &* 8, as: UInt64.self)
          lanes[lane] = mixed(lanes[lane], word)
        }
        offset &+= 32
      }
      while offset < raw.count {
        lanes[0] = mixed(lanes[0], UInt64(unsafe raw[offset]))
        offset &+= 1
      }
    }
    return mixed(mixed(lanes[0], lanes[1]), mixed(lanes[2], lanes[3]))
  }

  @inline(__always)
  static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
    let product = (state ^ word) &* 0xff51_afd7_ed55_8ccd
    return product ^ product >> 32
  }
}

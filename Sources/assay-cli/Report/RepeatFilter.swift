/// Remembers which keys were seen, in a fixed amount of memory: a Bloom filter. A key that was seen
/// is always recognised; a new one is taken for a repeat with the probability `errorRate`. Nothing
/// is random: the same keys in the same order give the same results.
struct RepeatFilter {
  private var words: [UInt64]
  private var bitsSet = 0

  /// The number of bits set for one key.
  private static let bitsPerKey = 8

  /// Creates an empty filter.
  ///
  /// - Parameter bytes: the memory to use, rounded down to a multiple of 8, at least 8.
  init(bytes: Int) {
    words = [UInt64](repeating: 0, count: max(1, bytes / 8))
  }

  var byteCount: Int { words.count * 8 }

  /// Adds a key, and returns whether it was there before.
  mutating func insert(_ key: KeyHash) -> Bool {
    var wasThere = true
    let bits = UInt64(words.count) * 64
    var position = key.first
    for _ in 0..<RepeatFilter.bitsPerKey {
      let bit = position.multipliedFullWidth(by: bits).high
      let word = Int(bit / 64)
      let mask: UInt64 = 1 << (bit % 64)
      if words[word] & mask == 0 {
        words[word] |= mask
        bitsSet += 1
        wasThere = false
      }
      position &+= key.second
    }
    return wasThere
  }

  /// The current probability that a new key is taken for one that was seen.
  var errorRate: Double {
    let fill = Double(bitsSet) / Double(words.count * 64)
    return (0..<RepeatFilter.bitsPerKey).reduce(1) { rate, _ in rate * fill }
  }
}

/// A hash of 128 bits of a replay key, the same in every run.
struct KeyHash {
  let first: UInt64
  /// An odd number, so that the steps from `first` do not soon collide.
  let second: UInt64

  init(_ key: ArraySlice<UInt8>) {
    var low: UInt64 = 0xcbf2_9ce4_8422_2325
    var high: UInt64 = 0x9e37_79b9_7f4a_7c15
    for byte in key {
      low = (low ^ UInt64(byte)) &* 0x100_0000_01b3
      high = (high ^ UInt64(byte)) &* 0xff51_afd7_ed55_8ccd
      high ^= high >> 29
    }
    first = KeyHash.mixed(low)
    second = KeyHash.mixed(high) | 1
  }

  /// Returns a word in which every input bit flips about half of the bits.
  private static func mixed(_ word: UInt64) -> UInt64 {
    var word = word
    word ^= word >> 30
    word &*= 0xbf58_476d_1ce4_e5b9
    word ^= word >> 27
    word &*= 0x94d0_49bb_1331_11eb
    return word ^ word >> 31
  }
}

import CLibCrypto

/// Proven chains of one verifier, found again without decoding or parsing
/// (JWS-60 … JWS-66).
///
/// Three levels, each least recently used first out:
/// - by the header segment's bytes: a warm call ends here;
/// - by SHA-256 over leaf, intermediate and anchor: anyone can spell a header
///   anew, nobody can forge the chain in it;
/// - by SHA-256 over intermediate and anchor: a new leaf under a known
///   intermediate saves one P-384 check.
///
/// Nothing enters that was not proven. The lock is held for a look-up among at
/// most 64 entries and a pointer copy; a busy lock is a miss, never a wait.
@safe final class ChainCache: @unchecked Sendable {
  private final class Levels {
    var headers = RecentlyUsed<UInt64, HeaderEntry>()
    var chains = RecentlyUsed<[UInt8], ProvenChain>()
    var intermediates = RecentlyUsed<[UInt8], Void>()
  }

  private final class HeaderEntry {
    let bytes: [UInt8]
    let chain: ProvenChain

    init(bytes: [UInt8], chain: ProvenChain) {
      self.bytes = bytes
      self.chain = chain
    }
  }

  /// JWS-64: a longer header would take more than its share of memory.
  private static let headerBytesCap = 6144

  private let capacity: Int
  private let lock = TryLock()
  private var levels = unsafe Unmanaged.passRetained(Levels())

  /// 0 switches the cache off.
  init(capacity: Int) { self.capacity = capacity }

  deinit { unsafe levels.release() }

  // MARK: level 1

  func chain(header: ArraySlice<UInt8>) -> ProvenChain? {
    guard capacity > 0 else { return nil }
    let index = HeaderHash.of(header)
    // Compared in full (JWS-60).
    guard let entry = withLevels({ $0.headers.find(index) }) ?? nil, entry.bytes.equals(header)
    else { return nil }
    return entry.chain
  }

  /// Called only after the leaf's key verified a signature over this header.
  func remember(_ chain: ProvenChain, header: ArraySlice<UInt8>) {
    guard capacity > 0, header.count <= ChainCache.headerBytesCap else { return }
    let entry = HeaderEntry(bytes: Array(header), chain: chain)
    let index = HeaderHash.of(header)
    _ = withLevels { $0.headers.insert(index, entry, self.capacity) }
  }

  // MARK: level 2

  func chain(fingerprint: [UInt8]) -> ProvenChain? {
    guard capacity > 0 else { return nil }
    return withLevels { $0.chains.find(fingerprint) } ?? nil
  }

  func remember(_ chain: ProvenChain, fingerprint: [UInt8]) {
    guard capacity > 0 else { return }
    _ = withLevels { $0.chains.insert(fingerprint, chain, self.capacity) }
  }

  // MARK: intermediates

  /// Whether this intermediate was proven under its anchor before.
  func knows(intermediateFingerprint fingerprint: [UInt8]) -> Bool {
    guard capacity > 0 else { return false }
    return withLevels { $0.intermediates.find(fingerprint) != nil } ?? false
  }

  func remember(intermediateFingerprint fingerprint: [UInt8]) {
    guard capacity > 0 else { return }
    _ = withLevels { $0.intermediates.insert(fingerprint, (), self.capacity) }
  }

  // MARK: the lock

  private func withLevels<Result>(_ body: (Levels) -> Result) -> Result? {
    switch lock.take() {
    case .busy: return nil
    case .taken: break
    case .abandoned:
      // A thread of the parent process held the lock when this process was
      // forked. What it was changing may be torn: it is left, not read.
      unsafe levels = Unmanaged.passRetained(Levels())
    }
    defer { lock.release() }
    return unsafe body(levels.takeUnretainedValue())
  }
}

/// At most `capacity` values by key; the least recently used one goes.
struct RecentlyUsed<Key: Equatable, Value> {
  private var entries: [(key: Key, value: Value, used: UInt64)] = []
  private var clock: UInt64 = 0

  mutating func find(_ key: Key) -> Value? {
    for index in entries.indices where entries[index].key == key {
      clock &+= 1
      entries[index].used = clock
      return entries[index].value
    }
    return nil
  }

  mutating func insert(_ key: Key, _ value: Value, _ capacity: Int) {
    clock &+= 1
    for index in entries.indices where entries[index].key == key {
      entries[index].value = value
      entries[index].used = clock
      return
    }
    if entries.count >= capacity {
      var oldest = 0
      for index in entries.indices where entries[index].used < entries[oldest].used {
        oldest = index
      }
      entries.remove(at: oldest)
    }
    entries.append((key, value, clock))
  }
}

/// A cheap index over a header's bytes. Collisions cost a miss, nothing else:
/// the bytes are compared in full.
enum HeaderHash {
  static func of(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    // Four lanes, because each multiplication waits for the one before it.
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

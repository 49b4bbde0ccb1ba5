/// A cache of values by the bytes from which they were made; the least recently used entry is
/// evicted. The lock is held for a lookup among a few dozen entries and a pointer copy. A busy
/// lock is a cache miss, never a wait (JWS-65).
@safe final class BytesCache<Value: Sendable>: @unchecked Sendable {
  private final class Entry {
    let index: UInt64
    let bytes: [UInt8]
    let value: Value
    var used: UInt64 = 0

    init(_ index: UInt64, _ bytes: [UInt8], _ value: Value) {
      self.index = index
      self.bytes = bytes
      self.value = value
    }
  }

  /// The state that the lock protects.
  private final class Level {
    private var entries: [Entry] = []
    private var clock: UInt64 = 0

    func find(_ index: UInt64) -> Entry? {
      guard let entry = entries.first(where: { $0.index == index }) else { return nil }
      clock &+= 1
      entry.used = clock
      return entry
    }

    func insert(_ entry: Entry, _ capacity: Int) {
      clock &+= 1
      entry.used = clock
      if let place = entries.firstIndex(where: { $0.index == entry.index }) {
        entries[place] = entry
      } else if entries.count < capacity {
        entries.append(entry)
      } else if let oldest = entries.indices.min(by: { entries[$0].used < entries[$1].used }) {
        entries[oldest] = entry
      }
    }
  }

  private let capacity: Int
  private let byteCap: Int
  private let lock = TryLock()
  private var level = unsafe Unmanaged.passRetained(Level())

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - capacity: The most entries; 0 disables the cache.
  ///   - byteCap: The longest key in bytes; longer ones are not cached.
  init(capacity: Int, byteCap: Int = .max) {
    self.capacity = capacity
    self.byteCap = byteCap
  }

  deinit { unsafe level.release() }

  func find(_ bytes: ArraySlice<UInt8>) -> Value? {
    guard capacity > 0 else { return nil }
    let index = HeaderHash.of(bytes)
    // The whole key is compared: an equal hash proves nothing (JWS-60).
    guard let entry = withLevel({ $0.find(index) }) ?? nil, entry.bytes.equals(bytes)
    else { return nil }
    return entry.value
  }

  func remember(_ bytes: ArraySlice<UInt8>, _ value: Value) {
    guard capacity > 0, bytes.count <= byteCap else { return }
    let entry = Entry(HeaderHash.of(bytes), Array(bytes), value)
    _ = withLevel { $0.insert(entry, self.capacity) }
  }

  private func withLevel<Result>(_ body: (Level) -> Result) -> Result? {
    switch lock.take() {
    case .busy: return nil
    case .taken: break
    case .abandoned:
      // A thread of the parent process held the lock when this process was forked. The entries
      // may be half-written: they are abandoned unread.
      unsafe level = Unmanaged.passRetained(Level())
    }
    defer { lock.release() }
    return unsafe body(level.takeUnretainedValue())
  }
}

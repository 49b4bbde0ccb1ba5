/// What was made from some bytes, found again by these bytes. The least recently
/// used entry goes first; a busy lock is a miss, never a wait.
@safe final class BytesCache<Value: Sendable>: @unchecked Sendable {
  private final class Entry {
    let bytes: [UInt8]
    let value: Value

    init(_ bytes: [UInt8], _ value: Value) {
      self.bytes = bytes
      self.value = value
    }
  }

  private final class Level {
    var entries = RecentlyUsed<UInt64, Entry>()
  }

  private let capacity: Int
  private let lock = TryLock()
  private var level = unsafe Unmanaged.passRetained(Level())

  /// 0 switches the cache off.
  init(capacity: Int) { self.capacity = capacity }

  deinit { unsafe level.release() }

  func find(_ bytes: ArraySlice<UInt8>) -> Value? {
    guard capacity > 0 else { return nil }
    let index = HeaderHash.of(bytes)
    // Compared in full: an index alone proves nothing.
    guard let entry = withLevel({ $0.entries.find(index) }) ?? nil, entry.bytes.equals(bytes)
    else { return nil }
    return entry.value
  }

  func remember(_ bytes: ArraySlice<UInt8>, _ value: Value) {
    guard capacity > 0 else { return }
    let entry = Entry(Array(bytes), value)
    let index = HeaderHash.of(bytes)
    _ = withLevel { $0.entries.insert(index, entry, self.capacity) }
  }

  private func withLevel<Result>(_ body: (Level) -> Result) -> Result? {
    switch lock.take() {
    case .busy: return nil
    case .taken: break
    case .abandoned:
      // As in ChainCache: what the parent's thread was changing is left alone.
      unsafe level = Unmanaged.passRetained(Level())
    }
    defer { lock.release() }
    return unsafe body(level.takeUnretainedValue())
  }
}

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

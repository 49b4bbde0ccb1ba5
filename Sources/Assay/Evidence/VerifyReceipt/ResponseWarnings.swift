/// The warnings of a response: one per member of each list, at its first location.
struct ResponseWarnings: Sendable {
  private(set) var found: [Warning] = []
  private var seen: [(list: StaticString, member: StaticString)] = []

  mutating func unknownValue(_ place: ResponsePath, _ member: StaticString) {
    for known in seen
    where known.list.hasSameBytes(as: place.list) && known.member.hasSameBytes(as: member) {
      return
    }
    seen.append((place.list, member))
    found.append(Warning("unknown-value", at: place.of(member)))
  }

  mutating func add(_ id: StaticString, at place: String) {
    found.append(Warning(id, at: place))
  }
}

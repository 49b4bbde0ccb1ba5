import AssayAuthority

@_spi(AssaySwift) import Assay

/// The counts of a run, by group and name, as `report.json` has them (MIG-40).
struct MigrateTally {
  private(set) var groups: [String: [String: Int]] = [:]

  /// The most names that a group of names from outside keeps: others are counted as one.
  private static let nameCap = 1000
  static let others = "(others)"

  subscript(_ group: String, _ name: String) -> Int { groups[group]?[name] ?? 0 }

  mutating func add(_ group: String, _ name: String, _ count: Int = 1) {
    groups[group, default: [:]][name, default: 0] += count
  }

  /// Counts a name from outside: a product, a member.
  mutating func addName(_ group: String, _ name: String, _ count: Int = 1) {
    let isKnown = groups[group]?[name] != nil
    let isFull = (groups[group]?.count ?? 0) >= MigrateTally.nameCap
    add(group, isKnown || !isFull ? name : MigrateTally.others, count)
  }

  /// Keeps the group, even if it counts nothing.
  mutating func hold(_ group: String) {
    if groups[group] == nil { groups[group] = [:] }
  }

  mutating func merge(_ other: MigrateTally) {
    for (group, names) in other.groups {
      for (name, count) in names.sorted(by: { $0.key < $1.key }) { addName(group, name, count) }
    }
  }

  /// The groups in the order of their names.
  var json: JSONText {
    .object(
      groups.sorted { $0.key < $1.key }.map { group in
        .init(
          group.key,
          .object(
            group.value.sorted { $0.key < $1.key }.map {
              .init($0.key, .integer(Int64($0.value)))
            }))
      })
  }

  init() {}

  init(_ json: DocumentValue?) {
    for (group, names) in json?.children ?? [] {
      for (name, count) in names.children {
        groups[group, default: [:]][name] = Int(count.integer ?? 0)
      }
    }
  }
}

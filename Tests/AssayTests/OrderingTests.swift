import Testing

@testable import Assay

/// Compares the library's only sort with the standard library's.
@Suite("Ordering")
struct OrderingTests {
  /// Returns repeating numbers, each with its original index.
  private static func sample(_ count: Int) -> [(key: Int, place: Int)] {
    var state: UInt64 = 20_261_122
    return (0..<count).map { place in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (Int(state >> 60), place)
    }
  }

  @Test("sorts, and leaves equal ones as they were", arguments: [0, 1, 2, 3, 7, 8, 9, 64, 1000])
  func isStable(count: Int) {
    let values = Self.sample(count)
    let ordered = values.ordered { $0.key < $1.key }
    let wanted = values.sorted { ($0.key, $0.place) < ($1.key, $1.place) }
    checkEqual(ordered.map { $0.place }, wanted.map { $0.place })
  }

  @Test("places of what is in order, or in the reverse of it")
  func runs() {
    checkEqual(Ordering.places(5) { $0 < $1 }, [0, 1, 2, 3, 4])
    checkEqual(Ordering.places(5) { $0 > $1 }, [4, 3, 2, 1, 0])
    checkEqual(Ordering.places(5) { _, _ in false }, [0, 1, 2, 3, 4])
  }
}

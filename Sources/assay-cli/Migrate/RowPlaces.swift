/// The first places of rows that say the same, and the number of the others.
struct RowPlaces {
  private(set) var first: [RowPlace] = []
  private(set) var moreCount = 0
  private static let most = 5

  mutating func add(_ place: RowPlace) {
    if first.contains(place) { return }
    first.append(place)
    first.sort()
    if first.count > RowPlaces.most {
      first.removeLast()
      moreCount += 1
    }
  }
}

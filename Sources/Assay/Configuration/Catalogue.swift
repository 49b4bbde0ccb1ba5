/// `products`: what each product id unlocks, and its type.
struct Catalogue: Sendable {
  struct Product: Sendable {
    var id: Text
    /// Index into `plans`; nil: nothing lasting.
    var plan: Int?
    var type: ProductType
    var group: Text?
    var duration: CalendarDuration?
    var stack = false
    /// What one item of it is worth to the host: coins of a pack (STO-36).
    var units: Int64 = 1
  }

  /// In the order of the document.
  private(set) var all: [Product] = []
  /// Places in `all`, ascending by the bytes of the id. (A Dictionary would do
  /// the same and bring in pages of Swift's library that nothing else needs.)
  private var ascending: [Int] = []

  /// The id must be new: the strict reader refuses duplicate names.
  mutating func add(_ product: Product) {
    ascending.insert(all.count, at: search(product.id).place)
    all.append(product)
  }

  func product(_ id: Text) -> Product? {
    let (place, isFound) = search(id)
    return isFound ? all[ascending[place]] : nil
  }

  /// Where the id stands in `ascending`, or where it belongs.
  private func search(_ id: Text) -> (place: Int, isFound: Bool) {
    var low = 0
    var high = ascending.count
    while low < high {
      let middle = low &+ (high &- low) / 2
      if all[ascending[middle]].id.utf8.lexicographicallyPrecedes(id.utf8) {
        low = middle &+ 1
      } else {
        high = middle
      }
    }
    return (low, low < ascending.count && all[ascending[low]].id == id)
  }
}

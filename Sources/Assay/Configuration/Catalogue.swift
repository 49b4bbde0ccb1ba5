/// `products`: the plan that each product id unlocks, and the product's type.
struct Catalogue: Sendable {
  struct Product: Sendable {
    var id: Text
    /// Index into `plans`; `nil` if the product unlocks no plan.
    var plan: Int?
    var type: ProductType
    var group: Text?
    var duration: CalendarDuration?
    var stack = false
    /// The host's units in one item, such as the coins of a pack (STO-36).
    var units: Int64 = 1
  }

  /// The products in the order of the document.
  private(set) var all: [Product] = []
  /// Indexes into `all`, ascending by the bytes of the id. A Dictionary would link pages of
  /// Swift's library that nothing else needs.
  private var ascending: [Int] = []

  /// Adds a product. Its id must be new, which the strict reader ensures by refusing duplicate
  /// names.
  mutating func add(_ product: Product) {
    ascending.insert(all.count, at: search(product.id).place)
    all.append(product)
  }

  func product(_ id: Text) -> Product? {
    let (place, isFound) = search(id)
    return isFound ? all[ascending[place]] : nil
  }

  /// Returns the index of the id in `ascending`, or the index at which to insert it.
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

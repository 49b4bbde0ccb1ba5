/// The known members of one kind of object in a response.
final class ResponseTable: Sendable {
  let members: [ResponseMember]
  private let hashes: [UInt32]
  /// The indexes of the dates.
  let dates: [Int]

  init(_ members: [ResponseMember]) {
    self.members = members
    hashes = members.map { $0.hash }
    dates = members.indices.filter { members[$0].shape.dateSpan > 0 }
  }

  /// Returns the index of a response's member in the table; `nil` if unknown.
  func index(of value: JSONValue) -> Int? {
    let hash = value.nameHash
    for index in hashes.indices
    where hashes[index] == hash && value.isNamed(members[index].apple) {
      return index
    }
    return nil
  }

  func index(of name: StaticString) -> Int? {
    let hash = JSON.hash(name)
    for index in hashes.indices
    where hashes[index] == hash && members[index].apple.hasSameBytes(as: name) {
      return index
    }
    return nil
  }
}

/// The known members of one kind of object of an answer.
final class ResponseTable: Sendable {
  let members: [ResponseMember]
  private let hashes: [UInt32]
  /// Places of the dates.
  let dates: [Int]

  init(_ members: [ResponseMember]) {
    self.members = members
    hashes = members.map { $0.hash }
    dates = members.indices.filter { members[$0].shape.dateSpan > 0 }
  }

  /// Where a member of an answer is in the table; nil for one that is not
  /// known.
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

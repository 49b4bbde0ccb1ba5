/// The values of `inAppOwnershipType`.
enum Ownership {
  static let purchased: Text = "PURCHASED"
  static let familyShared: Text = "FAMILY_SHARED"
  static let assigned: Text = "ASSIGNED"
}

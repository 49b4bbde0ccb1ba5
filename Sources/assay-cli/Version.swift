import CAssay

/// What `assay --version` says.
enum Version {
  static let text = ASSAY_VERSION
}

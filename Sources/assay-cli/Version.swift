import CAssay

/// The version that `assay --version` prints.
enum Version {
  static let text = ASSAY_VERSION
}

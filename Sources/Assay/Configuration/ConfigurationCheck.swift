/// The only check of a configuration.
enum ConfigurationCheck: Int, CheckList {
  case configuration

  static let ids: [StaticString] = ["configuration"]
}

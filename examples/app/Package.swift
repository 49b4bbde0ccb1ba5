// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "FreemiumClient",
  defaultLocalization: "en",
  platforms: [.iOS(.v16)],
  products: [.library(name: "FreemiumClient", targets: ["FreemiumClient"])],
  targets: [.target(name: "FreemiumClient", resources: [.process("Resources")])]
)

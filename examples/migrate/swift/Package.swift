// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "ask",
  dependencies: [.package(name: "assay", path: "../../..")],
  targets: [
    .executableTarget(
      name: "ask", dependencies: [.product(name: "AssaySQLite", package: "assay")])
  ]
)
